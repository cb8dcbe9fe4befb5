"""How the speedups of a dataset's programs are distributed."""

import msgspec
import numpy as np

from numapredict.predictor.learning.features import Array, Observations, gains_of

BINS_PER_DOUBLING = 2
SHOWN_FAVOURITES = 8


class SpeedupBin(msgspec.Struct, frozen=True, kw_only=True):
    """Programs with a speedup of at least ``low`` and below ``high``, by their own best mapping and by a common one."""

    low: float
    high: float
    best: int
    fixed: int


class Favourite(msgspec.Struct, frozen=True):
    """A mapping and the number of programs for which it is the fastest."""

    label: str
    programs: int


class DistributionData(msgspec.Struct, frozen=True, kw_only=True):
    """How the speedups over the default are distributed, and which mappings are the fastest for most programs.

    ``fixed`` is the one mapping with the greatest geometric mean speedup, ``fixed_speedup``; ``best_speedup`` is that
    of every program's own best mapping.
    """

    bins: tuple[SpeedupBin, ...]
    fixed: str
    fixed_speedup: float
    best_speedup: float
    favourites: tuple[Favourite, ...]
    mappings: int


def distribution_data(observations: Observations, default: int) -> DistributionData:
    """Return the distribution in bins of half a doubling."""
    gains = gains_of(observations.time_s, default)
    fixed = int(gains.mean(axis=0).argmax())
    best = gains.max(axis=1)
    steps = [_steps(values) for values in (best, gains[:, fixed])]
    places = range(min(map(min, steps)), max(map(max, steps)) + 1)
    labels, wins = np.unique(gains.argmax(axis=1), return_counts=True)
    first = np.argsort(-wins, kind="stable")[:SHOWN_FAVOURITES]
    return DistributionData(
        bins=tuple(
            SpeedupBin(
                low=2 ** (place / BINS_PER_DOUBLING),
                high=2 ** ((place + 1) / BINS_PER_DOUBLING),
                best=steps[0].count(place),
                fixed=steps[1].count(place),
            )
            for place in places
        ),
        fixed=observations.mappings[fixed].label,
        fixed_speedup=float(2 ** gains[:, fixed].mean()),
        best_speedup=float(2 ** best.mean()),
        favourites=tuple(Favourite(observations.mappings[labels[at]].label, int(wins[at])) for at in first),
        mappings=len(labels),
    )


def _steps(gains: Array) -> list[int]:
    """Return the bin of each gain in log2; a gain of exactly 0, which is frequent, must not fall below its edge."""
    return [int(step) for step in np.floor(gains * BINS_PER_DOUBLING + 1e-9)]
