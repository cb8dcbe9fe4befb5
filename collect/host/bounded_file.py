"""Files that people name: only regular ones are read, and never more than a bound."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MIB = 1 << 20


def open_regular(path: Path) -> BinaryIO:
    """Return a regular file opened for reading; raise OSError for anything else, without waiting and without a read.

    A named pipe would wait for its writer, and a device may have no end.
    """
    _check(path, os.stat(path).st_mode)
    # Checked again once it is open: another file may have replaced it meanwhile.
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_CLOEXEC))  # noqa: SIM115 - the caller's
    try:
        _check(path, os.fstat(file.fileno()).st_mode)
    except BaseException:
        file.close()
        raise
    return file


def read_bounded(path: Path, most_bytes: int) -> bytes:
    """Return a regular file's bytes; raise OSError, with what is wrong as its text, also where there are more."""
    with open_regular(path) as file:
        # Files under /proc report size 0, and others may grow.
        size = os.fstat(file.fileno()).st_size
        data = _read(file, size, most_bytes + 1) if size <= most_bytes else b""
    if max(size, len(data)) > most_bytes:
        raise OSError(errno.EINVAL, f"it has more than {most_bytes // MIB} MiB, which no such file has", str(path))
    return data


def _read(file: BinaryIO, size: int, most_bytes: int) -> bytes:
    """Return what is in a file, up to a bound, read in parts: Python allocates the size of each requested read."""
    parts = [file.read(min(size, most_bytes))]
    while (left := most_bytes - sum(map(len, parts))) > 0 and (part := file.read(min(left, MIB))):
        parts.append(part)
    return b"".join(parts)


def _check(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is no regular file; pipes and devices are not read", str(path))
