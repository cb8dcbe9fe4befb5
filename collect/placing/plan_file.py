"""The plan file: for one program under one mapping, the teams of its regions and the nodes of its pages.

The contract is native/placement/policy/plan.h; this is its only writer, and reads what decides whether a plan fits.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote, unquote_to_bytes

from numapredict.collect.host.bounded_file import open_regular
from numapredict.collect.placing.page_plan import PagePlan
from numapredict.collect.source.module_file import build_id_of
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidInputError

FIRST_LINE = "numaplace-plan 2"
_MOST_LINES, _LONGEST_LINE = 1 << 20, 1 << 14
_CHUNK_BYTES = 1 << 20
_NO_PAGES = PagePlan((), 1, None)


@dataclass(frozen=True)
class RegionTeam:
    """The team of a region from instance ``first_instance`` on; the region by its key (native/regions/region_file.h).

    Thread i runs where thread ``slots[i]`` of the plan's mapping does. ``module`` and ``offset`` are the region's
    place.
    """

    key: int
    module: str
    offset: int
    slots: tuple[int, ...]
    first_instance: int = 2

    @property
    def threads(self) -> int:
        """Return how many threads it has."""
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
    teams: tuple[RegionTeam, ...] = ()
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
    """Return a plan without its pages, which the library alone reads; raise InvalidInputError where it is none."""
    lines = _head(path)
    fingerprint = machine = mapping = ""
    modules: list[tuple[str, str]] = []
    regions: list[tuple[int, int, int, int]] = []
    slots: list[list[int]] = []
    for number, line in enumerate(lines, 2):
        word, *rest = line.split(" ")
        try:
            if word == "machine":
                fingerprint, machine = rest[0], unquote(rest[1])
            elif word == "mapping":
                (mapping,) = rest
            elif word == "module":
                modules.append((os.fsdecode(unquote_to_bytes(rest[1])), rest[0]))
            elif word == "region":
                key, first, offset, module = rest
                regions.append((int(key, 16), int(first), int(offset, 16), int(module)))
                slots.append([])
            elif word == "team":
                start, count, step = map(int, rest)
                slots[-1] += [start + step * n for n in range(min(count, 1 << 16))]
            else:
                raise ValueError(word)
        except (ValueError, IndexError) as error:
            raise InvalidInputError(
                f"{path}, line {number}: {line[:60]!r} belongs in no plan; make it again"
            ) from error
    if not mapping or any(module >= len(modules) or module < 0 for *_, module in regions) or not all(slots):
        raise InvalidInputError(f"{path} is no whole plan: it lacks a mapping, a module or a team; make it again")
    teams = (
        RegionTeam(key, modules[module][0], offset, tuple(own), first)
        for (key, first, offset, module), own in zip(regions, slots, strict=True)
    )
    return Plan(fingerprint, machine, mapping, tuple(modules), tuple(teams))


def check_fits(plan: Plan, path: Path, topology: Topology) -> None:
    """Raise InvalidInputError unless a plan is for this machine and for the program's files as they are now."""
    if plan.fingerprint != topology.fingerprint:
        raise InvalidInputError(
            f"{path} is a plan for {plan.machine}, and this computer is another machine ({topology.name}): make it here"
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


def _head(path: Path) -> Iterator[str]:
    """Return the lines between the first one and the first range."""
    try:
        with open_regular(path) as file:
            first = file.readline(len(FIRST_LINE) + 2)
            head: list[bytes] = []
            while first == FIRST_LINE.encode() + b"\n" and (line := file.readline(_LONGEST_LINE)):
                if line.startswith(b"range ") or len(head) == _MOST_LINES:
                    break
                head.append(line)
    except OSError as error:
        raise InvalidInputError(
            f"cannot read the plan {path}: {error.strerror or error}; name a file that `numapredict regions --plan` "
            "or `numapredict variables --plan` wrote"
        ) from error
    if first == b"numaplace-plan 1\n":
        raise InvalidInputError(f"{path} is a plan of version 1, which this version does not read; make it again")
    if first != FIRST_LINE.encode() + b"\n":
        raise InvalidInputError(
            f"{path} is no plan; name a file that `numapredict regions --plan` or `numapredict variables --plan` wrote"
        )
    return (line.decode("ascii", errors="replace").rstrip("\n") for line in head)


def _lines(plan: Plan) -> Iterator[str]:
    yield FIRST_LINE
    yield f"machine {plan.fingerprint} {quote(plan.machine)}"
    yield f"mapping {plan.mapping}"
    for path, build in plan.modules:
        yield f"module {build} {quote(os.fsencode(path))}"
    numbers = {path: number for number, (path, _) in enumerate(plan.modules)}
    for team in plan.teams:
        yield f"region {team.key:016x} {team.first_instance} {team.offset:x} {numbers[team.module]}"
        for first, count, step in _rows(team.slots):
            yield f"team {first} {count} {step}"
    for planned in plan.pages.ranges:
        known = planned.range
        yield f"range {known.kind} {known.site:016x} {known.slot} {known.order} {known.pages}"
        for first, count, node in planned.runs:
            yield f"run {first} {count} {node}"


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
