"""The touches of a program's allocations as its trace has them, in the quantity that a profile's samples estimate.

A profile protects a page at any time and waits for its next touch: of touches g apart, a wait is shorter than t in a
share E[min(g, t)] / E[g] of the watches. As in predictor/variables/visits.py the rate of an allocation's pages is a
half over the time within which half of the waits end: the rate of touches that come evenly, and a burst counts as one.
A touch's thread is that of the next touch. Time is in instructions here, and a touch is a miss of the private cache,
as a trace has no others: of data that stays there, shares are not comparable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from numapredict.collect.modelled import trace as t


@dataclass(frozen=True)
class Exact:
    """An allocation's share of the program's misses and of its touches as a profile counts them, and the remote part.

    Pages lie on the node of the thread that touched them first in the trace.
    """

    misses: float
    touches: float
    remote_misses: float
    remote_touches: float


def exact_touches(trace: t.Trace, steps: Sequence[int], node_of: Sequence[int]) -> Mapping[int, Exact]:
    """Return the shares of each allocation by its number of pages; ``steps`` are the regions of a step, by key.

    Their last whole instances, one after the other, stand for the program, as they come again and again.
    """
    if trace.sample_shift:
        raise ValueError("the trace left lines out: give it more records")
    page, thread, time, length = _step(trace, steps)
    order = np.argsort(trace.pages["page"])
    known = trace.pages[order]
    at = np.minimum(np.searchsorted(known["page"], page), len(known) - 1)
    size = np.where(known["page"][at] == page, known["pages"][at], 0).astype(np.int64)
    nodes = np.array(node_of)
    remote = nodes[known["contiguous"][at]] != nodes[thread]
    gap = _gaps(page, time, length)
    weight = _weights(page, gap, length)
    sizes = np.unique(size[size > 0]).tolist()
    visited = {one: visits(gap[size == one], len(np.unique(page[size == one])), length) for one in sizes}
    found = {}
    for one in sizes:
        mine = size == one
        found[one] = Exact(
            misses=float(mine.sum() / (size > 0).sum()),
            touches=visited[one] / sum(visited.values()),
            remote_misses=float(remote[mine].mean()),
            remote_touches=float(weight[mine & remote].sum() / weight[mine].sum()),
        )
    return found


def _step(trace: t.Trace, steps: Sequence[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return the misses of a step: page, thread and time of each, and how long the step takes."""
    segments = trace.segments
    starts = np.concatenate(([0], np.cumsum(segments["records"].astype(np.int64))))
    whole = (segments["flags"] & (t.MUTED | t.CUT_OFF | t.UNRECORDED)) == 0
    parts, begin = [], 0.0
    for key in steps:
        mine = whole & (segments["region"] == key)
        last = mine & (segments["instance"] == segments["instance"][mine].max())
        spent: dict[int, float] = {}
        for number in np.flatnonzero(last):
            segment, records = segments[number], trace.records[starts[number] : starts[number + 1]]
            kept = records[(records["word"] & np.uint64(t.WRITEBACK)) == 0]
            slot = int(segment["contiguous"])
            passed = spent.get(slot, 0.0)
            page = (kept["word"] >> np.uint64(8)) >> np.uint64(t.PAGE_SHIFT - t.LINE_SHIFT)
            parts.append((page, np.full(len(kept), slot), begin + passed + kept["at"].astype(np.float64)))
            spent[slot] = passed + float(segment["instructions"])
        begin += max(spent.values())
    page, thread, time = (np.concatenate(column) for column in zip(*parts, strict=True))
    return page, thread, time, begin


def _gaps(page: np.ndarray, time: np.ndarray, length: float) -> np.ndarray:
    """Return how long before each touch its page was touched last, in this step or at the end of the one before."""
    order = np.lexsort((time, page))
    pages, times = page[order], time[order]
    before = np.roll(times, 1)
    begins = np.concatenate(([True], pages[1:] != pages[:-1]))
    ends = np.concatenate((np.flatnonzero(begins)[1:], [len(pages)])) - 1
    before[begins] = times[ends] - length
    gap = np.empty(len(page))
    gap[order] = np.maximum(times - before, 1e-9)
    return gap


def visits(gap: np.ndarray, pages: int, length: float) -> float:
    """Return the visits of so many pages in a unit of time, of gaps that add up to ``length`` for each page.

    The time t within which half of the waits end has gaps of which min(gap, t) add up to half of all time.
    """
    gap = np.sort(gap)
    shorter = np.concatenate(([0.0], np.cumsum(gap)))[:-1]
    ended = shorter + gap * (len(gap) - np.arange(len(gap)))  # by the time of each gap
    half = pages * length / 2
    at = int(np.searchsorted(ended, half))
    return pages / 2 / ((half - shorter[at]) / (len(gap) - at))


def _weights(page: np.ndarray, gap: np.ndarray, length: float) -> np.ndarray:
    """Return what each touch counts within its allocation: the chance to be awaited, by its page's mean wait."""
    number = np.unique(page, return_inverse=True)[1]
    wait = np.bincount(number, gap * gap) / 2 / length
    return np.asarray(gap / length / wait[number])
