"""The plan file: for one program under one mapping, the teams of its regions, where its pages go, and when they move.

The contract is native/placement/policy/plan.h; this is its only writer, and reads what decides whether a plan fits. The
rest it only checks, for the library says nothing of a damaged plan: it runs the program without one.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote, unquote_to_bytes

from numapredict.collect.host.bounded_file import open_regular
from numapredict.collect.mapping import parse_label
from numapredict.collect.placing.page_plan import PagePlan
from numapredict.collect.source.module_file import build_id_of
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidInputError

FIRST_LINE, LAST_LINE = "numaplace-plan 3", "end"
_MOST_LINES, _LONGEST_LINE = 1 << 20, 1 << 14
_CHUNK_BYTES = 1 << 20
_MOST_PLACES, _MOST_NODES, _MOST_NUMBER = 4096, 1024, 2**32 - 1
_NUMBERS = {
    "region": (16, 10, 16, 10),
    "want": (10,),
    "team": (10, 10, 10),
    "range": (10, 16, 10, 10, 10),
    "place": (10,),
    "run": (10, 10, 10),
}
"""The base of each number in a line, by its word."""
_NO_PAGES = PagePlan((), 1, None)


@dataclass(frozen=True)
class PlannedRegion:
    """A region with a team of its own, or with arrays that move; by its key (native/regions/region_file.h).

    From instance ``first_instance`` on thread i runs where thread ``slots[i]`` of the plan's mapping does; without
    slots it has the mapping's threads. It ``wants`` arrays in the places with these numbers (page_plan.py). ``module``
    and ``offset`` are the region's place in the program.
    """

    key: int
    module: str
    offset: int
    slots: tuple[int, ...] = ()
    first_instance: int = 2
    wants: tuple[int, ...] = ()

    @property
    def threads(self) -> int:
        """Return how many threads its team has, 0 where that is the mapping's."""
        return len(self.slots)


@dataclass(frozen=True)
class Plan:
    """A plan for the machine with this ``fingerprint`` and name, under the mapping with this label.

    ``modules`` are the files that it is made for, each with what identifies the build (``build_of``).
    """

    fingerprint: str
    machine: str
    mapping: str
    modules: tuple[tuple[str, str], ...] = ()
    regions: tuple[PlannedRegion, ...] = ()
    pages: PagePlan = field(default=_NO_PAGES)


def build_of(path: str) -> str:
    """Return what tells builds of a file apart: its build ID, else a hash of its contents; raises OSError."""
    known = build_id_of(Path(path))
    if known:
        return known
    digest = hashlib.sha256()
    with open_regular(Path(path)) as file:
        while part := file.read(_CHUNK_BYTES):
            digest.update(part)
    return digest.hexdigest()


