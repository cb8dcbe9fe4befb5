"""What simpler choices give, to compare predictions with."""

import msgspec
import numpy as np

from numapredict.collect import space
from numapredict.collect.topology import Topology
from numapredict.predictor.clustering import Array
from numapredict.predictor.features import Observations, gains_of
from numapredict.predictor.scores import Summary, summarise_speedups


class Baseline(msgspec.Struct, frozen=True):
    """One way of choosing; ``speedups`` over the default are in the programs' order.

    ``mappings`` counts the mappings chosen among.
    """

    name: str
    mappings: int
    speedups: tuple[float, ...]
    summary: Summary


def baselines_of(observations: Observations, default: int, topology: Topology | None) -> tuple[Baseline, ...]:
    """Return the baselines of all programs.

    ``default`` keeps the default mapping; ``fixed`` takes the mapping with the best geometric mean over the programs
    of the other groups; ``random`` is what a blind choice gives on geometric average; ``oracle`` is every program's
    best. A named subset's oracle is the best that a method limited to that part of the space could do, were it never
    wrong (thesis sec. 7, fig. 30); subsets of which nothing was measured are left out.
    """
    gains = gains_of(observations.time_s, default)
    every = list(range(gains.shape[1]))
    found = [
        _baseline("default", 1, gains, gains[:, default]),
        _baseline("random", len(every), gains, gains.mean(axis=1)),
        _baseline("fixed", len(every), gains, _best_fixed(gains, observations.groups)),
    ]
    for name in space.SUBSETS if topology is not None else ():
        labels = {mapping.label for mapping in space.subset(name, topology)} if topology else set()
        columns = [column for column in every if observations.labels[column] in labels]
        if name != "full" and columns:
            found.append(_baseline(f"{name} oracle", len(columns), gains, gains[:, columns].max(axis=1)))
    return (*found, _baseline("oracle", len(every), gains, gains.max(axis=1)))


def _best_fixed(gains: Array, groups: tuple[str, ...]) -> Array:
    """Return each program's gain from the mapping that is best on average for the other groups."""
    names = np.array(groups)
    chosen = np.empty(len(names))
    for name in np.unique(names):
        others = gains[names != name] if (names != name).any() else gains
        chosen[names == name] = gains[names == name, int(others.mean(axis=0).argmax())]
    return chosen


def _baseline(name: str, mappings: int, gains: Array, chosen: Array) -> Baseline:
    """Return the baseline of the chosen log2 gains."""
    speedups = tuple(map(float, 2**chosen))
    return Baseline(name, mappings, speedups, summarise_speedups(speedups, tuple(map(float, 2 ** gains.max(axis=1)))))
