"""A page plan: where the pages of a profiled program's ranges go under a mapping.

The profile samples some pages; a page without samples is treated as the nearest sampled one of its range. Ranges
without samples are left out: their pages follow the mapping's policy without a profile.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from numapredict.collect.page_placement import PageAccesses, Weights, place_pages
from numapredict.collect.placement import Placement
from numapredict.collect.placing.owned_pages import owned_pages
from numapredict.collect.placing.profile_file import BLOCKS, Profile, ProfiledRange

# A boundary between two nodes costs a kernel mapping (VMA), of which a process may have 65530 (vm.max_map_count).
MOST_RUNS = 1 << 14
_MOST_BLOCKS = 1 << 20
_MOST_CELLS = 1 << 25  # blocks times threads: 256 MiB
_Samples = npt.NDArray[np.void]


Runs = tuple[tuple[int, int, int], ...]
"""First page, number of pages and the node's OS index, in page order."""


@dataclass(frozen=True)
class PlannedRange:
    """Where one range's pages go.

    One that moves has several ``places``, by numbers that only the ranges of one array have; it starts in the first,
    that of ``runs``.
    """

    range: ProfiledRange
    runs: Runs
    places: tuple[tuple[int, Runs], ...] = ()


@dataclass(frozen=True)
class PagePlan:
    """The ranges that are planned; all the profile's others are left out.

    ``block_pages`` is how many consecutive pages were placed together: more than one where the runs would be too many.
    """

    ranges: tuple[PlannedRange, ...]
    block_pages: int
    rescaled_from: int | None


