"""A guest that stays up: commands are started in it from here, one after the other, and end as they do there."""

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from numapredict.collect.placing.allowance import TimeAllowance
from numapredict.collect.placing.process import Ending
from tests.guest.errors import GuestError
from tests.guest.machine import ENVIRONMENT, Guest, GuestResult

SERVER = Path(__file__).parent / "programs" / "requests.c"
PORT = "set -- /dev/vport*p4; exec ./requests $1"
WAIT_S = 0.5
GRACE_S = 60


@dataclass
class ServedGuest:
    """A running guest, and the pipes to it. `folder` is writable there, under the same path."""

    folder: Path
    _requests: BinaryIO
    _answers: BinaryIO
    _alive: Callable[[], None]
    _count: int = 0
    _rest: bytes = field(default=b"")

    def run(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        directory: str | None,
        allowed: float | TimeAllowance,
        cpus: Sequence[int] = (),
        meanwhile: Callable[[], None] | None = None,
    ) -> Ending:
        """Run a command in the guest as `run_process` runs one here; the time is this computer's, with all around it.

        Raises GuestError where the guest ends meanwhile.
        """
        most_s = allowed.wall_s if isinstance(allowed, TimeAllowance) else allowed
        self._count += 1  # the guest may have kept what stood in an earlier file
        request, errors = self.folder / f"request{self._count}", self.folder / f"errors{self._count}"
        variables = {"PATH": ENVIRONMENT["PATH"]} | dict(environment)
        words = [f"{most_s:g}", ",".join(map(str, cpus)), directory or "", str(errors), str(len(variables))]
        words += [*(f"{name}={value}" for name, value in variables.items()), *command]
        request.write_bytes(b"".join(os.fsencode(word) + b"\0" for word in words))
        began_s = time.monotonic()
        self._requests.write(f"{request}\n".encode())
        said = self._line(most_s + GRACE_S, meanwhile)
        time_s = time.monotonic() - began_s
        if said == "bad":
            raise GuestError(f"the guest cannot run {command[0]}: too many words, or no process can be started")
        request.unlink()
        lines = [line.strip() for line in errors.read_text(errors="replace").splitlines() if line.strip()]
        errors.unlink()
        late = said == "late"
        return Ending(time_s, -signal.SIGKILL if late else int(said), late, lines[-1] if lines else "")

    def end(self) -> None:
        """Let the guest stop."""
        self._requests.write(b"end\n")

    def _line(self, most_s: float, meanwhile: Callable[[], None] | None = None) -> str:
        """Wait for the guest's next line."""
        until_s = time.monotonic() + most_s
        while b"\n" not in self._rest:
            self._alive()
            if time.monotonic() > until_s:
                raise GuestError(f"the guest did not answer in {most_s:g} s")
            if meanwhile is not None:
                meanwhile()
            if select.select([self._answers], [], [], WAIT_S)[0]:
                self._rest += os.read(self._answers.fileno(), 4096)
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()


@contextmanager
def served(guest: Guest, folder: Path, most_s: float) -> Iterator[ServedGuest]:
    """Boot a guest that stays up for the block, at most for so long. Raises GuestError as Guest.run does."""
    ends: list[GuestResult | Exception] = []
    pipe, stop = folder / "pipe", threading.Event()

    def visit() -> None:
        try:
            command = ["sh", "-c", f"cd {folder}; {PORT}"]
            ends.append(replace(guest, pipe=pipe, stop=stop).run(command, folder, {}, most_s))
        except Exception as error:  # whatever it is, nobody must wait for this guest any more
            ends.append(error)

    def alive() -> None:
        if ends:
            raise ends[0] if isinstance(ends[0], Exception) else GuestError("the guest ended")

    subprocess.run(["gcc", "-O2", "-static", "-o", folder / "requests", SERVER], check=True)
    with ExitStack() as stack:
        pipes = []
        for name in ("in", "out"):
            path = pipe.with_name(f"{pipe.name}.{name}")
            os.mkfifo(path)
            stack.callback(path.unlink)
            # Read and written: opening waits for nobody, and nobody's end is the pipe's.
            pipes.append(stack.enter_context(os.fdopen(os.open(path, os.O_RDWR), "r+b", buffering=0)))
        thread = threading.Thread(target=visit)
        thread.start()
        stack.callback(thread.join)
        running = ServedGuest(folder, pipes[0], pipes[1], alive)
        try:
            if (said := running._line(most_s)) != "ready":
                raise GuestError(f"the guest said {said!r} instead of that it is ready")
            yield running
            running.end()
        except BaseException:
            stop.set()  # it may hang
            raise
