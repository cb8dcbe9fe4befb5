"""What each region of a program gains from each mapping: the data of a heat map, regions by mappings."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec
import numpy as np

from numapredict.collect.capturing.gain import Gain
from numapredict.collect.mapping import order_of, parse_label
from numapredict.collect.measuring.quiet import busy_in_words
from numapredict.collect.source.region_names import region_names
from numapredict.collect.terminal.printable import ELLIPSIS, command_line
from numapredict.predictor.regions.one_mapping import OneMapping
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.reports.drawable import drawable
from numapredict.reports.program_order import colour_limit
from numapredict.reports.source import Origin, source_line

MOST_ROWS, MOST_COLUMNS = 40, 20
"""Regions and mappings that a heat map has room for: those with most time, and those replayed in most of it."""

_INNERMOST = re.compile(r"<[^<>]*>|\([^()]*\)")
"""Arguments of a template, or parameters, that hold no others."""

State = Literal["baseline", "confirmed", "once", "not always", "no gain", "failed", "own team", "not tried"]
"""What is known of a region under a mapping: `confirmed` gained in each of at least three rounds, `once` in each of
fewer, `not always` in the median alone; the last three have no figure."""

WHY: dict[State, str] = {
    "own team": "the region sets its own number of threads",
    "not tried": "not replayed: the search expected less of it than of others, or the time was used up",
}

LEFT_OUT = frozenset({"failed", "own team"})
"""States of cells that have a reason in place of a figure."""


class GainCell(msgspec.Struct, frozen=True, kw_only=True):
    """A region under a mapping: the speedup over the baseline, the lowest of all rounds, and a replay's time.

    All three are None where there is none, as ``why`` says.
    """

    state: State
    speedup: float | None = None
    lowest: float | None = None
    time_s: float | None = None
    rounds: int = 0
    why: str = ""


class GainRow(msgspec.Struct, frozen=True, kw_only=True):
    """A replayed region with a cell per mapping; ``best`` is the column of its best mapping that is confirmed.

    ``share`` is of the time of all regions, ``replay_ratio`` a replay's time over an instance's in the run, ``unlike``
    whether that is far from 1.
    """

    name: str
    share: float
    instances: int
    team: int
    replay_ratio: float | None
    unlike: bool
    best: int
    cells: tuple[GainCell, ...]


class NotReplayed(msgspec.Struct, frozen=True, kw_only=True):
    """The regions that were not replayed for one reason, with most time first, and their share of the time."""

    reason: str
    share: float
    regions: tuple[str, ...]


class RegionGainsData(msgspec.Struct, frozen=True, kw_only=True):
    """All regions, by share of the time, and mappings, the baseline first.

    ``whole`` has the cells of one mapping for the whole program, ``best`` its column. ``bound`` is the speedup of all
    regions, each under its own best mapping, without any changes between them. ``busy`` says why no gain can be told,
    if others disturbed the run.
    """

    title: str
    mappings: tuple[str, ...]
    rows: tuple[GainRow, ...]
    whole: tuple[GainCell, ...]
    best: int
    bound: float
    not_replayed: tuple[NotReplayed, ...]
    source: str
    busy: str = ""


def region_gains_data(answer: ReplayedRegions) -> RegionGainsData:
    """Return the regions of an answer that is consistent."""
    regions, names = sorted(answer.regions, key=lambda region: -region.share), region_names(answer.regions)
    replayed = [region for region in regions if region.best is not None]
    mappings = _mappings(answer)
    one = {each.mapping: each for each in answer.one_mapping}
    best = answer.whole_program
    return RegionGainsData(
        title=f"Regions of {drawable(command_line(answer.command))} under other mappings (measured)",
        mappings=mappings,
        rows=tuple(_row(region, names(region), mappings, answer.baseline) for region in replayed),
        whole=tuple(_whole_cell(label, one, replayed, answer.baseline) for label in mappings) if replayed else (),
        best=0 if best is None else mappings.index(best.mapping),
        bound=answer.speedup,
        not_replayed=tuple(_left_out([region for region in regions if region.best is None], names)),
        source=source_line([Origin(machine=answer.machine, modelled=False, default=answer.baseline)]),
        busy=busy_in_words(answer.disturbed),
    )


def shown_part(data: RegionGainsData) -> RegionGainsData:
    """Return what a heat map has room for; what is left out is told among the regions that were not replayed."""
    rows, rest = data.rows[:MOST_ROWS], data.rows[MOST_ROWS:]
    framed = {0, data.best, *(row.best for row in rows)}

    def weight(column: int) -> float:
        return sum(row.share for row in data.rows if row.cells[column].speedup is not None)

    others = sorted(set(range(len(data.mappings))) - framed, key=lambda column: -weight(column))
    chosen = sorted({*framed, *others[: max(0, MOST_COLUMNS - len(framed))]})

    def of(cells: tuple[GainCell, ...]) -> tuple[GainCell, ...]:
        return tuple(cells[column] for column in chosen) if cells else ()

    kept = tuple(msgspec.structs.replace(row, cells=of(row.cells), best=chosen.index(row.best)) for row in rows)
    left = data.not_replayed
    if rest:
        names = tuple(row.name for row in rest)
        left = (*left, NotReplayed(reason="no room in this figure", share=sum(r.share for r in rest), regions=names))
    return msgspec.structs.replace(
        data,
        mappings=tuple(data.mappings[column] for column in chosen),
        rows=kept,
        whole=of(data.whole),
        best=chosen.index(data.best),
        not_replayed=left,
    )


def limit_of(data: RegionGainsData) -> float:
    """Return where the colours of speedups end, in log2."""
    cells = [cell for row in (*(row.cells for row in data.rows), data.whole) for cell in row]
    return colour_limit(np.log2([cell.speedup for cell in cells if cell.speedup is not None]))


def short_name(name: str, most: int) -> str:
    """Return a region's name with at most ``most`` letters: the function shortened at its end, the line whole."""
    seen = drawable(name, None)
    function, comma, line = seen.rpartition(", ")
    if len(seen) <= most or not function:
        return drawable(name, most)
    function = _bare(function)
    room = most - len(comma) - len(line)
    if room < 4:
        return drawable(name, most)
    return f"{function if len(function) <= room else function[: room - 1] + ELLIPSIS}{comma}{line}"


