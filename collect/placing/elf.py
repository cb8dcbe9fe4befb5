"""Properties of an executable file that the tracer and the preload library depend on."""

import os
import stat
from pathlib import Path

from numapredict.collect.placing.elf_header import X86_64, NoElfError, needed_libraries, read_header
from numapredict.native.errors import UnrunnableProgramError

# These replace the allocator or insist on being loaded first (compiler-rt, asan_linux.cpp: AsanCheckDynamicRTPrereqs).
_SANITIZERS = {"libasan": "address", "libhwasan": "hwaddress", "libtsan": "thread", "liblsan": "leak"}
_CAPABILITIES = "security.capability"


def check_traceable(path: Path) -> None:
    """Raise UnrunnableProgramError unless a file is a dynamically linked x86-64 program that may be read."""
    try:
        with path.open("rb") as file:
            if file.read(2) == b"#!":
                raise starts_another(str(path), "is a script")
            header = read_header(file)
    except OSError as error:
        raise UnrunnableProgramError(
            f"{path} cannot be read: {error.strerror}; a trace needs read permission"
        ) from error
    except NoElfError as error:
        raise UnrunnableProgramError(f"{path} is no whole ELF program; build it again") from error
    if header.machine != X86_64:
        raise UnrunnableProgramError(f"{path} is built for {header.machine_name}; the tracer follows x86-64 programs")
    if not header.has_interpreter:
        raise UnrunnableProgramError(
            f"{path} is statically linked, so its OpenMP regions cannot be seen; link it dynamically (without -static)"
        )


def starts_another(name: str, what: str, other: str = "") -> UnrunnableProgramError:
    """Return the error for a program that a model cannot trace, as it only starts another one; ``other`` if known."""
    known = f", {other}" if other else ""
    return UnrunnableProgramError(f"{name} {what}; a model traces one program: name the program that it starts{known}")


def preload_obstacle(path: Path, library: Path) -> str:
    """Return why a program would not run with a library preloaded, in a few words; empty where it would.

    A script has none: its interpreter passes the library on. An executable that cannot be read is assumed to have none.
    """
    if _gains_rights(path):
        return "it runs with other rights than its user's, and the loader then ignores LD_PRELOAD"
    try:
        with path.open("rb") as file, library.open("rb") as own:
            if file.read(2) == b"#!":
                return ""
            elf, wanted = read_header(file), read_header(own)
            if (elf.bits, elf.little_endian, elf.machine) != (wanted.bits, wanted.little_endian, wanted.machine):
                return f"it is built for {elf.machine_name}, {elf.bits} bits, and the library is not"
            if not elf.has_interpreter:
                return "it is statically linked"
            # clang links its sanitizers statically, unseen
            built_with = (_SANITIZERS.get(name.split(".", 1)[0]) for name in needed_libraries(file, elf))
            sanitizer = next(filter(None, built_with), "")
            return f"it is built with the {sanitizer} sanitizer" if sanitizer else ""
    except (OSError, NoElfError):
        return ""


def _gains_rights(path: Path) -> bool:
    """Return whether executing a file sets another user or group, or capabilities (secure execution, ld.so(8))."""
    try:
        about = path.stat()
        capabilities = os.getuid() != 0 and _CAPABILITIES in os.listxattr(path)
    except OSError:
        return False
    other_user = bool(about.st_mode & stat.S_ISUID) and about.st_uid != os.getuid()
    both = stat.S_ISGID | stat.S_IXGRP  # without the second the first asks for mandatory locks
    other_group = about.st_mode & both == both and about.st_gid != os.getgid()
    return other_user or other_group or capabilities
