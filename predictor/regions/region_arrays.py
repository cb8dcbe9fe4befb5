"""Which arrays each region of a program uses, by the samples of a page-access profile."""

from collections.abc import Sequence

import numpy as np

from numapredict.collect.placing.profile_file import Profile
from numapredict.collect.placing.symbols import load_address
from numapredict.predictor.regions.application_plan import Uses
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.variables.grouping import Found

LEAST_SHARE = 0.05
"""Of a region's touches: an array with fewer does not decide where the region's data should be."""

_FEW_TOUCHES = 30
"""With fewer samples of a region, it is taken to use all arrays."""


def placeable(found: Sequence[Found], profile: Profile) -> tuple[Found, ...]:
    """Return the variables whose pages can be placed by themselves: they have ranges of their own."""
    whole = {_key(known) for known in profile.ranges}
    return tuple(
        one
        for one in found
        if one.ranges and one.kind != "small allocations" and whole.issuperset(map(_key, one.ranges))
    )


def uses_of(
    arrays: Sequence[Found], found: Sequence[Found], profile: Profile, regions: Sequence[ReplayedRegion]
) -> Uses:
    """Return which of the arrays each region uses; all that is ``found`` besides is one more, number 0."""
    names = tuple(one.name or "memory without a name" for one in arrays)
    numbers = {(place.module, place.offset): number for number, place in enumerate(profile.regions, 1)}
    every = [*arrays, *(one for one in found if all(one is not other for other in arrays))]
    of = {}
    for at, region in enumerate(regions):
        number = numbers.get((region.module, load_address(region.module) + region.offset), 0)
        weights = np.array([float(one.touches.weight[one.touches.region == number].sum()) for one in every])
        seen = sum(int(one.touches.count[one.touches.region == number].sum()) for one in every)
        if not number or seen < _FEW_TOUCHES or weights.sum() <= 0:
            continue
        shares = weights / weights.sum()
        used = {n + 1 for n in range(len(arrays)) if shares[n] >= LEAST_SHARE}
        of[at] = frozenset(used | ({0} if shares[len(arrays) :].sum() >= LEAST_SHARE else set()))
    return Uses(names, tuple(sum(known.pages for known in one.ranges) for one in arrays), of)


def _key(known: object) -> tuple[object, ...]:
    """Return what a plan knows a range by."""
    return tuple(getattr(known, name) for name in ("kind", "site", "slot", "order", "pages"))
