"""The input of a program's runs: where this command's standard input is a file, each run reads it anew.

A pipe gives its bytes once, so that no run gets any of them.
"""

import fcntl
import hashlib
import os
import stat
import struct
import termios
from pathlib import Path

from numapredict.collect.terminal.printable import printable

_DESCRIPTOR = "/proc/self/fd/0"
_DIGESTED_BYTES = 64 << 20


def open_input() -> int | None:
    """Return a new descriptor of the file that standard input is, where that one stands; None without anything left.

    Both have positions of their own: what a program reads from it, the next one reads again.
    """
    try:
        status, at = os.fstat(0), os.lseek(0, 0, os.SEEK_CUR)
        if not stat.S_ISREG(status.st_mode) or status.st_size <= at:
            return None
        opened = os.open(_DESCRIPTOR, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # closed, a pipe, or another user's file
        return None
    os.lseek(opened, at, os.SEEK_SET)
    return opened


def input_digest() -> str:
    """Return a digest of what runs read, by size and time where it is very large; an empty text for nothing."""
    opened = open_input()
    if opened is None:
        return ""
    with open(opened, "rb") as file:
        status, at = os.fstat(opened), file.tell()
        if status.st_size - at > _DIGESTED_BYTES:
            return f"{status.st_dev} {status.st_ino} {status.st_size} {status.st_mtime_ns} {at}"
        return hashlib.file_digest(file, "sha256").hexdigest()


def input_in_words() -> tuple[str, bool]:
    """Return what runs get of standard input, empty for nothing, and whether that is a doubt."""
    opened = open_input()
    if opened is not None:
        os.close(opened)
        return f"each run reads standard input anew: {printable(str(Path(_DESCRIPTOR).readlink()))}", False
    if _waiting_bytes():
        return (
            "standard input is a pipe, which can be read only once: no run gets any input; "
            "write it to a file, and give that by < FILE",
            True,
        )
    return "", False


def _waiting_bytes() -> int:
    """Return how many bytes wait in a pipe or socket that is standard input."""
    try:
        mode = os.fstat(0).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            return 0
        found = fcntl.ioctl(0, termios.FIONREAD, struct.pack("i", 0))
    except OSError:
        return 0
    return int(struct.unpack("i", found)[0])
