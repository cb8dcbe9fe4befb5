"""Names and lines of a run's modules: each file is opened once, when it is first asked about."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from numapredict.collect.host.bounded_file import MIB, read_bounded
from numapredict.collect.source.address_ranges import UnitFinder
from numapredict.collect.source.demangling import demangled, demangled_all
from numapredict.collect.source.excerpt import Excerpt, excerpt_of
from numapredict.collect.source.functions import Die, frames_of, functions_at
from numapredict.collect.source.lines import LineTable
from numapredict.collect.source.module_file import DEBUG_FOLDER, ModuleFile, open_module
from numapredict.collect.source.place import Frame, Place, plain_function
from numapredict.collect.source.statement import (
    assigned_in,
    base_of,
    directive_before,
    is_made_in,
    is_returned,
    statement_at,
    written_in,
)
from numapredict.collect.source.symbol_table import FUNCTION, OBJECT, THREAD_LOCAL, Symbol
from numapredict.collect.source.variables import declared_in, static_at

_MOST_SOURCE_BYTES = 16 * MIB
_LARGEST_ADDRESS = (1 << 64) - 1
_LARGE_BYTES = 64 << 10  # native/placement/memory/range.h: RANGE_BYTES
_LEAST_BYTES = 4096
"""Of the static objects of a part, smaller ones lie within pages of others."""


class Allocation(msgspec.Struct, frozen=True):
    """An allocation: its line, and the name of the variable that it is assigned to, None where that is not known.

    ``through`` is the function that allocates for callers that are not known, empty where there is none.
    """

    frame: Frame
    name: str | None
    through: str


class Modules:
    """The modules of one run, which ended at ``run_ended_s`` (seconds since 1970; None: not known).

    ``build_ids`` has their build IDs in hexadecimal, by path, where they are known.

    Damage, missing files and missing debug information leave things unknown, with a line in the place's ``doubt``.
    """

    def __init__(
        self,
        run_ended_s: float | None = None,
        debug_folder: Path = DEBUG_FOLDER,
        build_ids: Mapping[str, str] | None = None,
    ) -> None:
        self._run_ended_s, self._debug_folder, self._build_ids = run_ended_s, debug_folder, build_ids or {}
        self._known: dict[str, _Module] = {}
        self._allocations: dict[Place, Allocation] = {}

    def place(self, module: str, offset: int) -> Place:
        """Return the place of an address of a module, before relocation."""
        return self._module(module).place(offset)

    def allocation(self, place: Place) -> "Allocation":
        """Return what the source tells of the allocation at a place.

        A function that returns what it allocates does so for its callers: where it was inlined into one, the call
        there is the allocation's line.
        """
        if place not in self._allocations:
            self._allocations[place] = self._module(place.module).allocation(place)
        return self._allocations[place]

    def constructed(self, place: Place, frame: Frame) -> str | None:
        """Return the variable that a frame of a place constructs in its line, None where none is known."""
        return self._module(place.module).name_at(place, frame)

    def written_name(self, place: Place) -> str | None:
        """Return the array that the line of a place writes to, ``a or b`` of several, None where none is known."""
        return self._module(place.module).written_name(place)

    def directive(self, place: Place) -> str:
        """Return the OpenMP directive before a place's line, empty where the source is not there or has none near."""
        return self._module(place.module).directive(place.frame)

    def excerpt(self, place: Place) -> Excerpt | None:
        """Return the lines of source around a place, None where the source is not there or is younger."""
        return self._module(place.module).excerpt(place.frame)

    def statics(self, module: str, start: int, size_bytes: int) -> tuple[tuple[Symbol, Frame], ...]:
        """Return the static objects of a part of a module, each with its name and the place of its declaration."""
        return self._module(module).statics(start, size_bytes)

    def thread_locals(self, modules: Iterable[str]) -> tuple[str, ...]:
        """Return the names of the large thread-local variables of modules."""
        tables = (self._module(path).thread_locals for path in modules)
        return tuple(dict.fromkeys(name for names in tables for name in names))

    def _module(self, path: str) -> "_Module":
        if path not in self._known:
            self._known[path] = _Module(
                open_module(path, self._run_ended_s, self._debug_folder, self._build_ids.get(path, ""))
            )
        return self._known[path]


