"""One measurement at a time on a computer: two campaigns take turns, measurement by measurement.

Both of two locked files are of the whole computer. Who wants to measure first takes the one that says "I am next" and
with it waits for the other, "I measure": so whoever just measured finds the first taken, and cannot go twice while
somebody waits. The kernel drops both locks with the process, however that ends.
"""

import contextlib
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from numapredict.collect.kernel_file import kernel_text
from numapredict.native.errors import NumapredictError

# Of the computer, for every user: FHS 3.0 sec. 3.15 and 5.9, shm_overview(7). Never a user's own TMPDIR.
_FOLDERS = (Path("/run/lock"), Path("/var/lock"), Path("/dev/shm"), Path("/tmp"))  # noqa: S108 - empty files only


class NoTurnError(NumapredictError):
    """The lock that keeps measurements apart cannot be made."""


@contextlib.contextmanager
def turn(announce: Callable[[str], None], folder: Path | None = None) -> Iterator[None]:
    """Wait for this process's turn to measure, and hold it; ``announce`` is told when it has to wait."""
    where = folder or lock_folder()
    with contextlib.ExitStack() as stack:
        following = stack.enter_context(_opened(where / "numapredict-next.lock"))
        measuring = stack.enter_context(_opened(where / "numapredict-measuring.lock"))
        told = _take(following, announce, told=False)
        try:
            _take(measuring, announce, told=told)
        finally:
            fcntl.flock(following, fcntl.LOCK_UN)
        yield


def lock_folder() -> Path:
    """Return the folder of the locks: the first that every user may write to, so that it is the same for all."""
    return next((folder for folder in _FOLDERS if _is_everybodys(folder)), _FOLDERS[-1])


def _is_everybodys(folder: Path) -> bool:
    try:
        return bool(folder.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return False


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open a lock file that every user of the computer can lock; nothing is ever written to it."""
    try:
        try:
            # Not to create: fs.protected_regular forbids that for another user's file in a folder that all write to.
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            file = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise NoTurnError(f"cannot lock {path}: {error.strerror}; remove that file, or have its owner do so") from error
    try:
        yield file
    finally:
        os.close(file)


def _take(file: int, announce: Callable[[str], None], *, told: bool) -> bool:
    """Lock a file, waiting for it if need be; return whether somebody was told of that."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if not told:
            announce(f"another numapredict is measuring on this computer{_holder(file)}: waiting for its turn to end")
        fcntl.flock(file, fcntl.LOCK_EX)
        return True
    return told


def _holder(file: int) -> str:
    """Return which process holds a lock, as far as the kernel tells (proc_locks(5)); else an empty text."""
    about = os.fstat(file)
    place = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}:{about.st_ino}"
    for line in kernel_text(Path("/proc/locks")).splitlines():
        words = line.split()
        if len(words) > 5 and words[1] == "FLOCK" and words[5] == place and words[4].isdigit() and words[4] != "0":
            return f" (process {words[4]})"
    return ""
