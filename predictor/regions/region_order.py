"""How often one region comes after another one, as it was counted, or at most where it was not. Pure."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from numapredict.collect.capturing.order import Succession

_Float = npt.NDArray[np.float64]

OTHER = -1
"""The number of all regions that have none."""

Order = Sequence[Succession] | None
"""Of regions by number; None where it is not known."""


def follows(order: Order, counts: Sequence[int], among: Collection[int]) -> _Float:
    """Return how often region s comes with r as the latest before it, float64[R, R], for regions that ran so often.

    Only of those regions ``among`` all, whatever comes between them. Where the ``order`` is not known, at most so
    often.
    """
    numbers = sorted(among)
    found = np.zeros((len(counts), len(counts)))
    if order is None:
        found[np.ix_(numbers, numbers)] = follow_counts([counts[number] for number in numbers])
        return found
    for one in order:
        before = next((other for other in one.others if other in among), one.region)
        if one.region in among and before != one.region:
            found[before, one.region] += one.count
    return found


def renumbered(order: Order, numbers: Mapping[int, int], others: int) -> Order:
    """Return the order with other numbers for regions; those that have none are all number ``others``."""
    if order is None:
        return None
    return tuple(
        Succession(
            numbers.get(one.region, others), tuple(numbers.get(other, others) for other in one.others), one.count
        )
        for one in order
    )


def follow_counts(counts: Sequence[int]) -> _Float:
    """Return how often region s comes right after region r, at most, float64[R, R], for regions that ran so often.

    How often regions come does not say in which order: each instance of a region is taken to follow another region, as
    in the steps of a time loop, unless there are fewer instances of all others.
    """
    each = np.asarray(counts, dtype=np.float64)
    others = each.sum() - each
    arrivals = np.minimum(each, others)
    share = np.divide(each[:, None], others[None, :], out=np.zeros((len(each), len(each))), where=others[None, :] > 0)
    np.fill_diagonal(share, 0)
    found: _Float = share * arrivals[None, :]
    return found
