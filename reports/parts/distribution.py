"""How the speedups of a dataset's programs are distributed."""

import msgspec
import numpy as np

from numapredict.predictor.features import Observations, gains_of

BINS_PER_DOUBLING = 2
SHOWN_FAVOURITES = 8


class SpeedupBin(msgspec.Struct, frozen=True, kw_only=True):
    """Programs with a speedup of at least ``low`` and below ``high``: by their own best mapping, and by one for all."""

    low: float
    high: float
    best: int
    fixed: int


class Favourite(msgspec.Struct, frozen=True):
    """A mapping and of how many programs it is the fastest."""

    label: str
    programs: int


class DistributionData(msgspec.Struct, frozen=True, kw_only=True):
    """How the speedups over the default are distributed, and which mappings are the fastest of most programs.

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
    # A gain of exactly none, which is frequent, must not fall below a bin's edge by rounding.
    low, high = np.floor(np.array([gains[:, fixed].min(), best.max()]) * BINS_PER_DOUBLING + 1e-9)
    edges = np.arange(low, high + 2) / BINS_PER_DOUBLING
    counts = [np.histogram(np.floor(values * BINS_PER_DOUBLING + 1e-9) / BINS_PER_DOUBLING, edges)[0]
              for values in (best, gains[:, fixed])]  # fmt: skip
    labels, wins = np.unique(gains.argmax(axis=1), return_counts=True)
    first = np.argsort(-wins, kind="stable")[:SHOWN_FAVOURITES]
    return DistributionData(
        bins=tuple(
            SpeedupBin(low=float(2**a), high=float(2**b), best=int(own), fixed=int(one))
            for a, b, own, one in zip(edges[:-1], edges[1:], *counts, strict=True)
        ),
        fixed=observations.labels[fixed],
        fixed_speedup=float(2 ** gains[:, fixed].mean()),
        best_speedup=float(2 ** best.mean()),
        favourites=tuple(Favourite(observations.labels[labels[at]], int(wins[at])) for at in first),
        mappings=len(labels),
    )
