"""C++ names as people write them, by binutils' c++filt; without it they stay as the linker has them."""

import shutil
import subprocess
from functools import lru_cache

_MANGLED = "_Z"
_TIMEOUT_S = 10
_LONGEST = 1 << 16


@lru_cache(maxsize=4096)
def demangled(name: str) -> str:
    """Return the name that a linker's name stands for, or the same where that is not known."""
    if not name.startswith(_MANGLED) or not name.isascii() or not name.isprintable() or len(name) > _LONGEST:
        return name
    tool = shutil.which("c++filt")
    if tool is None:
        return name
    try:
        done = subprocess.run([tool], input=name, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return name
    return done.stdout.strip().split("\n")[0] or name
