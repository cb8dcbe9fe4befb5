"""The table of mappings that a running program may have, and the file in which the library says what it did.

The contracts are native/placement/adapt/table.h and adapting.h; this is the only writer of the one and reader of the
other.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec

from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.placement import Placement
from numapredict.collect.placing.preload import number_list
from numapredict.native.errors import InvalidInputError

MOST_COLUMNS = 32
"""The baseline's included; native/placement/adapt/next_trial.h."""

MOST_TEAMS, MOST_TEAM_REGIONS = 16, 32
"""The mapping's own included; native/placement/adapt/team_trials.h."""

Outcome = Literal["kept", "no gain", "cut short", "gone back", "interrupted"]
_OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)  # by number - 1, decision.h
_UNIT = 4096  # of a gain in log2
_MOST_GAIN = 131_072
_MOST_BYTES = 1 << 20


class Trial(msgspec.Struct, frozen=True):
    """What became of a mapping that was tried, by its column in the table, or of teams of regions under it.

    ``gain`` in log2 over that of column ``before``, or of the mapping's own teams; at most this where it was cut short.
    ``cost_s``: how much longer the program took for it, with the moves of pages; below 0 where it was faster at once.
    ``at_s`` since the start. Where both ran in turn, ``turns`` pairs gave the gain, 0 else.
    """

    column: int
    before: int
    outcome: Outcome
    gain: float
    cost_s: float
    at_s: float
    steps: int
    turns: int
    teams: bool


class RegionTeam(msgspec.Struct, frozen=True):
    """The team that a region has, by its number in the table, 0 for the mapping's own; ``key``: lower 32 bits."""

    key: int
    team: int


class AdaptResult(msgspec.Struct, frozen=True, kw_only=True):
    """What the library did: trials in their order, and at the end the column, its gain over where it began in log2.

    ``regions``: instances of regions in a step of the program, and ``step_s`` its time before the first trial, both 0
    where no steps were found. ``teams``: of each region that has tried any. ``given_up``: why nothing was tried, or
    nothing more. ``end``: whether the program ended normally; without it the last four figures are 0, and ``column`` is
    that of the last trial that was kept.
    """

    trials: tuple[Trial, ...] = ()
    regions: int = 0
    step_s: float = 0.0
    teams: tuple[RegionTeam, ...] = ()
    given_up: str = ""
    end: bool = False
    column: int = 0
    gain: float = 0.0
    time_s: float = 0.0
    spent_s: float = 0.0
    saved_s: float = 0.0
    pages: int = 0


class AdaptTable(msgspec.Struct, frozen=True, kw_only=True):
    """What the library is to know.

    ``columns``: the mappings but the baseline, which is column 0, and the number of each one's placement of pages, 0
    where the program left them; ``known``: each known program's weight and its gains.
    ``teams``: placements of smaller teams that regions may have, in the order in which they are tried, and what known
    programs gained from each in log2; ``regions``: those that begin with one.
    ``start`` is the column to begin with, ``closed`` those never to be tried. ``crowded_only``: nothing is tried but to
    spread pages that are all on one node.
    """

    share: float
    quiet_s: float
    columns: tuple[tuple[Placement, int], ...]
    known: tuple[tuple[float, tuple[float, ...]], ...]
    teams: tuple[tuple[Placement, float], ...] = ()
    regions: tuple[RegionTeam, ...] = ()
    start: int = 0
    closed: tuple[int, ...] = ()
    crowded_only: bool = False


def write_table(table: AdaptTable, base: Placement, path: Path) -> None:
    """Write the table for a program on all PUs of ``base``."""
    path.write_text("\n".join(_lines(table, base)) + "\n")


def _lines(table: AdaptTable, base: Placement) -> Iterator[str]:
    slot = {pu: number for number, pu in enumerate(base.pus)}
    yield "numaplace-adapt 2"
    yield f"share {round(table.share * 1e6)}"
    yield f"quiet {round(table.quiet_s * 1e9)}"
    yield f"start {table.start}"
    for column in table.closed:
        yield f"close {column}"
    if table.crowded_only:
        yield "crowded 1"
    for placement, place in table.columns:
        policy, nodes = placement.mapping.page_policy, placement.os_page_nodes
        words = [number_list([slot[pu] for pu in placement.pus])]
        words.append(number_list(sorted(nodes) if policy == "interleave" else nodes))
        if policy == "dataset":
            words.append(number_list(placement.os_indices(placement.chunks)))
        yield f"column {policy} {place} {' '.join(words)}"
    for placement, gain in table.teams:
        yield f"team {max(0, _counted(gain))} {number_list([slot[pu] for pu in placement.pus])}"
    for region in table.regions:
        yield f"region {region.key} {region.team}"
    for weight, gains in table.known:
        yield f"known {round(weight * 1e9)} {' '.join(map(str, map(_counted, gains)))}"


def _counted(gain: float) -> int:
    return max(-_MOST_GAIN, min(_MOST_GAIN, round(gain * _UNIT)))


def result_path(table: Path) -> Path:
    """Return where the library writes what it did by the table at a path."""
    return table.with_name(f"{table.name}.result")


def read_result(path: Path) -> AdaptResult:
    """Return what the library did; nothing, where it wrote nothing. InvalidInputError for anything malformed."""
    try:
        lines = os.fsdecode(read_bounded(path, _MOST_BYTES)).splitlines()
        return _result(lines)
    except FileNotFoundError:
        return AdaptResult(given_up="no parallel region began in it")
    except (OSError, ValueError, IndexError) as error:
        raise InvalidInputError(f"{path}: {' '.join(str(error).split())[:200]}: not what the library writes") from error


def _result(lines: Sequence[str]) -> AdaptResult:
    found, teams = AdaptResult(), dict[int, RegionTeam]()
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "given-up":
            found = msgspec.structs.replace(found, given_up=rest)
            continue
        numbers = [int(each) for each in rest.split()]
        if word == "steps" and not found.regions:
            found = msgspec.structs.replace(found, regions=numbers[0], step_s=numbers[1] / 1e9)
        elif word == "tried":
            trial = _trial(numbers)
            column = trial.before if trial.outcome == "gone back" else trial.column
            moved = trial.outcome in ("kept", "gone back")
            found = msgspec.structs.replace(
                found, trials=(*found.trials, trial), column=column if moved else found.column
            )
        elif word == "region":
            teams[numbers[0]] = RegionTeam(*numbers)
        elif word == "end":
            column, gain, time_ns, spent_ns, saved_ns, pages = numbers
            found = msgspec.structs.replace(
                found,
                end=True,
                column=column,
                gain=gain / _UNIT,
                time_s=time_ns / 1e9,
                spent_s=spent_ns / 1e9,
                saved_s=saved_ns / 1e9,
                pages=pages,
            )
    return msgspec.structs.replace(found, teams=tuple(teams.values()))


def _trial(numbers: Sequence[int]) -> Trial:
    column, before, outcome, gain, cost_ns, at_ns, steps, turns, teams = numbers
    if not 0 < outcome <= len(_OUTCOMES):
        raise ValueError(f"outcome {outcome} is unknown")
    return Trial(
        *(column, before, _OUTCOMES[outcome - 1], gain / _UNIT, cost_ns / 1e9, at_ns / 1e9),
        *(steps, turns, teams != 0),
    )
