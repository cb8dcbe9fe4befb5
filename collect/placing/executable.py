"""Find the file that a program's command starts, and check before a run that it can be executed."""

import os
import shutil
from pathlib import Path

from numapredict.collect.program import APPLICATIONS, CODELETS, Program
from numapredict.native.errors import UnrunnableProgramError
from numapredict.native.library import applications_program, codelets_program

_OURS = {CODELETS: codelets_program, APPLICATIONS: applications_program}
"""The programs that are built with this package and in no PATH."""


def executable_of(program: Program) -> str:
    """Return the path that starts a program: absolute when found in PATH, as written when it names a file.

    Raises UnrunnableProgramError, in a shell's terms, for a missing file, a folder, a file without the execute
    permission, and one that is neither an ELF program nor a script with a ``#!`` line.
    """
    name = program.command[0]
    if name in _OURS:
        return str(_OURS[name]())
    folder = Path(program.directory or ".")
    if not folder.is_dir():
        raise UnrunnableProgramError(f"{folder}: no such folder to run {program.name!r} in; check its directory")
    if os.sep not in name:
        found = shutil.which(name, path=dict(program.environment).get("PATH"))
        if found is None:
            raise UnrunnableProgramError(f"{name}: no such program in PATH; write ./{name} for one in this folder")
        _check_start(Path(found), found)
        return found
    path = folder / name
    if not path.exists():
        raise UnrunnableProgramError(f"{name}: no such file; check the path, or build the program first")
    if path.is_dir():
        raise UnrunnableProgramError(f"{name} is a folder; name the program in it")
    if not path.is_file():  # reading a pipe would block until it has a writer
        raise UnrunnableProgramError(f"{name} is no regular file; name a program")
    if not os.access(path, os.X_OK):
        raise UnrunnableProgramError(f"{name} is not executable; run chmod +x on it if it is a program")
    _check_start(path, name)
    return name


def command_of(program: Program) -> tuple[str, ...]:
    """Return the command that starts a program: as typed, since it may go by its own name; PATH then finds its file.

    Raises as ``executable_of`` does.
    """
    executable = executable_of(program)
    return program.command if program.command[0] not in _OURS else (executable, *program.command[1:])


def _check_start(path: Path, name: str) -> None:
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError:  # execute permission alone is enough to run a program, and no reason to refuse it
        return
    if start[:2] != b"#!" and start != b"\x7fELF":
        raise UnrunnableProgramError(f"{name} is neither an ELF program nor a script with a #! line; name a program")
