"""Folders for what is needed only while something runs: made where TMPDIR says, and removed whatever happens.

A folder that a killed process left is removed by the next process that makes one in the same place. Each folder has a
file that its maker keeps locked; the kernel drops the lock with the process, however that ends (flock(2)).
"""

import contextlib
import errno
import fcntl
import functools
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from numapredict.native.errors import UnwritableError

PREFIX = "numapredict-work-"
OWNER = ".numapredict-owner"
ROOM_BYTES = 2 << 20
"""What there must be room for: more than a file of region times, the largest that is written without a word."""

_NAME = re.compile(rf"{re.escape(PREFIX)}[a-z0-9_]{{8}}")  # as tempfile.mkdtemp makes them


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """Make a folder for temporary files and remove it at the end; raise UnwritableError where it has no room."""
    parent = _parent()
    _clear_once(parent)
    with contextlib.ExitStack() as stack:
        folder = _make(parent, stack)
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        require_room(folder)
        try:
            yield folder
        except OSError as error:
            if error.filename is None or Path(os.fsdecode(error.filename)).is_relative_to(folder):
                require_room(folder)
            raise


def require_room(folder: Path, size_bytes: int = ROOM_BYTES) -> None:
    """Raise UnwritableError where a file of ``size_bytes`` cannot be written to a work folder now.

    To be asked where a run failed or left no file: what could not be written is then missing, whatever the reason.
    """
    probe = folder / ".room"
    try:
        try:
            probe.write_bytes(bytes(size_bytes))
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        raise refused(folder.parent, error) from error


def refused(parent: Path, error: OSError) -> UnwritableError:
    """Return the error that says why temporary files cannot be written to a folder, and what to do about it."""
    if error.errno == errno.EFBIG:
        advice = "raise the limit of file sizes (ulimit -f)"
    elif error.errno in {errno.ENOSPC, errno.EDQUOT}:
        advice = "free some space there, or name another folder with TMPDIR=FOLDER"
    else:
        advice = "name another folder with TMPDIR=FOLDER"
    reason = error.strerror or str(error)
    return UnwritableError(
        f"cannot write temporary files in {parent}: {reason}; {advice}, and run the same command again; what was "
        "finished is kept"
    )


def clear_leftovers(parent: Path) -> tuple[str, ...]:
    """Remove the work folders in ``parent`` that are this user's and whose makers are gone; return their names."""
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        return tuple(entry.name for entry in entries if _NAME.fullmatch(entry.name) and _clear(Path(entry.path)))
    return ()


@functools.cache
def _clear_once(parent: Path) -> None:
    """Clear a folder once a process: it may hold many files of others."""
    clear_leftovers(parent)


def _parent() -> Path:
    """Return where temporary files go: where the user says, or else where the system does.

    Python itself goes on to /tmp without a word where the named folder cannot be used.
    """
    named = next(filter(None, map(os.environ.get, ("TMPDIR", "TEMP", "TMP"))), None)
    try:
        return Path(named or tempfile.gettempdir()).absolute()
    except OSError as error:  # none of those that there usually are
        raise refused(Path("/tmp"), error) from error  # noqa: S108 - named, not used


def _make(parent: Path, stack: contextlib.ExitStack) -> Path:
    while True:
        try:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        except OSError as error:
            raise refused(parent, error) from error
        try:
            owner = os.open(folder / OWNER, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            continue  # another process took the folder for a killed one's before it was locked
        except OSError as error:
            folder.rmdir()
            raise refused(parent, error) from error
        try:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(owner)
            continue
        except OSError:
            pass  # a file system without locks: then nobody can lock it, and nobody removes it
        if os.fstat(owner).st_nlink == 0:
            os.close(owner)
            continue
        stack.callback(os.close, owner)  # after the folder is removed
        return folder


def _clear(folder: Path) -> bool:
    """Remove a folder that is this user's own and whose maker is gone; return whether it was one.

    It is locked meanwhile. An empty one was left, or is just being made: who makes it notices that it is gone.
    """
    with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
        about = folder.lstat()
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
            return False
        if not os.listdir(folder):
            folder.rmdir()
            return True
        owner = os.open(folder / OWNER, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        stack.callback(os.close, owner)
        about = os.fstat(owner)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
            return False
        fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder)  # follows no link, whatever is put in its place meanwhile
        return True
    return False