def _bare(function: str) -> str:
    """Return a C++ function without its parameters, its result and the arguments of templates."""
    bare, before = function.removesuffix(" const"), ""
    while bare != before:
        bare, before = _INNERMOST.sub("", bare), bare
    return bare.rpartition(" ")[2] or function


def _mappings(answer: ReplayedRegions) -> tuple[str, ...]:
    """Return the labels of all mappings that any region was to be replayed under, the baseline first."""
    found = {gain.mapping for region in answer.regions for gain in region.gains}
    found |= {one.mapping for one in answer.one_mapping}
    others = sorted(found - {answer.baseline}, key=lambda label: order_of(parse_label(label)))
    return (answer.baseline, *others)


def _row(region: ReplayedRegion, name: str, mappings: Sequence[str], baseline: str) -> GainRow:
    gains = {gain.mapping: gain for gain in region.gains}
    best = region.best
    assert best is not None  # noqa: S101 # the caller looked
    return GainRow(
        name=name,
        share=region.share,
        instances=region.count,
        team=region.team,
        replay_ratio=region.replay_ratio,
        unlike=region.is_unlike,
        best=mappings.index(best.mapping),
        cells=tuple(_cell(region, label, gains.get(label), baseline) for label in mappings),
    )


def _cell(region: ReplayedRegion, label: str, gain: Gain | None, baseline: str) -> GainCell:
    if gain is None:
        threads = parse_label(label).threads
        own = region.team != parse_label(baseline).threads and threads != region.team
        state: State = "own team" if own else "not tried"
        return GainCell(state=state, why=WHY[state])
    if gain.speedup is None or gain.lowest is None:
        return GainCell(state="failed", why=gain.problem or "it could not be replayed")
    state = "baseline" if label == baseline else _state(gain.speedup, gain.lowest, sure=gain.is_sure)
    return GainCell(state=state, speedup=gain.speedup, lowest=gain.lowest, time_s=gain.time_s, rounds=gain.rounds)


def _state(speedup: float, lowest: float, *, sure: bool) -> State:
    if speedup <= 1:
        return "no gain"
    return "confirmed" if sure else "once" if lowest > 1 else "not always"


def _whole_cell(label: str, one: dict[str, OneMapping], replayed: Sequence[ReplayedRegion], baseline: str) -> GainCell:
    """Return the cell of one mapping for all regions: it is as sure as its least sure region."""
    if label == baseline:
        return GainCell(state="baseline", speedup=1.0, lowest=1.0)
    found = one.get(label)
    if found is None:
        return GainCell(state="not tried", why="not replayed in every region")
    gains = [gain for region in replayed for gain in region.gains if gain.mapping == label]
    sure = found.lowest > 1 and all(gain.is_sure or (gain.speedup or 0) <= 1 for gain in gains)
    return GainCell(
        state=_state(found.speedup, found.lowest, sure=sure),
        speedup=found.speedup,
        lowest=found.lowest,
        rounds=min((gain.rounds for gain in gains), default=0),
    )


def _left_out(regions: Sequence[ReplayedRegion], names: Callable[[ReplayedRegion], str]) -> Iterator[NotReplayed]:
    """Yield the reasons why regions have no figure, those of most time first."""
    why: Callable[[ReplayedRegion], str] = lambda region: (  # noqa: E731
        region.problem or next((gain.problem for gain in region.gains if gain.problem), "") or "no reason is known"
    )
    groups: dict[str, list[ReplayedRegion]] = {}
    for region in regions:
        groups.setdefault(why(region), []).append(region)
    found = [
        NotReplayed(reason=reason, share=sum(one.share for one in group), regions=tuple(map(names, group)))
        for reason, group in groups.items()
    ]
    yield from sorted(found, key=lambda each: -each.share)


def letters_of(data: RegionGainsData) -> dict[str, str]:
    """Return a letter for each reason why a cell has no number, in the order of the cells."""
    found = dict.fromkeys(cell.why for row in data.rows for cell in row.cells if cell.state in LEFT_OUT)
    return {why: _numeral(number) for number, why in enumerate(found)}


def _numeral(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ..."""
    return (_numeral(number // 26 - 1) if number >= 26 else "") + chr(ord("a") + number % 26)
