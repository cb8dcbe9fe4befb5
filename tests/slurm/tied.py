"""Runs commands that end with whoever started them, and with each other, with all that they started.

`python tied.py LEASH '[["command", "word"], ...]' [FOLDER]`: ends with the exit code of the first command that ends, or
when the other end of the pipe LEASH (a file descriptor) is closed, as the kernel does for a process however that
ended. What is left by then is killed, also what made itself a session of its own, and FOLDER is removed.
"""

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # prctl(2), <linux/prctl.h>
LEFT = 125
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(leash: int, commands: list[list[str]], folder: str = "") -> int:
    """Run the commands and return the exit code of the first to end, LEFT where the leash was let go of."""
    _LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphans come here
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    try:
        started = [_start(command) for command in commands]
        while True:
            ended = next((one for one in started if one.poll() is not None), None)
            if ended is not None:
                return ended.returncode if ended.returncode >= 0 else 128 - ended.returncode
            ready, _, _ = select.select([leash, woken], [], [])
            if leash in ready:
                return LEFT
            os.read(woken, 4096)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        end_all()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def end_all() -> None:
    """Kill every descendant, and those that they leave behind, until there is none."""
    while True:
        for pid in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def descendants(root: int) -> list[int]:
    """Return the processes that a process started, directly or not."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(words[1]), []).append(int(folder.name))
    found = []
    waiting = [root]
    while waiting:
        new = children.get(waiting.pop(), [])
        found += new
        waiting += new
    return found


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    def tie() -> None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # should this process itself be killed
        signal.set_wakeup_fd(-1)

    return subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=tie)  # noqa: PLW1509 - there is one thread


def _leave(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), json.loads(sys.argv[2]), *sys.argv[3:]))
