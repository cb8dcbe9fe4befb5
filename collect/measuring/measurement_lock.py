"""One measurement at a time on a computer: two campaigns take turns, measurement by measurement.

Both of two locked files are of the whole computer. Who wants to measure first takes the one that says "I am next" and
with it waits for the other, "I measure": so whoever just measured finds the first taken, and cannot go twice while
somebody waits. The kernel drops both locks with the process, however that ends.

Any user may hold them, or have put something else in their place: so nothing here waits without an end, and what
cannot be had is said and gone without.
"""

import contextlib
import fcntl
import logging
import os
import pwd
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from numapredict.collect.host.kernel_file import kernel_text

# Of the computer, for every user: FHS 3.0 sec. 3.15 and 5.9, shm_overview(7). Never a user's own TMPDIR.
_FOLDERS = (Path("/run/lock"), Path("/var/lock"), Path("/dev/shm"), Path("/tmp"))  # noqa: S108 - empty files only
UNKNOWN = "another process"
_NEXT, _MEASURING = "numapredict-next.lock", "numapredict-measuring.lock"

log = logging.getLogger(__name__)


class Patience(msgspec.Struct, frozen=True):
    """How long to wait for a turn: who has it is said after ``told_s``, and after ``most_s`` it goes on without.

    Half an hour is longer than a measurement of six runs of five minutes; locks are looked at every ``look_s``.
    """

    told_s: float = 3.0
    most_s: float = 1800.0
    look_s: float = 0.05


class MeasurementLock:
    """The turns of one process. It logs when it has to wait, and when it goes on without a turn.

    Once it went on without, it does not wait again before it had a turn: a lock that is held for ever costs one wait.
    """

    def __init__(self, folder: Path | None = None, patience: Patience | None = None) -> None:
        self._folder = folder or lock_folder()
        self._patience = patience or Patience()
        self._gave_up = False
        self._refused: tuple[object, ...] = ()

    @contextlib.contextmanager
    def take(self) -> Iterator[bool]:
        """Wait for this process's turn to measure, and hold it; give False where there is none to be had."""
        with contextlib.ExitStack() as stack:
            try:
                following = stack.enter_context(_opened(self._folder / _NEXT))
                measuring = stack.enter_context(_opened(self._folder / _MEASURING))
                taken = self._wait(following, measuring)
            except OSError as error:
                self._go_without(error)
                taken = False
            yield taken

    def _wait(self, following: int, measuring: int) -> bool:
        """Return whether both locks were had in time; only the one on measuring is kept."""
        began_s = time.monotonic()
        told = self._gave_up
        most_s = 0.0 if self._gave_up else self._patience.most_s
        try:
            for file in (following, measuring):
                while not _locked(file):
                    waited_s = time.monotonic() - began_s
                    if waited_s >= most_s:
                        self._give_up(file)
                        return False
                    if not told and waited_s >= self._patience.told_s:
                        log.info(
                            f"{holder_of(file)} is measuring on this computer: waiting for its turn to end, at most"
                            f" {most_s:.0f} s"
                        )
                        told = True
                    time.sleep(self._patience.look_s)
        finally:
            fcntl.flock(following, fcntl.LOCK_UN)
        self._gave_up = False
        return True

    def _give_up(self, file: int) -> None:
        if not self._gave_up:
            log.info(
                f"no turn to measure within {self._patience.most_s:.0f} s, as {holder_of(file)} has it: going on"
                " without; where both measure, they disturb each other"
            )
        self._gave_up = True

    def _go_without(self, error: OSError) -> None:
        """Say once that a lock cannot be used."""
        refused = (error.filename or self._folder, error.strerror)
        if refused != self._refused:
            log.info(
                f"measurements on this computer are not kept apart: cannot lock {refused[0]}: {refused[1]}; remove"
                " that file, or have its owner do so"
            )
        self._refused = refused


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
    """Open a lock file that every user of the computer can lock; nothing is ever written to it.

    A FIFO would keep who opens it for reading waiting, and a link would lead elsewhere. Raises OSError.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    try:
        # Not to create: fs.protected_regular forbids that for another user's file in a folder that all write to.
        file = os.open(path, flags)
    except FileNotFoundError:
        file = os.open(path, flags | os.O_CREAT, 0o644)
        os.fchmod(file, 0o644)  # whatever the umask: others are to lock it, too
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(None, "not a regular file", str(path))
        yield file
    finally:
        os.close(file)


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def holder_of(file: int) -> str:
    """Return the process that has flock(2)'s lock on an open file, and its user: ``process 12 of user ann``.

    The kernel tells them in /proc (proc_locks(5), proc_pid(5)); what it hides is ``UNKNOWN``.
    """
    about = os.fstat(file)
    place = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}:{about.st_ino}"
    for line in kernel_text(Path("/proc/locks")).splitlines():
        words = line.split()
        if len(words) > 5 and words[1] == "FLOCK" and words[5] == place and words[4].isdigit() and words[4] != "0":
            return f"process {words[4]}{_user(words[4])}"
    return UNKNOWN


def _user(process: str) -> str:
    """Return the user of a process, as it is shown where /proc shows it, else an empty text."""
    try:
        number = Path("/proc", process).stat().st_uid
    except OSError:
        return ""
    try:
        return f" of user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f" of user {number}"
