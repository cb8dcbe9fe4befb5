"""Which arrays each region of a program uses, and where it wants them, by the samples of a page-access profile."""

from collections.abc import Mapping, Sequence

import numpy as np

from numapredict.collect.placement import Placement
from numapredict.collect.placing.page_plan import key_of
from numapredict.collect.placing.profile_file import BLOCKS, Profile
from numapredict.collect.placing.symbols import load_address
from numapredict.predictor.regions.application_plan import Uses
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.touch_groups import NodeTouches, groups_of
from numapredict.predictor.variables.grouping import Found

LEAST_SHARE = 0.05
"""Of a region's touches: an array with fewer does not decide where the region's data should be."""

_FEW_TOUCHES = 30
"""With fewer samples of a region, it is taken to use all arrays."""


def placeable(found: Sequence[Found], profile: Profile) -> tuple[Found, ...]:
    """Return the variables whose pages can be placed by themselves: they have ranges of their own."""
    whole = {key_of(known) for known in profile.ranges if known.kind != BLOCKS}  # they share pages of the heap
    return tuple(
        one
        for one in found
        if one.ranges and one.kind != "small allocations" and whole.issuperset(map(key_of, one.ranges))
    )


def numbers_in(profile: Profile, regions: Sequence[ReplayedRegion]) -> dict[int, int]:
    """Return the profile's number of each region that it knows, by its place in ``regions``."""
    numbers = {(place.module, place.offset): number for number, place in enumerate(profile.regions, 1)}
    places = ((region.module, load_address(region.module) + region.offset) for region in regions)
    return {at: numbers[place] for at, place in enumerate(places) if place in numbers}


def uses_of(
    arrays: Sequence[Found],
    found: Sequence[Found],
    profile: Profile,
    numbers: Mapping[int, int],
    placement: Placement,
) -> Uses:
    """Return which of the arrays each region uses; all that is ``found`` besides is one more, number 0.

    ``numbers`` are the profile's of the regions, and ``placement`` says on which nodes its threads were.
    """
    names = tuple(one.name or "memory without a name" for one in arrays)
    every = [*arrays, *(one for one in found if all(one is not other for other in arrays))]
    of = {}
    for at, number in numbers.items():
        weights = np.array([float(one.touches.weight[one.touches.region == number].sum()) for one in every])
        seen = sum(int(one.touches.count[one.touches.region == number].sum()) for one in every)
        if seen < _FEW_TOUCHES or weights.sum() <= 0:
            continue
        shares = weights / weights.sum()
        used = {n + 1 for n in range(len(arrays)) if shares[n] >= LEAST_SHARE}
        of[at] = frozenset(used | ({0} if shares[len(arrays) :].sum() >= LEAST_SHARE else set()))
    touches = {
        at: {array: _touches(arrays[array - 1], numbers[at], profile.slots, placement) for array in used - {0}}
        for at, used in of.items()
    }
    pages = tuple(sum(known.pages for known in one.ranges) for one in arrays)
    return Uses(names, pages, of, groups_of(touches))


def _touches(array: Found, number: int, slots: int, placement: Placement) -> NodeTouches:
    """Return the touches of an array in a region; a slot of the profile stands for the placement's thread there."""
    touches = array.touches
    rows = np.flatnonzero(touches.region == number)
    rows = rows[np.argsort(touches.page[rows], kind="stable")]
    homes = np.array(placement.homes, dtype=np.int64)
    nodes = homes[touches.slot[rows] * len(homes) // slots]
    return NodeTouches(touches.page[rows], nodes, touches.count[rows], touches.weight[rows])
