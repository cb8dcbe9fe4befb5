"""Choose the mappings under which a region is replayed: the search of whole runs, with the region for the program.

The baseline is replayed before and after every other mapping, since what it takes changes while the program's threads
wait: a gain is over the two replays around it. Where a mapping is clearly worse than the baseline before, there is none
after it.

A plan for the whole program may move pages alone: then each region is replayed with its own threads and pages placed by
its own touches, as it would have them if it were alone, and spread. Pure.
"""

import itertools
import math
from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass

from numapredict.collect.capturing.exchange import AskedRegion, Outcome
from numapredict.collect.capturing.gain import CONFIRMING, cannot_be, is_like, needs_none_after
from numapredict.collect.capturing.replay_time import emptied_share, time_of
from numapredict.collect.mapping import Mapping
from numapredict.collect.page_policy import PagePolicy
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.topology import Topology
from numapredict.predictor.searching.next_run import next_run
from numapredict.predictor.searching.prior import Prior

CANDIDATES = 5
"""Mappings besides the baseline, at most, under which a region is replayed."""

LEAST_GAIN = 0.005
"""In log2: mappings that are expected to add less are not replayed, and smaller gains not confirmed."""


OF_PAGES: tuple[PagePolicy, ...] = ("locality", "interleave")
"""What pages alone are tried under: where the region's own touches come from, and spread over the nodes."""


@dataclass(frozen=True)
class Tries:
    """What is tried for a region: so many ``candidates``, then mappings that gained in ``others``, by their labels.

    With ``pages_alone`` also the baseline's threads with other pages, and the best of these is confirmed, too. A
    ``further`` class of the region's instances has the others alone, those of the first class, the best first, and
    confirms the best. No more is tried once there has been ``enough``, but the best is confirmed.
    """

    candidates: int = CANDIDATES
    others: tuple[str, ...] = ()
    pages_alone: bool = False
    further: bool = False
    enough: Callable[[], bool] = lambda: False


def replayed(
    asked: AskedRegion, prior: Prior, baseline: int, topology: Topology, tries: Tries = Tries()
) -> Generator[Placement, Outcome, bool]:
    """Yield the placements of one region's replays, and be sent what came of each; return whether to try another.

    Mappings that gained in other regions come after the candidates, for the whole program may want one mapping. Then
    the one with the largest gain is replayed again in CONFIRMING rounds, and so the next one if it does not gain in all
    of them. Ends at once where the baseline cannot be replayed, or takes another time than the instances do that this
    one stands for: then another one is to be tried.
    """
    known = prior.over(baseline)
    placements = [resolve(mapping, topology) for mapping in prior.mappings]
    before = yield placements[baseline]
    emptied = emptied_share([before], asked.mean_s)
    if cannot_be(before) or not is_like(time_of(before, emptied), asked.mean_s):
        return True
    columns, gains, closed, lowest = [baseline], [0.0], _closed(asked, prior, baseline), dict[int, float]()
    better = tuple(itertools.takewhile(lambda label: label != prior.mappings[baseline].label, tries.others))

    def round_of(column: int) -> Generator[Placement, Outcome, float]:
        """Replay a mapping and the baseline, and return the gain in log2."""
        nonlocal before
        other = yield placements[column]
        after = before if needs_none_after(before, other) else (yield placements[baseline])
        around_s, before = math.sqrt(time_of(before, emptied) * time_of(after, emptied)), after
        return math.log2(around_s / time_of(other, emptied))

    def tried(column: int) -> Generator[Placement, Outcome, None]:
        gain = yield from round_of(column)
        if math.isnan(gain):
            closed.add(column)
        else:
            columns.append(column)
            gains.append(gain)

    def confirmed(competing: Collection[int]) -> Generator[Placement, Outcome, None]:
        """Replay mappings again, the best first, until one of these has gained in each round."""
        ranked = sorted(((gain, column) for gain, column in zip(gains, columns, strict=True)), reverse=True)
        if tries.further:
            best = [column for label in better for column in columns if prior.mappings[column].label == label]
            ranked = [(math.inf, column) for column in best if column in competing][:1]
        for gain, column in ranked:
            if gain < LEAST_GAIN or cannot_be(before):
                break
            if column not in competing:
                continue
            if column not in lowest:
                lowest[column] = gain
                for _ in range(CONFIRMING):
                    lowest[column] = min(lowest[column], (yield from round_of(column)))
            if lowest[column] > 0:
                break

    for number in range(0 if tries.further else tries.candidates):
        following = next_run(known, columns, gains, closed=closed)
        if (
            cannot_be(before)
            or (number and tries.enough())
            or following is None
            or following.expected_gain < LEAST_GAIN
        ):
            break
        yield from tried(following.column)
    own_team = [column for column, each in enumerate(placements) if each.pus == placements[baseline].pus]
    of_pages = [n for n in own_team if tries.pages_alone and not tries.further and _is_of_pages(prior.mappings[n])]
    wanted = {*of_pages, *(n for n, mapping in enumerate(prior.mappings) if mapping.label in tries.others)}
    for column in sorted(wanted - closed - set(columns)):
        if not cannot_be(before) and not (len(columns) > 1 and tries.enough()):
            yield from tried(column)
    yield from confirmed(range(len(placements)))
    if tries.pages_alone:
        yield from confirmed(own_team)
    return False


def _is_of_pages(mapping: Mapping) -> bool:
    return mapping.page_policy in OF_PAGES and mapping.page_nodes == mapping.thread_nodes


def _closed(asked: AskedRegion, prior: Prior, baseline: int) -> set[int]:
    """Return the columns that do not compete: of other numbers of threads, where the region sets its own."""
    if asked.team in {0, prior.mappings[baseline].threads}:  # 0: it is its first instance, and nobody knows yet
        return set()
    return {column for column, mapping in enumerate(prior.mappings) if mapping.threads != asked.team}
