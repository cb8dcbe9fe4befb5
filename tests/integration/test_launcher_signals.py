"""The launcher and its program under signals: each gets those that are its own, and neither outlives the other."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from numapredict.collect.measuring.counters.perf.counts import read_counts
from tests.integration.test_launcher import TIMEOUT_S, launched, pytestmark

__all__ = ["pytestmark"]

WAIT_S = 60  # at most: nothing is waited for that does not come


WATCHER = """
import os, signal, sys
def handler(number, frame):  # which may come while the last line is being printed
    os.write(1, f"{signal.Signals(number).name}\\n".encode())
    if number == signal.SIGTERM:
        sys.exit(9)
for name in sys.argv[1:]:
    signal.signal(signal.Signals[name], handler)
print("ready", flush=True)
while True:
    signal.pause()
"""


PASSED = ("SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGWINCH", "SIGTERM")


@contextlib.contextmanager
def started(command: Sequence[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a command in a process group of its own, as a shell with job control does."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0, process_group=0)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def line(process: "subprocess.Popen[bytes]") -> str:
    """Return the next line of a program, or what there is of it when too long a time has passed."""
    assert process.stdout is not None
    text = b""
    while not text.endswith(b"\n") and select.select([process.stdout], [], [], WAIT_S)[0]:
        byte = process.stdout.read(1)
        if not byte:
            break
        text += byte
    return text.decode().strip()


def becomes(condition: Callable[[], bool]) -> bool:
    """Return whether a condition holds before long."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def state(pid: int) -> str:
    """Return a process's state as /proc has it: T where it is stopped; nothing where there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())


def test_signals_to_the_launcher_reach_the_program() -> None:
    with started(launched((sys.executable, "-c", WATCHER, *PASSED))) as process:
        assert line(process) == "ready"
        for name in PASSED:
            process.send_signal(signal.Signals[name])
            assert line(process) == name
        assert process.wait(WAIT_S) == 9


def test_the_program_stops_and_goes_on_with_the_launcher() -> None:
    with started(launched((sys.executable, "-c", WATCHER, "SIGCONT", "SIGTERM"))) as process:
        assert line(process) == "ready"
        program = child_of(process.pid)
        process.send_signal(signal.SIGTSTP)
        assert becomes(lambda: state(program) == "T" and state(process.pid) == "T")
        process.send_signal(signal.SIGCONT)
        assert line(process) == "SIGCONT"
        assert state(process.pid) != "T"
        process.send_signal(signal.SIGTERM)
        assert line(process) == "SIGTERM"
        assert process.wait(WAIT_S) == 9


def test_a_signal_that_was_ignored_stays_ignored() -> None:
    shown = "import signal as s; print(*(s.getsignal(n).name for n in (s.SIGHUP, s.SIGCHLD)), s.pthread_sigmask(0, ()))"
    script = "trap '' HUP CHLD; exec \"$@\""
    whole = ["bash", "-c", script, "bash", *launched((sys.executable, "-c", shown))]  # dash sets CHLD back
    finished = subprocess.run(whole, check=True, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert finished.stdout == "SIG_IGN SIG_IGN set()\n"


def test_a_launcher_that_is_killed_leaves_no_program_and_no_whole_file(tmp_path: Path) -> None:
    file = tmp_path / "counts.json"
    with started(launched((sys.executable, "-c", WATCHER), file)) as process:
        assert line(process) == "ready"
        program = child_of(process.pid)
        process.kill()
        assert process.wait(WAIT_S) == -signal.SIGKILL
        assert becomes(lambda: state(program) in {"", "Z"})
    assert file.read_bytes() == b""


def test_children_that_outlive_the_program_are_not_waited_for(tmp_path: Path) -> None:
    began = time.monotonic()
    command = launched(("sh", "-c", "sleep 30 >/dev/null & exit 4"), tmp_path / "counts.json")
    with started(command) as process:
        assert process.wait(WAIT_S) == 4
    assert time.monotonic() - began < 25
    assert read_counts(tmp_path / "counts.json")[0].value > 0
