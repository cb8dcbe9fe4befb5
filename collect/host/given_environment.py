"""The environment that programs are started with: the caller's, without what libraries of this process have set."""

import os
from pathlib import Path

# scikit-learn sets both when it is imported. With the second, libomp leaves a forked child with the team of its parent,
# whose threads are not there, and its first region waits for them for ever.
_SET_BY_LIBRARIES = ("KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK")
_AT_START = Path("/proc/self/environ")


def given_environment() -> dict[str, str]:
    """Return this process's environment as programs are to have it."""
    own = dict(os.environ)
    if any(name in own for name in _SET_BY_LIBRARIES):
        given = _names_at_start()
        for name in _SET_BY_LIBRARIES:
            if name not in given:
                own.pop(name, None)
    return own


def _names_at_start() -> frozenset[str]:
    try:
        text = _AT_START.read_bytes()
    except OSError:
        return frozenset()
    return frozenset(os.fsdecode(pair.partition(b"=")[0]) for pair in text.split(b"\0"))
