"""The trace cache: traces and censuses on disk, by a digest of all that they depend on.

A key covers the program's content, its arguments (and the content of files they name), its input and environment, the
private cache, the budget and the tracer itself, and for a trace the thread count: machines with the same private cache
share traces. Losing the cache costs only time; above its size limit the least recently used files are removed.
"""

import contextlib
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.host.cache import cache_folder, has_room, stand_in, unwritable
from numapredict.collect.host.durable import replace_file
from numapredict.collect.host.site_settings import setting
from numapredict.collect.host.standard_input import input_digest
from numapredict.collect.modelled.description import MachineDescription
from numapredict.collect.modelled.native_computer import NativeComputer, measured_here
from numapredict.collect.modelled.trace import MOST_BYTES as MOST_FILE_BYTES
from numapredict.collect.modelled.trace import Trace, parse_trace
from numapredict.collect.modelled.tracing import TraceBudget, check_program, counted_variables, take_census, take_trace
from numapredict.collect.placing.census import Census, parse_census
from numapredict.collect.program import Program
from numapredict.collect.terminal.progress import lasting
from numapredict.native.errors import InvalidInputError
from numapredict.native.library import marks_library, ranges_library, tracer_plugin

BOUND_VARIABLE = "NUMAPREDICT_CACHE_MB"
MOST_BYTES = 4 << 30
_DIGESTED_BYTES = 64 << 20
_WHAT = "trace cache"
_COMPUTER = ".computer"  # beside a census
_COMPUTERS = msgspec.json.Decoder(NativeComputer | None)

T = TypeVar("T")

log = logging.getLogger(__name__)


