"""One mapping for all regions of a run: what a whole program gains that can change neither threads nor pages between.

ICS'19 (sec. 4.6) compares its choice by region with the best such mapping. Pure.
"""

from collections.abc import Callable, Sequence

import msgspec

from numapredict.collect.capturing.gain import Gain
from numapredict.predictor.regions.replayed_region import ReplayedRegion


class OneMapping(msgspec.Struct, frozen=True):
    """A mapping that was replayed in every region that could be, by its label.

    ``speedup`` is that of the time of all regions by the replays, ``lowest`` the one by the least gain of each region's
    rounds. Regions that were not replayed count as they are.
    """

    mapping: str
    speedup: float
    lowest: float


def one_mappings(regions: Sequence[ReplayedRegion]) -> tuple[OneMapping, ...]:
    """Return the mappings other than the baseline that were replayed in every region that could be, the best first."""
    replayed = [
        (region.time_s, {gain.mapping: gain for gain in region.gains[1:] if gain.speedup is not None})
        for region in regions
        if region.best is not None
    ]
    if not replayed:
        return ()
    whole_s = sum(region.time_s for region in regions)
    rest_s = whole_s - sum(time_s for time_s, _ in replayed)

    def speedup(mapping: str, of: Callable[[Gain], float | None]) -> float:
        left_s = rest_s + sum(time_s / (of(gains[mapping]) or 1.0) for time_s, gains in replayed)
        return whole_s / left_s if left_s > 0 else 1.0

    common = set.intersection(*(set(gains) for _, gains in replayed))
    found = [
        OneMapping(mapping, speedup(mapping, lambda gain: gain.speedup), speedup(mapping, lambda gain: gain.lowest))
        for mapping in sorted(common)
    ]
    return tuple(sorted(found, key=lambda one: -one.speedup))
