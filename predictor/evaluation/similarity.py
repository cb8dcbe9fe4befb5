"""Which programs the model can hardly distinguish: how far two groups' reactions to mappings lie from each other.

Of two programs that react alike under every mapping, at the same local bandwidth, one can be left out of the training.
"""

from itertools import combinations

import msgspec
import numpy as np

from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning.features import Array, Observations, normalise_by_default
from numapredict.predictor.learning.probes import bandwidth_floor


class LikePair(msgspec.Struct, frozen=True):
    """Two groups of programs, and the factors by which they differ, for the variant in which they differ most.

    ``time`` is the typical factor between their times over the default's, ``time_at_most`` the largest under any
    mapping, ``bandwidth`` the typical factor between their local bandwidths; it is None without counters.
    ``best`` is whether the same mapping is best for both.
    """

    first: str
    second: str
    variant: str
    time: float
    time_at_most: float
    bandwidth: float | None
    best: bool

    @property
    def apart(self) -> float:
        """Return both typical factors together, in log2: pairs are ordered by it."""
        return float(np.hypot(np.log2(self.time), np.log2(self.bandwidth or 1.0)))


def like_pairs(observations: Observations, default: int) -> tuple[LikePair, ...]:
    """Return all pairs of groups, the most alike first; ``default`` is the column that times are divided by.

    Groups are compared variant by variant (size and initialisation, which follow the group in a program's
    name), and pairs without a common variant are left out. Raises InsufficientDataError where there is no pair.
    """
    rows: dict[str, dict[str, int]] = {}
    for row, (name, group) in enumerate(zip(observations.names, observations.groups, strict=True)):
        rows.setdefault(group, {})[name.removeprefix(group).lstrip(".")] = row
    time = np.log2(normalise_by_default(observations.time_s, default))
    bandwidth = None
    if (local := observations.local_bandwidth_GBps) is not None:
        bandwidth = np.log2(np.maximum(local, bandwidth_floor(local)))
    pairs = []
    for first, second in combinations(rows, 2):
        shared = [variant for variant in rows[first] if variant in rows[second]]
        found = [
            _pair((first, second, variant), time, bandwidth, (rows[first][variant], rows[second][variant]))
            for variant in shared
        ]
        if found:
            pairs.append(max(found, key=lambda pair: pair.apart))
    if not pairs:
        raise InsufficientDataError("no two groups of programs with a common variant: collect more programs")
    return tuple(sorted(pairs, key=lambda pair: pair.apart))


def _pair(names: tuple[str, str, str], time: Array, bandwidth: Array | None, rows: tuple[int, int]) -> LikePair:
    one, other = rows
    difference = time[one] - time[other]
    return LikePair(
        *names,
        time=_typical(difference),
        time_at_most=float(2 ** np.abs(difference).max()),
        bandwidth=None if bandwidth is None else _typical(bandwidth[one] - bandwidth[other]),
        best=bool(time[one].argmin() == time[other].argmin()),
    )


def _typical(difference: Array) -> float:
    """Return 2 to the root mean square of a row of log2 differences."""
    return float(2 ** np.sqrt(np.mean(difference**2)))
