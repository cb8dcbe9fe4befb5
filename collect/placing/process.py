"""Run one process to its end, with bounded time and memory for any output and any child processes."""

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from numapredict.collect.host.standard_input import open_input
from numapredict.collect.placing.affinity import kept_to
from numapredict.collect.placing.allowance import Meter, TimeAllowance, family
from numapredict.collect.placing.guard import guarded, start_error
from numapredict.collect.placing.tail import Tail
from numapredict.native.errors import UnrunnableProgramError
from numapredict.native.library import launcher_program

_TAIL_BYTES = 4096
_LINE_CHARACTERS = 200
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
EVERY_S = 0.25
"""The interval of checks during a run, in seconds."""


def signal_name(number: int) -> str:
    """Return a signal's name, as SIGSEGV; of real-time signals, most of which have none, ``signal`` and its number."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def exit_and_signal(code: int) -> tuple[int, str | None]:
    """Return an exit code as a shell reports it, and the name of the signal of a negative one."""
    return (code, None) if code >= 0 else (128 - code, signal_name(-code))


def cannot_start(name: str, error: OSError | ValueError) -> UnrunnableProgramError:
    """Return the error for a program that the system refuses to start."""
    reason = error.strerror if isinstance(error, OSError) else error
    return UnrunnableProgramError(f"cannot start {name}: {reason}; check the program")


class Ending(msgspec.Struct, frozen=True):
    """How a process ended: its wall time, its exit code (negative: the signal) and the last line of its stderr.

    ``output`` and ``errors`` are the ends of what it wrote to standard output and standard error, if they were kept.
    ``at_window``: it ran until the end of its window, which the time is.
    """

    time_s: float
    exit_code: int
    timed_out: bool
    last_line: str
    output: bytes = b""
    errors: bytes = b""
    at_window: bool = False

    @property
    def reason(self) -> str:
        """Return in words why it failed; an empty text where it did not."""
        if self.timed_out:
            return f"still running after {self.time_s:.0f} s and stopped"
        if self.exit_code == 0:
            return ""
        what = f"exit code {self.exit_code}"
        if self.exit_code < 0:
            what = f"killed by {signal_name(-self.exit_code)}"
        return f"{what}: {self.last_line}" if self.last_line else what


def run_process(
    command: Sequence[str],
    environment: dict[str, str],
    directory: str | None,
    allowed: float | TimeAllowance,
    cpus: Sequence[int] = (),
    meanwhile: Callable[[], None] | None = None,
) -> Ending:
    """Run a command without a shell and return how it ended; raise OSError where the system cannot start it.

    ``allowed``: the most seconds of wall time, or an allowance of processor time.
    ``cpus`` are the PUs that it may use, all of the caller's where none is given; ``meanwhile`` is called every
    ``EVERY_S`` seconds of the run. Signals that would end the caller end the process first.
    It reads standard input anew where that is a file, else nothing. Its output is discarded, but for what the allowance
    keeps of it, and of its stderr the last line is kept. It runs in a new session under a guard: all its processes are
    killed when it ends, runs out of time, this call is interrupted, or this process is killed. The wall time is the
    guard's, a millisecond or two more than the command's.
    """
    allowance = allowed if isinstance(allowed, TimeAllowance) else TimeAllowance(allowed)
    with contextlib.ExitStack() as stack:
        start_errors = os.memfd_create("numapredict-start-error")
        stack.callback(os.close, start_errors)
        words, around, is_guarded = guarded(command, environment, start_errors)
        given = open_input()
        if given is not None:
            stack.callback(os.close, given)
        listen = stack.enter_context(_ended_cleanly())
        with kept_to(cpus):
            started = time.perf_counter()
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL if given is None else given,
                stdout=subprocess.PIPE if allowance.output_bytes else subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=around,
                cwd=directory,
                pass_fds=(start_errors,) if is_guarded else (),
                start_new_session=True,
            )
        # In this order at the end: the group is killed before its leader is reaped, so that its PID is not reused.
        stack.callback(process.wait)
        stack.callback(_clear_registration, process.pid)
        stack.callback(_kill_group, process.pid)
        if is_guarded:
            stack.callback(_end_guard, process.pid)
        pipes = [stack.enter_context(each) for each in (process.stderr, process.stdout) if each is not None]
        tails = [Tail(pipe.fileno(), max(allowance.output_bytes, _TAIL_BYTES)) for pipe in pipes]
        handle = os.pidfd_open(process.pid)
        stack.callback(os.close, handle)
        listen()
        ended = _watch(handle, tails, Meter(allowance, process.pid), meanwhile)
        time_s = time.perf_counter() - started
        at_window = not ended and allowance.window is not None
        if not ended and allowance.window is not None:
            allowance.window.at_end()
            _ask_to_end(process.pid, guarded=is_guarded)
            _watch(handle, tails, Meter(TimeAllowance(allowance.window.grace_s), process.pid), None)
        errors, *output = [tail.drained() for tail in tails]
        error = start_error(start_errors)
        if error is not None:
            raise error
    lines = errors[-_TAIL_BYTES:].decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    printable = "".join(character if character.isprintable() else " " for character in last)
    found = Ending(time_s, process.returncode, not ended and not at_window, printable[:_LINE_CHARACTERS])
    kept = (output[0], errors) if output else (b"", b"")
    return msgspec.structs.replace(found, output=kept[0], errors=kept[1], at_window=at_window)


@contextlib.contextmanager
def _ended_cleanly() -> Iterator[Callable[[], None]]:
    """Convert the signals that ask this process to end into an exit that cleans up, as Ctrl-C already does.

    They and Ctrl-C wait until the yielded function is called: only then is it known what to clean up.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None  # the main thread has the signals
        return
    listening = False
    waiting: list[int] = []

    def leave(number: int, _frame: object) -> None:
        if not listening:
            waiting.append(number)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(128 + number)

    def listen() -> None:
        nonlocal listening
        listening = True
        if waiting:
            leave(waiting[0], None)

    before = {number: signal.signal(number, leave) for number in _ENDING if signal.getsignal(number) == signal.SIG_DFL}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, leave)
    try:
        yield listen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _watch(handle: int, tails: Sequence[Tail], meter: Meter, meanwhile: Callable[[], None] | None) -> bool:
    """Wait for a process's end or that of its allowance, while its pipes are read; return whether it ended.

    Waiting on the process's descriptor ends within microseconds of the process; a timed wait for it would poll.
    """
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    by_descriptor = {tail.descriptor: tail for tail in tails}
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    look_s = time.perf_counter() + EVERY_S
    while True:
        now_s = time.perf_counter()
        if now_s >= meter.deadline_s:
            return False
        if now_s >= look_s:
            if meter.spent():
                return False
            if meanwhile is not None:
                meanwhile()
            look_s = time.perf_counter() + EVERY_S
        wait_s = min(meter.deadline_s, look_s) - time.perf_counter()
        ready = {descriptor for descriptor, _ in poll.poll(max(wait_s, 0) * 1000 + 1)}
        if handle in ready:
            return True
        for descriptor in ready:
            if not by_descriptor[descriptor].read():
                poll.unregister(descriptor)


def _clear_registration(leader: int) -> None:
    """Remove libomp's registration in shared memory, which it removes itself only at a normal exit."""
    with contextlib.suppress(OSError):
        Path(f"/dev/shm/__KMP_REGISTERED_LIB_{leader}_{os.getuid()}").unlink(missing_ok=True)  # noqa: S108 - libomp's


def _end_guard(guard: int) -> None:
    """Have the guard kill its processes, and wait for its end; it is reaped later, so its PID is not reused."""
    os.kill(guard, signal.SIGTERM)
    os.waitid(os.P_PID, guard, os.WEXITED | os.WNOWAIT)


def _ask_to_end(leader: int, *, guarded: bool) -> None:
    """Send SIGTERM to the command and all its children, each once: not to our launchers, which would pass it on."""
    launcher = str(launcher_program().resolve()) if guarded else ""
    for process in family(leader):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{process}/exe") != launcher:
                os.kill(process, signal.SIGTERM)


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
