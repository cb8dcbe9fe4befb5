"""Whether a program says what it knows of its threads and memory, by native/include/numapredict.h."""

import mmap
from pathlib import Path

_CALL = b"numapredict_v1"
"""The library's function, which a program names, to the loader or by dlsym."""


def has_hints(executable: Path) -> bool:
    """Return whether a program's file names the call; False where it cannot be read."""
    try:
        with executable.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(_CALL) >= 0
    except (OSError, ValueError):  # ValueError: an empty file
        return False