def plan_of(profile: Profile, placement: Placement, only: Sequence[ProfiledRange] | None = None) -> PagePlan:
    """Return where the pages go, of all ranges of the profile or ``only`` of these.

    With S slots in the profile and T threads in the mapping, slot i stands for thread i * T // S. The pages of a group
    of blocks are those of the heap's ranges that it owns.
    """
    threads = placement.mapping.threads
    ranges = _sampled_ranges(profile.ranges if only is None else only, profile.slots, threads)
    pages = sum(found.pages for found, _ in ranges)
    block_pages = 1
    most_blocks = min(_MOST_BLOCKS, _MOST_CELLS // threads)
    while len(ranges) + pages // block_pages > most_blocks and block_pages < pages:
        block_pages *= 2
    largest = max((found.pages for found, _ in ranges), default=1)
    while True:
        planned = _in_the_heap(_planned(ranges, profile, placement, block_pages), profile)
        if block_pages >= largest or sum(len(p.runs) for p in planned) <= MOST_RUNS:
            break
        block_pages *= 2
    return PagePlan(planned, block_pages, profile.slots if profile.slots != threads else None)


def of_regions(
    profile: Profile, ranges: Sequence[ProfiledRange], regions: Collection[int]
) -> tuple[Profile, tuple[ProfiledRange, ...]]:
    """Return a profile and ranges of it with the samples of these regions alone, by their numbers.

    A range that has none of them keeps all of its samples.
    """
    parts, found, at = [], [], 0
    for each in ranges:
        own = profile.samples[each.first : each.first + each.count]
        kept = own[np.isin(own["region"], list(regions))]
        parts.append(kept if len(kept) else own)
        found.append(replace(each, first=at, count=len(parts[-1])))
        at += len(parts[-1])
    samples = np.concatenate(parts) if parts else profile.samples[:0]
    return replace(profile, samples=samples, ranges=tuple(found)), tuple(found)


def joined(plans: Sequence[PagePlan]) -> PagePlan:
    """Return the plan of all ranges that the plans have; of one that is in two, each has other pages."""
    found: dict[tuple[int, ...], PlannedRange] = {}
    for each in (each for plan in plans for each in plan.ranges):
        had = found.get(key_of(each.range))
        found[key_of(each.range)] = each if had is None else replace(had, runs=tuple(sorted(had.runs + each.runs)))
    return PagePlan(
        tuple(found.values()),
        max((plan.block_pages for plan in plans), default=1),
        next((plan.rescaled_from for plan in plans if plan.rescaled_from is not None), None),
    )


def moving(places: Sequence[tuple[int, PagePlan]]) -> PagePlan:
    """Return the plan of ranges that move between ``places``, each a number and the plan of the same ranges there."""
    of_each = zip(*(plan.ranges for _, plan in places), strict=True)
    numbers = [number for number, _ in places]
    ranges = (
        replace(each[0], places=tuple((number, one.runs) for number, one in zip(numbers, each, strict=True)))
        for each in of_each
    )
    return replace(joined([plan for _, plan in places]), ranges=tuple(ranges))


def key_of(known: ProfiledRange) -> tuple[int, ...]:
    """Return what a plan knows a range by."""
    return known.kind, known.site, known.slot, known.order, known.pages


def pages_of(plan: PagePlan) -> int:
    """Return how many pages a plan places."""
    return sum(count for each in plan.ranges for _, count, _ in each.runs)


def _in_the_heap(planned: Sequence[PlannedRange], profile: Profile) -> tuple[PlannedRange, ...]:
    """Return the plan with the pages of groups of blocks in the ranges of the heap that have them."""
    kept = {key_of(one.range): one for one in planned if one.range.kind != BLOCKS}
    groups = {key_of(one.range): one for one in planned if one.range.kind == BLOCKS}
    nodes: dict[int, npt.NDArray[np.int64]] = {}
    for known in (known for known in profile.ranges if known.kind == BLOCKS):
        owned, group = owned_pages(known), groups.get(key_of(known))
        of_page = _nodes(group or PlannedRange(known, ()))  # what is left out goes with no other
        for number in np.unique(owned.range).tolist():
            heap, mine = profile.ranges[number], owned.range == number
            if group is None and key_of(heap) not in kept:
                continue
            if number not in nodes:
                nodes[number] = _nodes(kept.get(key_of(heap)) or PlannedRange(heap, ()))
            nodes[number][owned.page[mine]] = of_page[owned.at[mine]]
    for number, of_page in nodes.items():
        heap = profile.ranges[number]
        runs = tuple(run for run in _runs(of_page, heap.pages, 1) if run[2] >= 0)
        kept[key_of(heap)] = PlannedRange(heap, runs)
    return tuple(kept.values())


def _nodes(planned: PlannedRange) -> npt.NDArray[np.int64]:
    """Return the node's OS index of each page of a range, -1 where the plan has none."""
    nodes = np.full(planned.range.pages, -1, dtype=np.int64)
    for first, count, node in planned.runs:
        nodes[first : first + count] = node
    return nodes


def _sampled_ranges(
    ranges: Sequence[ProfiledRange], slots: int, threads: int
) -> list[tuple[ProfiledRange, ProfiledRange]]:
    """Return the ranges with samples, each with its name in a run of ``threads`` threads, none of them twice."""
    found: dict[tuple[int, int, int, int], tuple[ProfiledRange, ProfiledRange]] = {}
    for known in ranges:
        if known.count:
            slot = _thread_of(known.slot, slots, threads)
            name = (known.kind, known.site, slot, known.order)
            found.setdefault(name, (known, replace(known, slot=slot)))
    return list(found.values())


def _planned(
    ranges: list[tuple[ProfiledRange, ProfiledRange]],
    profile: Profile,
    placement: Placement,
    block_pages: int,
) -> tuple[PlannedRange, ...]:
    """Place the ranges in blocks of pages and return their runs."""
    threads = placement.mapping.threads
    blocks = [-(-known.pages // block_pages) for known, _ in ranges]
    first = np.concatenate(([0], np.cumsum(blocks))).astype(np.int64)
    accesses = np.zeros((int(first[-1]), threads))
    toucher = np.zeros(len(accesses), dtype=np.int32)
    for (known, _), start, end in zip(ranges, first[:-1], first[1:], strict=True):
        samples = profile.samples[known.first : known.first + known.count]
        accesses[start:end] = _block_accesses(samples, known.pages, profile.slots, threads, block_pages)
        toucher[start:end] = _touchers(known, int(end - start), block_pages) * threads // profile.slots
    address, size = np.arange(len(accesses)), np.repeat(np.array(blocks, dtype=np.int64), blocks)
    place = address - np.repeat(first[:-1], blocks)
    placed = place_pages(placement, PageAccesses(address, accesses, toucher, place, size))
    os_index = np.array([node.os_index for node in placement.topology.nodes], dtype=np.int64)
    return tuple(
        PlannedRange(renamed, _runs(os_index[placed[start:end]], known.pages, block_pages))
        for (known, renamed), start, end in zip(ranges, first[:-1], first[1:], strict=True)
    )


def _block_accesses(samples: _Samples, pages: int, slots: int, threads: int, block_pages: int) -> Weights:
    """Return each block's accesses a second by thread, float64[B, T], filled in from the nearest sampled block."""
    block = samples["page"].astype(np.int64) // block_pages
    sampled, row = np.unique(block, return_inverse=True)
    thread = samples["slot"].astype(np.int64) * threads // slots
    rates = np.zeros((len(sampled), threads))
    np.add.at(rates, (row, thread), samples["rate"])
    # A block's accesses are estimated from its sampled pages: their mean times the number of pages.
    in_block = np.bincount(row[np.diff(samples["page"].astype(np.int64), prepend=-1) != 0], minlength=len(sampled))
    rates /= in_block[:, None]
    size = np.full(-(-pages // block_pages), float(block_pages))
    size[-1] = pages - (len(size) - 1) * block_pages
    turn = (sampled[1:] + sampled[:-1]) // 2 + 1  # from here on the next one is nearer; at equal distance not yet
    nearest = np.searchsorted(turn, np.arange(len(size)), side="right")
    filled: Weights = rates[nearest] * size[:, None]
    return filled


def _touchers(known: ProfiledRange, blocks: int, block_pages: int) -> npt.NDArray[np.int64]:
    """Return the slot that touched each block's first page first; where that is not known, as the part before it."""
    parts = known.firsts[known.firsts["slot"] >= 0]
    if not len(parts):
        return np.zeros(blocks, dtype=np.int64)
    at = np.searchsorted(parts["page"], np.arange(blocks) * block_pages, side="right") - 1
    found: npt.NDArray[np.int64] = parts["slot"].astype(np.int64)[np.maximum(at, 0)]
    return found


def _runs(nodes: npt.NDArray[np.int64], pages: int, block_pages: int) -> Runs:
    starts = np.flatnonzero(np.diff(nodes, prepend=nodes[0] - 1))
    ends = np.minimum(np.append(starts[1:], len(nodes)) * block_pages, pages)
    begins = starts * block_pages
    return tuple(zip(begins.tolist(), (ends - begins).tolist(), nodes[starts].tolist(), strict=True))


def _thread_of(slot: int, slots: int, threads: int) -> int:
    return min(slot, slots - 1) * threads // slots
