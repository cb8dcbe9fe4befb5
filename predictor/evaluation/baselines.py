"""What simpler choices give, to compare answers with. Gains are log2 of speedups over the default."""

import numpy as np

from numapredict.collect import space
from numapredict.collect.mapping import Mapping
from numapredict.collect.topology import Topology
from numapredict.predictor.evaluation.strategy import Strategy, subset_oracle
from numapredict.predictor.learning.clustering import Array
from numapredict.predictor.learning.features import Observations, gains_of


def baselines_of(observations: Observations, default: int, topology: Topology | None) -> dict[str, Array]:
    """Return each baseline's log2 gains, float64[programs], by name.

    ``default`` keeps the default mapping; ``interleave`` and ``scatter first-touch`` are what people set today on all
    cores; ``fixed`` takes the mapping with the best geometric mean over the programs of the other groups; ``random`` is
    the geometric mean of a random choice; ``oracle`` is every program's best. A named subset's oracle is the best
    that a method limited to that part of the space could reach (thesis sec. 7, fig. 30); unmeasured ones are left out.
    """
    gains = gains_of(observations.time_s, default)
    found: dict[str, Array] = {Strategy.DEFAULT: gains[:, default], Strategy.RANDOM: gains.mean(axis=1)}
    for name, mapping in customary(topology).items() if topology is not None else ():
        if mapping in observations.mappings:
            found[name] = gains[:, observations.column(mapping)]
    found[Strategy.FIXED] = _best_fixed(gains, observations.groups)
    for name in space.SUBSETS if topology is not None else ():
        inside = set(space.subset(name, topology)) if topology else set()
        columns = [column for column, mapping in enumerate(observations.mappings) if mapping in inside]
        if name != "full" and columns:
            found[subset_oracle(name)] = gains[:, columns].max(axis=1)
    return {**found, Strategy.ORACLE: gains.max(axis=1)}


def customary(topology: Topology) -> dict[str, Mapping]:
    """Return what is commonly set on all cores: interleaved pages, or scattered threads."""
    nodes = len(topology.cpu_nodes)
    wanted = {
        Strategy.INTERLEAVE: Mapping(topology.core_count, nodes, "contiguous", nodes, "interleave"),
        Strategy.SCATTER: Mapping(topology.core_count, nodes, "scatter", nodes, "first-touch"),
    }
    return {name: space.canonical(mapping, topology) for name, mapping in wanted.items()}


def _best_fixed(gains: Array, groups: tuple[str, ...]) -> Array:
    """Return each program's gain from the mapping that is best on average for the other groups."""
    names = np.array(groups)
    chosen = np.empty(len(names))
    for name in np.unique(names):
        others = gains[names != name] if (names != name).any() else gains
        chosen[names == name] = gains[names == name, int(others.mean(axis=0).argmax())]
    return chosen
