"""Durable files: after a crash a file written here is complete or absent."""

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from numapredict.native.errors import NumapredictError, UnwritableError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


def replace_file(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step: a reader sees the old file or the new one, never a part.

    Raises OSError; the old file is then untouched and no temporary file is left.
    """
    if path.exists() and not path.is_file():
        # A rename would put a file in the place of a device: /dev/full, say.
        raise OSError(errno.EEXIST, "is there and is no regular file", str(path))
    # Computers that share the folder may have processes of one number.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a new or renamed entry of ``folder`` survive a power loss (fsync of a file does not cover its name)."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, data: bytes, refusal: str) -> None:
    """Write a file as ``replace_file`` does, in a folder made if need be; UnwritableError begins with ``refusal``."""
    with refused_as(refusal):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)


@contextlib.contextmanager
def refused_as(refusal: str, kind: type[NumapredictError] = UnwritableError) -> Iterator[None]:
    """Turn an OSError of this context into an error of ``kind``: ``refusal``, the reason, and what to do about it."""
    try:
        yield
    except OSError as error:
        raise kind(f"{refusal}: {reason_and_advice(error)}") from error


def reason_and_advice(error: OSError) -> str:
    """Return in words why the system refused a file, and what to do about it, without a line break."""
    reason = error.strerror or str(error)
    if error.errno in _FULL:
        return f"{reason}; free some space and run the same command again, what was finished is kept"
    if error.errno in _FORBIDDEN:
        return f"{reason}; choose a folder that you may write to"
    if error.errno in {errno.ENOTDIR, errno.EEXIST}:
        return f"{reason}; choose another folder"
    return reason
