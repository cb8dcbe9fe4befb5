"""How good a model is on another machine of the same shape: trained on one, evaluated on programs of the other."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.terminal.progress import follow
from numapredict.collect.topology import Topology
from numapredict.predictor.evaluation.folds import dataset_frame, predict_row
from numapredict.predictor.learning.features import Observations, gains_of, observe
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.scores import Score, score_of
from numapredict.predictor.learning.train import default_of, train_on

LEAST_COMMON = 3
"""The default and two more mappings: with fewer there is no choice."""


class Transfer(Score, frozen=True, kw_only=True):
    """The score of a model of ``trained_on`` for the programs of ``machine``.

    A program that both machines ran is held out of the training with its group.
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
                across = _transfer(taught, asked, options[number], default_of(asked, options[other]))
                found += [across] if across is not None else []
    return tuple(found)


def same_shape(one: Topology | None, other: Topology | None) -> bool:
    """Return whether two machines have equally many nodes with equally many cores each, so that mappings mean the same.

    False if a topology is unknown.
    """
    if one is None or other is None:
        return False
    return [len(node.cores) for node in one.nodes] == [len(node.cores) for node in other.nodes]


def _transfer(taught: Dataset, asked: Dataset, options: TrainingOptions, default: AnyMapping) -> Transfer | None:
    known, new = observe(taught, default), observe(asked, default)
    common = [mapping for mapping in known.mappings if mapping in new.mappings]
    if default not in common or len(common) < LEAST_COMMON:
        return None
    if known.clock != new.clock:  # times of the whole run on one, of the parallel regions on the other
        return None
    known, new = _under(known, common), _under(new, common)
    if known.local_bandwidth_GBps is None or new.local_bandwidth_GBps is None:
        known, new = (replace(each, local_bandwidth_GBps=None) for each in (known, new))
    options = msgspec.structs.replace(options, default=default)
    column = new.column(default)
    gains = gains_of(new.time_s, column)
    chosen = np.empty(len(gains), dtype=np.int64)
    groups = dict.fromkeys(new.groups)
    for group in follow(groups, len(groups), f"folds from {taught.machine} to {asked.machine}"):
        held = [row for row, name in enumerate(new.groups) if name == group]
        # A program may be in groups of different names on the two machines: all that share one with it are left out.
        names = {new.names[row] for row in held}
        out = {group, *(name for name, program in zip(known.groups, known.names, strict=True) if program in names)}
        model = train_on(
            known.rows(n for n, name in enumerate(known.groups) if name not in out), dataset_frame(taught), options
        )
        for row in held:
            chosen[row] = new.column(predict_row(model, new, row).mapping)
    score = score_of(gains[np.arange(len(gains)), chosen], gains.max(axis=1), new.groups)
    return Transfer(
        **msgspec.structs.asdict(score), trained_on=taught.machine, machine=asked.machine, mappings=len(common)
    )


def _under(observations: Observations, mappings: Sequence[AnyMapping]) -> Observations:
    return observations.columns(map(observations.column, mappings))