def builds_of(paths: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return files with what identifies their builds, each once; those that cannot be read are left out."""
    found = []
    for path in dict.fromkeys(paths):
        try:
            found.append((path, build_of(path)))
        except OSError:
            continue
    return tuple(found)


def plan_text(plan: Plan) -> str:
    """Return the file's text."""
    return "".join(f"{line}\n" for line in _lines(plan))


def write_plan(plan: Plan, path: Path) -> None:
    """Write the file; raise OSError where it cannot be written."""
    path.write_text(plan_text(plan), encoding="ascii")


def read_plan(path: Path) -> Plan:
    """Return a plan without its pages, which are only checked; raise InvalidInputError where it is none."""
    lines = _lines_of(path)
    fingerprint = machine = mapping = ""
    modules: list[tuple[str, str]] = []
    regions: list[tuple[int, int, int, int]] = []
    slots: list[list[int]] = []
    wants: list[list[int]] = []
    pages, ended = _Pages(), False
    for number, line in enumerate(lines, 2):
        word, *rest = line.split(" ")
        try:
            _require(not ended)
            if line == LAST_LINE:
                ended = True
            elif word == "machine":
                fingerprint, machine = rest[0], unquote(rest[1])
            elif word == "mapping":
                (mapping,) = rest
            elif word == "module":
                modules.append((os.fsdecode(unquote_to_bytes(rest[1])), rest[0]))
                _require("\0" not in modules[-1][0])
            elif word == "region":
                key, first, offset, module = _numbers(word, rest)
                _require(first <= _MOST_NUMBER)
                regions.append((key, first, offset, module))
                slots.append([])
                wants.append([])
            elif word == "want":
                (place,) = _numbers(word, rest)
                _require(place < _MOST_PLACES)
                wants[-1].append(place)
            elif word == "team":
                start, count, step = _numbers(word, rest)
                slots[-1] += [start + step * n for n in range(min(count, 1 << 16))]
            else:
                pages.take(word, _numbers(word, rest))
        except (ValueError, IndexError, KeyError) as error:
            raise InvalidInputError(
                f"{path}, line {number}: {line[:60]!r} belongs in no plan; make it again"
            ) from error
    if not ended:
        raise InvalidInputError(f"{path} is no whole plan: its end is missing; make it again")
    is_whole = all(own or its for own, its in zip(slots, wants, strict=True))
    if not mapping or any(module >= len(modules) for *_, module in regions) or not is_whole:
        raise InvalidInputError(
            f"{path} is no whole plan: it lacks a mapping, a module, or a region's team or wants; make it again"
        )
    planned = (
        PlannedRegion(key, modules[module][0], offset, tuple(own), first, tuple(its))
        for (key, first, offset, module), own, its in zip(regions, slots, wants, strict=True)
    )
    return Plan(fingerprint, machine, mapping, tuple(modules), tuple(planned))


def check_fits(plan: Plan, path: Path, topology: Topology) -> None:
    """Raise InvalidInputError unless a plan is for this machine and for the program's files as they are now."""
    if plan.fingerprint != topology.fingerprint:
        raise InvalidInputError(
            f"{path} is a plan for {plan.machine}, and this computer is another machine ({topology.name}): make it here"
        )
    threads = parse_label(plan.mapping).threads
    for region in plan.regions:
        if region.threads > threads or any(slot >= threads for slot in region.slots):
            raise InvalidInputError(
                f"{path}: a region has a team that the {counted(threads, 'thread')} of {plan.mapping} do not have; "
                "make it again"
            )
    for module, build in plan.modules:
        try:
            now = build_of(module)
        except OSError as error:
            raise InvalidInputError(
                f"{path} is a plan for {module}, which cannot be read ({error.strerror or error}): make it again"
            ) from error
        if now != build:
            raise InvalidInputError(f"{path} is a plan for another build of {module}: make it again")


class _Pages:
    """Checks lines on ranges as the library does that reads them (native/placement/policy/plan.c)."""

    def __init__(self) -> None:
        self._pages = self._next = 0  # of the range, and the page behind its last run in this place
        self._places: list[int] | None = None  # of the range; None before the first
        self._has_runs = False
        self._first: dict[int, int] = {}  # the first place of the ranges that have a place

    def take(self, word: str, values: Sequence[int]) -> None:
        """Take the numbers of a line; raise ValueError for one that cannot be there."""
        if word == "range":
            self._pages, self._next, self._places, self._has_runs = values[-1], 0, [], False
        elif self._places is None:
            raise ValueError(word)
        elif word == "place":
            (number,) = values
            alone = self._has_runs and not self._places
            _require(number < _MOST_PLACES and number not in self._places and not alone)
            self._places.append(number)
            self._next = 0
            _require(self._first.setdefault(number, self._places[0]) == self._places[0])
        else:
            first, count, node = values
            end = first + count
            _require(count > 0 and self._next <= first and end <= min(self._pages, _MOST_NUMBER) and node < _MOST_NODES)
            self._next, self._has_runs = end, True


def _numbers(word: str, texts: Sequence[str]) -> list[int]:
    """Return the numbers of a line; KeyError for a word that begins none, ValueError for what is no such number."""
    found = []
    for base, text in zip(_NUMBERS[word], texts, strict=True):
        _require(text.isalnum() and text.isascii())
        found.append(int(text, base))
    _require(max(found) < 1 << 64)
    return found


def _require(is_so: bool) -> None:
    if not is_so:
        raise ValueError


def _lines_of(path: Path) -> Iterator[str]:
    """Return the lines after the first one."""
    try:
        with open_regular(path) as file:
            first = file.readline(len(FIRST_LINE) + 2)
            found: list[bytes] = []
            while first == FIRST_LINE.encode() + b"\n" and (line := file.readline(_LONGEST_LINE)):
                found.append(line)
                if not line.endswith(b"\n") or len(found) == _MOST_LINES:
                    break
    except OSError as error:
        raise InvalidInputError(
            f"cannot read the plan {path}: {error.strerror or error}; name a file that `numapredict regions --plan` "
            "or `numapredict variables --plan` wrote"
        ) from error
    if first in {b"numaplace-plan 1\n", b"numaplace-plan 2\n"}:
        version = first.split()[1].decode()
        raise InvalidInputError(
            f"{path} is a plan of version {version}, which this version does not read; make it again"
        )
    if first != FIRST_LINE.encode() + b"\n":
        raise InvalidInputError(
            f"{path} is no plan; name a file that `numapredict regions --plan` or `numapredict variables --plan` wrote"
        )
    if found and not found[-1].endswith(b"\n"):
        raise InvalidInputError(f"{path} is no whole plan: its last line is cut; make it again")
    return (line.decode("ascii", errors="replace").rstrip("\n") for line in found)


def _lines(plan: Plan) -> Iterator[str]:
    yield FIRST_LINE
    yield f"machine {plan.fingerprint} {quote(plan.machine)}"
    yield f"mapping {plan.mapping}"
    for path, build in plan.modules:
        yield f"module {build} {quote(os.fsencode(path))}"
    numbers = {path: number for number, (path, _) in enumerate(plan.modules)}
    for region in plan.regions:
        yield f"region {region.key:016x} {region.first_instance} {region.offset:x} {numbers[region.module]}"
        for first, count, step in _rows(region.slots):
            yield f"team {first} {count} {step}"
        yield from (f"want {place}" for place in region.wants)
    for planned in plan.pages.ranges:
        known = planned.range
        yield f"range {known.kind} {known.site:016x} {known.slot} {known.order} {known.pages}"
        for place, runs in planned.places or ((None, planned.runs),):
            if place is not None:
                yield f"place {place}"
            for first, count, node in runs:
                yield f"run {first} {count} {node}"
    yield LAST_LINE


def _rows(slots: tuple[int, ...]) -> Iterator[tuple[int, int, int]]:
    """Return slots as rows of a first one, a number of them and a step upwards."""
    at = 0
    while at < len(slots):
        step = slots[at + 1] - slots[at] if at + 1 < len(slots) else 1
        count = 1
        while step > 0 and at + count < len(slots) and slots[at + count] - slots[at + count - 1] == step:
            count += 1
        yield slots[at], count, max(step, 1)
        at += count
