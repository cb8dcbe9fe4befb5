"""Linkers' names as people write them: C++ and Rust by binutils' c++filt, and those of Fortran's modules.

Without c++filt the names of C++ and Rust stay as the linker has them.
"""

import re
import shutil
import subprocess
from collections.abc import Iterable
from functools import lru_cache

_MANGLED = ("_Z", "_R")
_TIMEOUT_S = 10
_LONGEST = 1 << 16
_GFORTRAN = re.compile(r"__([a-z]\w*?)_MOD_(\w.*)")
_FLANG = re.compile(r"_QM([a-z][a-z0-9_]*)[PE]([a-z].*)")  # of a module: a procedure, or an entity

_RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")  # of names before Rust's own mangling


@lru_cache(maxsize=4096)
def demangled(name: str) -> str:
    """Return the name that a linker's name stands for, or the same where that is not known."""
    return demangled_all((name,))[0]


def demangled_all(names: Iterable[str]) -> tuple[str, ...]:
    """Return what `demangled` does of each of many names, by one run of c++filt."""
    found = tuple(map(_of_fortran, names))
    mangled = tuple(dict.fromkeys(filter(_is_mangled, found)))
    known = dict(zip(mangled, _filtered(mangled), strict=True)) if mangled else {}
    return tuple(known.get(name, name) for name in found)


def _of_fortran(name: str) -> str:
    match = _GFORTRAN.fullmatch(name) or _FLANG.fullmatch(name)
    return f"{match[1]}::{match[2]}" if match else name


def _is_mangled(name: str) -> bool:
    return name.startswith(_MANGLED) and name.isascii() and name.isprintable() and len(name) <= _LONGEST


def _filtered(names: tuple[str, ...]) -> tuple[str, ...]:
    tool = shutil.which("c++filt")
    if tool is None:
        return names
    text = "\n".join(names)
    try:
        done = subprocess.run([tool], input=text, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return names
    lines = done.stdout.rstrip("\n").split("\n")
    if len(lines) != len(names):
        return names
    return tuple(_RUST_HASH.sub("", line) or name for line, name in zip(lines, names, strict=True))
