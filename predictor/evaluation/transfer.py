"""How good searches are on a machine by what programs gained on another one of the same shape."""

from collections.abc import Sequence

import msgspec
import numpy as np

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.topology import Topology
from numapredict.predictor.evaluation.search_curve import ANSWERED, searched
from numapredict.predictor.learning.features import Observations, gains_of, observe
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.scores import Score, score_of
from numapredict.predictor.learning.train import default_of
from numapredict.predictor.searching.known_gains import KnownGains, known_gains

LEAST_COMMON = 3
"""The default and two more mappings: with fewer there is no choice."""


class Transfer(Score, frozen=True, kw_only=True):
    """The score of searches of 4 runs on ``machine`` that know what programs gained on ``trained_on`` alone.

    A program that both machines ran is held out of that with its group.
    """

    trained_on: str
    machine: str
    mappings: int


def evaluate_transfer(datasets: Sequence[Dataset], options: Sequence[TrainingOptions]) -> tuple[Transfer, ...]:
    """Return the score of every ordered pair of datasets whose machines have the same shape."""
    found = []
    for number, taught in enumerate(datasets):
        for other, asked in enumerate(datasets):
            if number != other and same_shape(taught.topology, asked.topology):
                across = _transfer(taught, asked, default_of(asked, options[other]))
                found += [across] if across is not None else []
    return tuple(found)


def same_shape(one: Topology | None, other: Topology | None) -> bool:
    """Return whether two machines have equally many nodes with equally many cores each, so that mappings mean the same.

    False if a topology is unknown.
    """
    if one is None or other is None:
        return False
    return [len(node.cores) for node in one.nodes] == [len(node.cores) for node in other.nodes]


def _transfer(taught: Dataset, asked: Dataset, default: AnyMapping) -> Transfer | None:
    known, new = observe(taught, default), observe(asked, default)
    common = [mapping for mapping in known.mappings if mapping in new.mappings]
    if default not in common or len(common) < LEAST_COMMON:
        return None
    if known.clock != new.clock:  # times of the whole run on one, of the parallel regions on the other
        return None
    known, new = _under(known, common), _under(new, common)
    column, taught_gains = new.column(default), gains_of(known.time_s, known.column(default))
    gains, groups = gains_of(new.time_s, column), np.array(known.groups)

    def knows(group: str) -> KnownGains:
        # A program may be in groups of different names on the two machines: all that share one with it are left out.
        names = {name for name, of in zip(new.names, new.groups, strict=True) if of == group}
        out = {group, *(of for of, name in zip(known.groups, known.names, strict=True) if name in names)}
        kept = ~np.isin(groups, list(out))
        return known_gains(taught_gains[kept], groups[kept].tolist())

    chosen = searched(new, column, knows).gain[:, ANSWERED - 1]
    score = score_of(chosen, gains.max(axis=1), new.groups)
    return Transfer(
        **msgspec.structs.asdict(score), trained_on=taught.machine, machine=asked.machine, mappings=len(common)
    )


def _under(observations: Observations, mappings: Sequence[AnyMapping]) -> Observations:
    return observations.columns(map(observations.column, mappings))
