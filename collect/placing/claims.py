"""Which PUs of this computer the processes of placed runs have.

Each locks the byte of a PU's number in one file; native/placement/threads/claims.h is the contract, and its code the
only one that locks anything.
"""

import fcntl
import os
import stat
import struct
import tempfile
from collections.abc import Iterable
from pathlib import Path

from numapredict.collect.host.lock_folder import lock_folder

_NAME, _OWN = "numapredict-pus.lock", "numapredict-pus"
_RIGHTS = 0o666
_FLOCK = struct.Struct("@hhqqi4x")  # struct flock of fcntl(2), with 64-bit offsets


def claims_file() -> Path:
    """Return the path of the computer's file; where that cannot be used, of one of this user's own."""
    return Path(tempfile.gettempdir(), f"{_OWN}-{os.getuid()}.lock") if claims_obstacle() else _everybodys()


def claims_obstacle() -> str:
    """Return why the file that all placed runs of this computer share cannot be used, or an empty text; make it."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    file = _everybodys()
    try:
        try:
            opened = os.open(file, flags)
        except FileNotFoundError:
            opened = os.open(file, flags | os.O_CREAT | os.O_EXCL, _RIGHTS)
            os.fchmod(opened, _RIGHTS)  # whatever the umask: runs of all users share the computer
        regular = stat.S_ISREG(os.fstat(opened).st_mode)
        os.close(opened)
    except OSError as error:
        return f"{file}: {error.strerror}"
    return "" if regular else f"{file}: not a regular file"


def _everybodys() -> Path:
    return lock_folder().absolute() / _NAME


def claims_beside(file: Path) -> str:
    """Return the path of a file for a run that is measured: it has its mapping's PUs, whoever else is on them."""
    return str(file.with_name(f"{file.name}.pus"))


def claimed_pus(pus: Iterable[int]) -> tuple[int, ...]:
    """Return those of the PUs that processes of other runs have now; none where the file cannot be read."""
    try:
        file = os.open(_everybodys(), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ()
    try:
        return tuple(pu for pu in dict.fromkeys(pus) if _is_claimed(file, pu))
    except OSError:
        return ()
    finally:
        os.close(file)


def _is_claimed(file: int, pu: int) -> bool:
    asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, pu, 1, 0)
    kind: int = _FLOCK.unpack(fcntl.fcntl(file, fcntl.F_GETLK, asked))[0]
    return kind != fcntl.F_UNLCK
