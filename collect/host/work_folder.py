"""Temporary folders: made in TMPDIR, and always removed.

A folder that a killed process left is removed by the next process that makes one in the same place. Each folder has a
file that its maker keeps locked; the kernel releases the lock at the end of the process (flock(2)).
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
"""The room required: more than a file of region times, the largest whose failed write is not reported."""

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

    To be called where a run failed or left no file, to tell a full disk from other causes.
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
    """Clear leftovers in a folder once a process: it may hold many other files."""
    clear_leftovers(parent)


def _parent() -> Path:
    """Return the parent of temporary folders: the user's choice, else the system's.

    Python itself silently falls back to /tmp where the user's folder cannot be used.
    """
    named = next(filter(None, map(os.environ.get, ("TMPDIR", "TEMP", "TMP"))), None)
    try:
        return Path(named or tempfile.gettempdir()).absolute()
    except OSError as error:  # none of the usual folders
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
            continue  # another process removed the folder as a leftover before it was locked
        except OSError as error:
            folder.rmdir()
            raise refused(parent, error) from error
        try:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(owner)
            continue
        except OSError:
            pass  # a file system without locks: no process can lock the folder, so none removes it
        if os.fstat(owner).st_nlink == 0:
            os.close(owner)
            continue
        stack.callback(os.close, owner)  # after the folder is removed
        return folder


def _clear(folder: Path) -> bool:
    """Remove a folder of this user whose maker is gone, locked meanwhile; return whether it was one.

    An empty one is a leftover or is just being made: its maker notices the removal.
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
        shutil.rmtree(folder)  # follows no link, even one put in its place meanwhile
        return True
    return False
