"""Which PUs of this computer the processes of placed runs have.

Each locks the byte of a PU's number in one file; native/placement/threads/claims.h is the contract, and its code the
only one that locks anything.
"""

import fcntl
import os
import struct
from collections.abc import Iterable
from pathlib import Path

from numapredict.collect.host.lock_folder import lock_folder

_NAME = "numapredict-pus.lock"
_FLOCK = struct.Struct("@hhqqi4x")  # struct flock of fcntl(2), with 64-bit offsets


def claims_file() -> Path:
    """Return the path of the file, which the first process makes that claims a PU."""
    return lock_folder().absolute() / _NAME


def claims_beside(file: Path) -> str:
    """Return the path of a file for a run that is measured: it has its mapping's PUs, whoever else is on them."""
    return str(file.with_name(f"{file.name}.pus"))


def claimed_pus(pus: Iterable[int]) -> tuple[int, ...]:
    """Return those of the PUs that processes of other runs have now; none where the file cannot be read."""
    try:
        file = os.open(claims_file(), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
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
