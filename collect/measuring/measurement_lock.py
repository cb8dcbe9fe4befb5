"""The measurement lock: one measurement at a time on a computer; concurrent campaigns alternate.

It consists of two lock files, both for the whole computer. A process that wants to measure first locks "next" and
holding it waits for "measuring": a process that has just measured finds "next" locked while another waits, and cannot
measure twice in a row. The kernel releases both locks at the end of the process.

Any user may hold them, or have put other files in their place: every wait is bounded, and without the lock a
measurement runs anyway, with a warning.
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
from numapredict.collect.host.lock_folder import lock_folder

UNKNOWN = "another process"
_NEXT, _MEASURING = "numapredict-next.lock", "numapredict-measuring.lock"

log = logging.getLogger(__name__)


class Patience(msgspec.Struct, frozen=True):
    """How long to wait for the lock: after ``announce_after_s`` its holder is logged, after ``most_s`` the run starts.

    Half an hour is longer than a measurement of six runs of five minutes; the lock is tried every ``look_s`` seconds.
    """

    announce_after_s: float = 3.0
    most_s: float = 1800.0
    look_s: float = 0.05


class MeasurementLock:
    """One process's use of the lock. It logs when it has to wait, and when it continues without the lock.

    After continuing without, it does not wait again until it has had the lock: a lock held for ever costs one wait.
    """

    def __init__(self, folder: Path | None = None, patience: Patience | None = None) -> None:
        self._folder = folder or lock_folder()
        self._patience = patience or Patience()
        self._gave_up = False
        self._refused: tuple[object, ...] = ()

    @contextlib.contextmanager
    def take(self) -> Iterator[bool]:
        """Wait for the lock and hold it until the context ends; yield False where it could not be taken."""
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
        """Return whether both files were locked in time; only the one on measuring stays locked."""
        began_s = time.monotonic()
        announced = self._gave_up
        most_s = 0.0 if self._gave_up else self._patience.most_s
        try:
            for file in (following, measuring):
                while not _locked(file):
                    waited_s = time.monotonic() - began_s
                    if waited_s >= most_s:
                        self._give_up(file)
                        return False
                    if not announced and waited_s >= self._patience.announce_after_s:
                        log.info(
                            f"{holder_of(file)} is measuring on this computer: waiting for it to finish, at most"
                            f" {most_s:.0f} s"
                        )
                        announced = True
                    time.sleep(self._patience.look_s)
        finally:
            fcntl.flock(following, fcntl.LOCK_UN)
        self._gave_up = False
        return True

    def _give_up(self, file: int) -> None:
        if not self._gave_up:
            log.info(
                f"no measurement lock within {self._patience.most_s:.0f} s, as {holder_of(file)} has it: measuring"
                " without; measurements at the same time disturb each other"
            )
        self._gave_up = True

    def _go_without(self, error: OSError) -> None:
        """Log once that the lock cannot be used."""
        refused = (error.filename or self._folder, error.strerror)
        if refused != self._refused:
            log.info(
                f"measurements on this computer are not serialised: cannot lock {refused[0]}: {refused[1]}; remove"
                " that file, or have its owner do so"
            )
        self._refused = refused


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open a lock file that every user of the computer can lock; nothing is ever written to it.

    Opening a FIFO for reading would block, and a link would lead elsewhere. Raises OSError.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    try:
        # Not to create: fs.protected_regular forbids that for another user's file in a folder that all write to.
        file = os.open(path, flags)
    except FileNotFoundError:
        file = os.open(path, flags | os.O_CREAT, 0o644)
        os.fchmod(file, 0o644)  # independent of the umask: other users must be able to lock it
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

    They are read from /proc (proc_locks(5), proc_pid(5)); what that hides is ``UNKNOWN``.
    """
    about = os.fstat(file)
    place = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}:{about.st_ino}"
    for line in kernel_text(Path("/proc/locks")).splitlines():
        words = line.split()
        if len(words) > 5 and words[1] == "FLOCK" and words[5] == place and words[4].isdigit() and words[4] != "0":
            return f"process {words[4]}{_user(words[4])}"
    return UNKNOWN


def _user(process: str) -> str:
    """Return the printable name of a process's user, "" where /proc does not show it."""
    try:
        number = Path("/proc", process).stat().st_uid
    except OSError:
        return ""
    try:
        return f" of user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f" of user {number}"
