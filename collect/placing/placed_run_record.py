"""The record of a placed run: where threads and pages were, and how long its regions took."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from numapredict.collect.placement import Placement
from numapredict.collect.placing.placed_pages import (
    NOWHERE,
    PlacedPool,
    PlacedRange,
    PlacedThread,
    PlacementMap,
    RangeTally,
    pages_once,
    tally,
)
from numapredict.collect.placing.plan_file import Plan, PlannedRegion
from numapredict.collect.placing.region_times import RegionTimes
from numapredict.collect.placing.start import Way
from numapredict.collect.rank_share import os_page_nodes_of
from numapredict.collect.source.modules import Modules


class ThreadTally(msgspec.Struct, frozen=True):
    """The mapping's threads that were checked, in each process; ``right`` of them were on their PU each time.

    Threads of the program that share a place of the mapping count as one. The others are listed in ``astray``;
    ``slots`` are the mapping's threads that the program used; they were of so many ``processes``.
    """

    looked_at: int
    right: int
    slots: int
    processes: int
    misplaced: tuple[PlacedThread, ...] = msgspec.field(name="astray")


class PageTally(msgspec.Struct, frozen=True):
    """The pages that were checked, ``right`` of them where the mapping puts them.

    The others are listed in ``astray``, by range. A page is right on the node that the library had decided on; for
    ``undecided`` pages it had decided on none, and any of ``allowed`` is right. ``nodes`` has the number of pages on
    each node. Nodes are OS indices.
    """

    looked_at: int
    right: int
    undecided: int
    allowed: tuple[int, ...]
    nodes: dict[int, int]
    misplaced: tuple[RangeTally, ...] = msgspec.field(name="astray")


class TeamTally(msgspec.Struct, frozen=True):
    """What became of the team of ``threads`` that a plan gives a region, by the region's place or module and offset.

    Of ``instances`` that should have had it, ``applied`` had it; of ``looked_at`` shares of a thread in them,
    ``right`` were on the thread's PU alone.
    """

    region: str
    threads: int
    instances: int
    applied: int
    looked_at: int
    right: int


class MoveTally(msgspec.Struct, frozen=True):
    """What was moved for a region of a plan, by the region's place or module and offset.

    Before ``times`` instances an array was not where the region wants it; in all, ``pages`` were moved there.
    """

    region: str
    times: int
    pages: int


class RankTally(msgspec.Struct, frozen=True):
    """One rank of a parallel job on this computer: its threads by PU, and its pages, as in the tallies of all."""

    rank: int
    pus: tuple[int, ...]
    threads: ThreadTally
    pages: PageTally


class ForkedTally(msgspec.Struct, frozen=True):
    """A forked child with parallel regions, by process numbers: its threads and pages, as in the tallies of all.

    Nothing of it was checked where it was ``unplaced``, where a signal ended it, or where it had not ended with the
    run.
    """

    process: int
    forked_from: int
    unplaced: bool
    threads: ThreadTally
    pages: PageTally


class ObservedPlacement(msgspec.Struct, frozen=True):
    """The placement of the threads and pages of a run's programs and of their forked children, by the kernel.

    ``late``: an OpenMP runtime was loaded while a program ran, and memory from before its first region is missing.
    ``left``: ranges of memory that were left to the kernel. ``unplaced``: processes that found the mapping's PUs taken
    by others; ``free``: how often a team of another process, or a thread that it started itself, did, and was left
    unbound; ``brief``: threads that began where their creator ran, as those before them had ended at once.
    ``unasked``: ranges that were freed and not looked at, which would have slowed the program. ``unseen``: pages by
    kind of memory that is neither placed nor checked. ``teams``: those of the plan's regions; ``moves``: what was moved
    for them. ``ranks``: the ranks of a parallel job that share the mapping. ``pools``: threads that processes started
    themselves. ``forked``: the forked children that had parallel regions; of their pages, those that each shares with
    no other process.
    """

    threads: ThreadTally
    pages: PageTally
    late: bool
    left: int
    unplaced: int
    free: int
    brief: int
    unasked: int
    unseen: dict[str, int]
    teams: tuple[TeamTally, ...] = ()
    ranks: tuple[RankTally, ...] = ()
    forked: tuple[ForkedTally, ...] = ()
    moves: tuple[MoveTally, ...] = ()
    pools: tuple[PlacedPool, ...] = ()


class PlacedRun(msgspec.Struct, frozen=True):
    """A run under a mapping, as `--json` writes it to a file.

    ``exit_code`` is a shell's, 128 and more for the ``signal`` that ended the program. ``placed_by`` is ``library``, or
    ``numactl`` where OMP_* and numactl did what they can. ``time_s`` is the wall time from the start of the program to
    its end, the library's part included. ``placement`` is None, and ``processes`` is empty, where the library was not
    used or wrote nothing; ``processes`` are the programs and forked children that had parallel regions, with the time
    of each region. ``notes`` are the lines logged about the run.
    """

    command: tuple[str, ...]
    mapping: str
    machine: str
    placed_by: Way
    time_s: float
    exit_code: int
    signal: str | None
    placement: ObservedPlacement | None
    processes: tuple[RegionTimes, ...]
    notes: tuple[str, ...]


def observed_placement(found: PlacementMap, placement: Placement, plan: Plan | None = None) -> ObservedPlacement:
    """Return the observed placement of threads and pages, by a map, compared with the intended one."""
    allowed = frozenset(placement.os_page_nodes)
    ranks = {
        one.process: frozenset(os_page_nodes_of(placement, one.number, one.count))
        for one in found.ranks
        if one.number < one.count
    }
    modules = Modules()
    return ObservedPlacement(
        threads=_threads(found),
        pages=_pages(found.ranges, allowed, ranks),
        late=found.late,
        left=found.left,
        unplaced=found.unplaced,
        free=found.free,
        brief=found.brief,
        unasked=found.unasked,
        unseen=dict(found.unseen),
        teams=() if plan is None else tuple(_teams(found, plan, modules)),
        ranks=tuple(_ranks(found, placement)),
        forked=tuple(_forked(found, allowed, ranks)),
        moves=() if plan is None else tuple(_moves(found, plan, modules)),
        pools=found.pools,
    )


def _threads(found: PlacementMap) -> ThreadTally:
    rank_of = {rank.process: rank.number for rank in found.ranks}
    misplaced = tuple(thread for thread in found.threads if thread.wrong)
    return ThreadTally(
        looked_at=len(found.threads),
        right=len(found.threads) - len(misplaced),
        slots=len({(rank_of.get(thread.process), thread.slot) for thread in found.threads}),
        processes=len({thread.process for thread in found.threads}),
        misplaced=misplaced,
    )


def _pages(
    ranges: tuple[PlacedRange, ...], allowed: frozenset[int], of_process: Mapping[int, frozenset[int]]
) -> PageTally:
    ranges = pages_once(ranges)
    tallies = tally(ranges, allowed, of_process)
    runs = [run for placed in ranges for run in placed.runs if run.node != NOWHERE]
    nodes: Counter[int] = Counter()
    for run in runs:
        nodes[run.node] += run.count
    return PageTally(
        looked_at=sum(tallied.pages for tallied in tallies),
        right=sum(tallied.right for tallied in tallies),
        undecided=sum(run.count for run in runs if run.wanted == NOWHERE),
        allowed=tuple(sorted(allowed)),
        nodes=dict(sorted(nodes.items())),
        misplaced=tuple(tallied for tallied in tallies if tallied.right < tallied.pages),
    )


def _ranks(found: PlacementMap, placement: Placement) -> Iterator[RankTally]:
    for number, count in sorted({(rank.number, rank.count) for rank in found.ranks if rank.number < rank.count}):
        own = found.of_rank(number)
        allowed = frozenset(os_page_nodes_of(placement, number, count))
        pus = tuple(dict.fromkeys(thread.pu for thread in own.threads))
        yield RankTally(number, pus, _threads(own), _pages(own.ranges, allowed, {}))


def _forked(
    found: PlacementMap, allowed: frozenset[int], of_process: Mapping[int, frozenset[int]]
) -> Iterator[ForkedTally]:
    for child in found.forked:
        own, nodes = found.of({child.process}), of_process.get(child.process, allowed)
        pages = _pages(own.ranges, nodes, {})
        yield ForkedTally(child.process, child.parent, child.unplaced, _threads(own), pages)


def _teams(found: PlacementMap, plan: Plan, modules: Modules) -> Iterator[TeamTally]:
    """Return what became of each team of a plan, in all processes; those of regions that never came are all zero."""
    for region in plan.regions:
        if region.threads:
            seen = [one for one in found.teams if one.key == region.key]
            yield TeamTally(
                region=_name(region, modules),
                threads=region.threads,
                instances=sum(one.instances for one in seen),
                applied=sum(one.applied for one in seen),
                looked_at=sum(one.right + one.wrong for one in seen),
                right=sum(one.right for one in seen),
            )


def _moves(found: PlacementMap, plan: Plan, modules: Modules) -> Iterator[MoveTally]:
    """Return what was moved for each region of a plan that wants arrays which move, in all processes."""
    for region in plan.regions:
        if region.wants:
            seen = [one for one in found.moves if one.key == region.key]
            yield MoveTally(_name(region, modules), sum(one.times for one in seen), sum(one.pages for one in seen))


def _name(region: PlannedRegion, modules: Modules) -> str:
    place = modules.place(region.module, region.offset)
    return place.whole_text if place.frame.known else f"{Path(region.module).name}+{region.offset:#x}"