class TraceStore:
    """Returns censuses and traces from the cache, takes missing ones, and logs its work.

    In a copy in another process the programs have the variables of the first one, and the cache is its own.
    """

    def __init__(
        self,
        machine: MachineDescription,
        budget: TraceBudget | None = None,
        folder: Path | None = None,
    ) -> None:
        self.machine = machine
        self.budget = budget or TraceBudget()
        self._folder = folder
        self._counted = counted_variables()
        self._keys: dict[Program, str] = {}
        self._here: NativeComputer | None = None

    @property
    def folder(self) -> Path:
        """Return the cache's folder."""
        return self._folder or cache_folder() / "traces"

    def census(self, program: Program) -> Census:
        """Return a program's census, from the cache or from one native run."""
        path = self._census_path(program)
        found = _read(path, parse_census)
        if found is None:
            self._make_room()
            text = f"{program.name}: one native run to count its parallel regions"
            with lasting(log, text, self.budget.census_s):
                data = take_census(program, self.budget, self._counted)
            if self.machine.cycles_from_native_run:
                self._here = self._here or measured_here()
                self._store(f"{path.stem}{_COMPUTER}", msgspec.json.encode(self._here))
            self._store(path.name, data)
            found = parse_census(data)
        if found is None:
            raise InvalidInputError(f"{path}: an empty census; remove the file and try again")
        return found

    def computer(self, program: Program) -> NativeComputer | None:
        """Return the computer that a program's census was taken on, None where it was not measured then."""
        path = self._census_path(program).with_suffix(_COMPUTER)
        return _read(path, _COMPUTERS.decode)

    def trace(self, program: Program, threads: int, siblings: int = 1) -> Trace:
        """Return a program's trace with a number of threads, from the cache or from one emulated run.

        ``siblings``: how many threads share a core and its private cache.
        """
        path = self._trace_path(program, threads, siblings)
        found = _read(path, lambda data: parse_trace(data, str(path)))
        if found is None:
            self._make_room()
            census = self.census(program)
            text = f"{program.name}: tracing with {threads} threads, at most {self.budget.trace_s:.0f} CPU seconds"
            most_s = self.budget.with_start_s(census)
            if most_s >= self.budget.trace_s + 1:
                text += f" and {most_s - self.budget.trace_s:.0f} before its first region"
            with lasting(log, text, most_s):
                machine = self.machine.with_siblings(siblings)
                data = take_trace(program, threads, machine, census, self.budget, self._counted)
            self._store(path.name, data)
            found = parse_trace(data, str(path))
        else:
            log.debug(f"{program.name}: the cache had its trace with {threads} threads, {path}")
        return found

    def has_trace(self, program: Program, threads: int, siblings: int = 1) -> bool:
        """Return whether the cache has a program's trace with a number of threads, so many of them on a core."""
        return self._trace_path(program, threads, siblings).is_file()

    def keep_key(self, program: Program, digest: str) -> None:
        """Take a digest of earlier for the program's: its runs may have changed a file since."""
        self._keys[program] = digest

    def _key(self, program: Program) -> str:
        """Return the program's digest, taken before its first run: a file that its arguments name may be its output."""
        if program not in self._keys:
            self._keys[program] = self.digest(program)
        return self._keys[program]

    def _census_path(self, program: Program) -> Path:
        """Return the file of a program's census: one of its own where the computer is measured with it."""
        measured = "-here" if self.machine.cycles_from_native_run else ""
        return self.folder / f"{self._key(program)}{measured}.census"

    def _trace_path(self, program: Program, threads: int, siblings: int) -> Path:
        shared = f"-smt{siblings}" if siblings > 1 else ""
        return self.folder / f"{self._key(program)}-{threads}{shared}.trace"

    def digest(self, program: Program) -> str:
        """Return the digest of all that a trace depends on, but for the thread count, as it is now.

        Raises UnrunnableProgramError.
        """
        digest = hashlib.sha256()
        executable = Path(program.directory or ".") / check_program(program)
        for file in (executable, tracer_plugin(), marks_library(), ranges_library()):
            digest.update(_content(file))
        for argument in program.command[1:]:
            digest.update(argument.encode(errors="surrogateescape") + b"\0")
            file = Path(program.directory or ".") / argument
            with contextlib.suppress(OSError, ValueError):
                if file.is_file():
                    digest.update(_content(file))
        for name, value in sorted({**self._counted, **dict(program.environment)}.items()):
            digest.update(f"{name}={value}\0".encode(errors="surrogateescape"))
        digest.update(repr((program.directory, self.machine.private_cache, self.machine.line_bytes)).encode())
        digest.update(repr(self.budget).encode())
        digest.update(input_digest().encode())
        return digest.hexdigest()[:32]

    def _make_room(self) -> None:
        """Keep what this process traces elsewhere where the cache has no room."""
        if not has_room(self.folder, _WHAT):
            self._folder = stand_in()

    def _store(self, name: str, data: bytes) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self.folder / name, data)
        except OSError as error:
            raise unwritable(self.folder, _WHAT, error) from error
        self._prune()

    def _prune(self) -> None:
        """Remove the least recently used files while the cache is above its size limit."""
        files = []
        for file in self.folder.iterdir():
            with contextlib.suppress(OSError):
                status = file.stat()
                files.append((max(status.st_mtime, status.st_atime), status.st_size, file))
        size = sum(entry[1] for entry in files)
        bound = setting(BOUND_VARIABLE) or ""
        most = int(bound) << 20 if bound.isascii() and bound.isdigit() else MOST_BYTES
        for _, bytes_, file in sorted(files)[:-1]:
            if size <= most:
                return
            with contextlib.suppress(OSError):
                file.unlink()
            size -= bytes_


def _read(path: Path, parse: Callable[[bytes], T | None]) -> T | None:
    """Return a cached file's parsed content, or None where it is missing or damaged: then it is made again."""
    try:
        return parse(read_bounded(path, MOST_FILE_BYTES))
    except (OSError, InvalidInputError, msgspec.DecodeError):
        return None


def _content(file: Path) -> bytes:
    """Return a digest of a file: of its bytes, or of its name, size and time where it is very large."""
    status = file.stat()
    if status.st_size > _DIGESTED_BYTES:
        return repr((str(file), status.st_size, status.st_mtime_ns)).encode()
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").digest()