class _Module:
    """One module's file, with what was read of it so far."""

    def __init__(self, file: ModuleFile) -> None:
        self._file = file
        self._places: dict[int, Place] = {}
        self._chains: dict[int, tuple[Die, ...]] = {}
        self._tables: dict[int, LineTable] = {}
        self._sources: dict[str, tuple[str, ...]] = {}

    @property
    def thread_locals(self) -> tuple[str, ...]:
        table = self._file.symbols.get(THREAD_LOCAL)
        found = table.within(0, _LARGEST_ADDRESS) if table is not None else ()
        return demangled_all(symbol.name for symbol in found if symbol.size_bytes >= _LARGE_BYTES)

    def place(self, offset: int) -> Place:
        if offset not in self._places:
            self._places[offset] = self._looked_up(offset)
        return self._places[offset]

    def _looked_up(self, offset: int) -> Place:
        path, doubt = self._file.path, self._file.doubt
        frames: tuple[Frame, ...] = ()
        if self._file.dwarf is not None:
            try:
                unit = self._finder.at(offset)
                if unit is not None:
                    table = self._table(unit)
                    chain = functions_at(unit, offset)
                    self._chains[offset] = chain
                    frames = frames_of(chain, offset, table)
            except Exception:  # what pyelftools raises for damaged debug information has no common class
                doubt = f"the debug information of {Path(path).name} is damaged or of an unknown kind"
        if not any(frame.function for frame in frames):
            symbol = self._file.symbols[FUNCTION].at(offset) if FUNCTION in self._file.symbols else None
            if symbol is not None:
                known = frames[-1] if frames else Frame()
                frames = (Frame(demangled(symbol.name), known.file, known.line),)
        return Place(path, offset, frames, "" if any(frame.known for frame in frames) else doubt)

    def allocation(self, place: Place) -> Allocation:
        frames = place.own_frames
        for frame in frames:
            name = self.name_at(place, frame)
            if not self._returns(frame, name):
                return Allocation(frame, name, "")
        outermost = frames[-1] if frames else Frame()
        return Allocation(outermost, None, plain_function(outermost.function))

    def written_name(self, place: Place) -> str | None:
        frame = place.frame
        names = written_in(statement_at(self._lines(frame), frame.line or 0, before=False))
        known = {one.function for one in self._variables(place, frame)}
        bases = (base_of(name) for name in names if "[" in name)
        return " or ".join(dict.fromkeys(base for base in bases if base in known)) or None

    def name_at(self, place: Place, frame: Frame) -> str | None:
        """Return the variable that is declared in a frame's line or, by the source, assigned to there."""
        if not frame.known:
            return None
        declared = self._variables(place, frame)
        here = [one.function for one in declared if (one.file, one.line) == (frame.file, frame.line) and one.function]
        lines = self._lines(frame)
        line = statement_at(lines, frame.line or 0, before=False)
        assigned = assigned_in(line, frame.column) or assigned_in(statement_at(lines, frame.line or 0))
        if not assigned:
            made = [name for name in here if not line or is_made_in(line, name.rpartition("::")[2])]
            return made[0] if len(made) == 1 else None
        # The text is believed if it names variables of the function or of the file, or members of what it is of.
        known = {one.function for one in declared}
        named = [
            name
            for name in assigned
            if not known or "this" in known or base_of(name) in known or base_of(name) in self._objects
        ]
        return " or ".join(named) or None

    def _returns(self, frame: Frame, name: str | None) -> bool:
        lines, line = self._lines(frame), frame.line or 0
        return frame.of_the_system or any(is_returned(lines, line, one) for one in (name or "").split(" or "))

    def directive(self, frame: Frame) -> str:
        return directive_before(self._lines(frame), frame.line or 0)

    def excerpt(self, frame: Frame) -> Excerpt | None:
        return excerpt_of(self._lines(frame), frame.line or 0)

    def _lines(self, frame: Frame) -> tuple[str, ...]:
        if frame.file is None:
            return ()
        if frame.file not in self._sources:
            self._sources[frame.file] = _source(frame.file, self._file.changed_s)
        return self._sources[frame.file]

    def statics(self, start: int, size_bytes: int) -> tuple[tuple[Symbol, Frame], ...]:
        objects = self._file.symbols.get(OBJECT)
        found = objects.within(start, start + size_bytes) if objects is not None else ()
        large = tuple(symbol for symbol in found if symbol.size_bytes >= _LEAST_BYTES)
        return tuple((symbol, self._static(symbol)) for symbol in large or found[:1])

    def _static(self, symbol: Symbol) -> Frame:
        try:
            unit = self._finder.of_static(symbol.address) if self._file.dwarf is not None else None
            found = static_at(unit, symbol.address, self._table(unit)) if unit is not None else None
            if found is not None:
                return found
        except Exception:  # noqa: S110 - as above; the symbol has a name too
            pass
        plain, _, number = symbol.name.rpartition(".")  # gcc numbers the statics of functions
        return Frame(demangled(plain if plain and number.isdigit() else symbol.name))

    def _variables(self, place: Place, frame: Frame) -> tuple[Frame, ...]:
        """Return the variables of a frame's function; none where the debug information is damaged."""
        chain = self._chains.get(place.offset, ())
        if frame not in place.frames:
            return ()
        at = len(chain) - 1 - place.frames.index(frame)
        try:
            # The compiler may have moved a variable from the function that it is declared in to a region's body.
            return tuple(one for function in chain[: at + 1] for one in declared_in(function, self._table(function.cu)))
        except Exception:  # as above
            return ()

    @cached_property
    def _objects(self) -> frozenset[str]:
        """Return the names of all static objects, without those of namespaces and classes."""
        table = self._file.symbols.get(OBJECT)
        found = table.within(0, _LARGEST_ADDRESS) if table is not None else ()
        return frozenset(name.rpartition("::")[2] for name in demangled_all(symbol.name for symbol in found))

    @cached_property
    def _finder(self) -> UnitFinder:
        return UnitFinder(self._file.dwarf)

    def _table(self, unit: Die) -> LineTable:
        if unit.cu_offset not in self._tables:
            self._tables[unit.cu_offset] = LineTable(unit)
        return self._tables[unit.cu_offset]


def _source(path: str, built_s: float) -> tuple[str, ...]:
    """Return the lines of a source file; none where it cannot be read or is younger than the module."""
    try:
        if Path(path).stat().st_mtime > built_s:
            return ()
        return tuple(read_bounded(Path(path), _MOST_SOURCE_BYTES).decode(errors="replace").split("\n"))
    except (OSError, ValueError):
        return ()
