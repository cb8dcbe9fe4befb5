"""What makes runs of a program comparable: how and where it is started, and the files that it is made of."""

import contextlib
import hashlib
import os
import re
from pathlib import Path

from numapredict.collect.figure import TIME, Figure
from numapredict.collect.host.bounded_file import open_regular
from numapredict.collect.host.environment import memory_settings
from numapredict.collect.host.kernel_file import kernel_line
from numapredict.collect.host.standard_input import input_digest
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.program import Program
from numapredict.collect.topology import Topology
from numapredict.native.errors import MissingNativePartError
from numapredict.native.library import marks_library, placement_library
from numapredict.native.version import version

# Variables of a terminal, a login or a job step, which differ from command to command and say nothing of a run. What a
# batch system grants shows in the affinity mask and in the memory nodes.
_OF_THE_SESSION = re.compile(
    r"_|SHLVL|PWD|OLDPWD|TMPDIR|COLUMNS|LINES|NO_COLOR|WINDOWID|STY|DISPLAY|INVOCATION_ID"
    r"|(TERM|SSH|XDG|DBUS|TMUX|VSCODE|SLURM|PMI|PMIX|OMPI|PBS|FLUX|NUMAPREDICT|PYTEST)(_.*)?"
)
_SCRIPT_BYTES = 1 << 16
_WORDS = re.compile(r"[^\s\"'`;&|()<>=]+")

FileState = tuple[str, int, int]
"""A file's path, size in bytes, and time of its last change in ns."""


def start_digest(program: Program, topology: Topology, strict: bool, figure: Figure = TIME) -> str:
    """Return a digest of how a program is started and measured, by which figure, and on which part of a computer.

    Covers its command, folder, input and variables, the affinity mask, the memory policy and the kernel's settings of
    memory.
    """
    variables = {**os.environ, **dict(program.environment)}
    libraries: list[FileState] = []
    for library in (marks_library, placement_library):
        with contextlib.suppress(MissingNativePartError):
            libraries += _states([library()])
    parts = (
        (program.command, executable_of(program), str(_folder(program)), *filter(None, (input_digest(),))),
        sorted((name, value) for name, value in variables.items() if not _OF_THE_SESSION.fullmatch(name)),
        (sorted(os.sched_getaffinity(0)), _memory_policy(), memory_settings(), topology.as_unmeasured),
        (version(), libraries, strict, *(() if figure.is_time else (figure,))),
    )
    return hashlib.sha256(repr(parts).encode(errors="surrogateescape")).hexdigest()[:32]


def file_states(program: Program) -> tuple[FileState, ...]:
    """Return the states of the executable, of the files that arguments name, and, of a script, of those in its text."""
    executable = _folder(program) / executable_of(program)
    parts = [part for argument in program.command[1:] for part in _WORDS.findall(argument)]  # of --input=FILE
    words = [*program.command[1:], *parts, *_words_of_script(executable)]
    return _states([executable, *(_folder(program) / word for word in dict.fromkeys(words))])


def _folder(program: Program) -> Path:
    return Path(program.directory or ".").absolute()


def _memory_policy() -> str:
    """Return the memory policy of this process (numa(7), /proc/PID/numa_maps), empty where the kernel names none."""
    return next(iter(kernel_line(Path("/proc/self/numa_maps")).split()[1:2]), "")


def _words_of_script(executable: Path) -> list[str]:
    with contextlib.suppress(OSError), open_regular(executable) as file:
        start = file.read(_SCRIPT_BYTES)
        return _WORDS.findall(start.decode(errors="replace")) if start.startswith(b"#!") else []
    return []


def _states(files: list[Path]) -> tuple[FileState, ...]:
    found = []
    for file in files:
        with contextlib.suppress(OSError, ValueError):  # ValueError: a null character in an argument
            if file.is_file():
                status = file.stat()
                name = os.fsencode(file).decode(errors="backslashreplace")
                found.append((name, status.st_size, status.st_mtime_ns))
    return tuple(found)
