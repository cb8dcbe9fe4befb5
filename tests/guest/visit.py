"""A running guest, seen from outside through the files that its ports write."""

import re
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from tests.guest.errors import GuestError, GuestTimeoutError

PORTS = ("output", "errors", "report")  # in the order that `init` knows
DAEMON_TROUBLE = r"(?:unshare|setpriv): .*|.*(?:fail|annot|denied|permitted).*"
CONSOLE_LINES = 30
POLL_S = 0.02


@dataclass
class Visit:
    """Waits for a guest's end, passes its output on meanwhile, and says why it came to no good end."""

    private: Path
    emulator: subprocess.Popen[bytes]
    follow: tuple[BinaryIO, BinaryIO] | None
    stop: threading.Event | None = None
    boot_s: float = 0.0
    began_s: float = field(default_factory=time.monotonic)
    _shown: list[int] = field(default_factory=lambda: [0, 0])

    def elapsed_s(self) -> float:
        """Give the time since the start."""
        return time.monotonic() - self.began_s

    def wait(self, timeout_s: float) -> int:
        """Wait for the report of the command's exit code."""
        while True:
            ended = self.emulator.poll() is not None  # before reading: what came last counts
            report = self._text("report")
            self._show()  # after the report, which comes last
            if report and not self.boot_s:
                self.boot_s = self.elapsed_s()
            if end := re.search(r"exit (\d+)\n", report):
                return int(end[1])
            when = "while its command ran" if self.boot_s else "before its command"
            if ended:
                raise GuestError(f"the guest ended {when}: {self._reason()}{self._console()}")
            if self.stop is not None and self.stop.is_set():
                raise GuestError(f"the guest was stopped {when}")
            if self.elapsed_s() > timeout_s:
                raise GuestTimeoutError(f"the guest was stopped after {timeout_s:g} s, {when}{self._console()}")
            time.sleep(POLL_S)

    def _show(self) -> None:
        for index, stream in enumerate(self.follow or ()):
            path = self.private / PORTS[index]
            if path.exists() and path.stat().st_size > self._shown[index]:
                with path.open("rb") as file:
                    file.seek(self._shown[index])
                    self._shown[index] += stream.write(file.read())
                stream.flush()

    def _reason(self) -> str:
        """Give the line that says most about the end: the kernel's last words, else the emulator's or a daemon's."""
        for name, pattern in (
            ("console", r"Kernel panic.*|guest: .*"),
            ("root.log", DAEMON_TROUBLE),
            ("folder.log", DAEMON_TROUBLE),
            ("emulator.log", r"qemu[^:]*: (?!warning).*"),
        ):
            if found := re.findall(pattern, self._text(name)):
                return str(found[-1]).strip()
        return f"the emulator's exit code is {self.emulator.returncode}"

    def _console(self) -> str:
        lines = [line for line in self._text("console").splitlines() if line.strip()][-CONSOLE_LINES:]
        said = ("its console said last:", *(f"| {line}" for line in lines)) if lines else ("its console said nothing",)
        return "".join(f"\n  {line}" for line in said)

    def _text(self, name: str) -> str:
        path = self.private / name
        text = path.read_text(errors="replace") if path.exists() else ""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text)
