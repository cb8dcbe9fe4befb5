"""Learning from a part of all runs: a few programs under every mapping, then every program under the few that matter.

The pilots show which mappings are ever best; most of the space never is. Mappings are taken one after the other, each
time the one that adds most to the pilots' best gains (the greedy solution of the facility location problem:
Cornuejols, Fisher, Nemhauser, Management Science 1977). If no mapping adds anything more, the one that the pilots react
to most differently from all taken is next: it may distinguish programs. The default is always taken. The training data
have no holes, and nothing is filled in.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numapredict.predictor.learning.features import Array
from numapredict.predictor.learning.few_runs import LEAST_MAPPINGS

PILOT_SHARE = 0.4
"""The part of the budget that goes to pilots: chosen on the modelled machines, where 0.3 and 0.5 are as good."""

SEED = 1
NOTHING = 1e-6


@dataclass(frozen=True)
class Split:
    """The number of groups of programs that are pilots, and of mappings that all programs run under."""

    pilots: int
    mappings: int


def split_budget(runs: int, group_sizes: Sequence[int], mappings: int) -> Split | None:
    """Return how a budget of runs is split, for groups of ``group_sizes`` programs and a number of ``mappings``.

    None if it is too small.
    """
    programs, size = sum(group_sizes), max(group_sizes)
    if runs < size * mappings + (programs - size) * LEAST_MAPPINGS:
        return None
    pilots = max(int(PILOT_SHARE * runs / (size * mappings)), 1)
    while pilots > 1 and _mappings_left(runs, pilots * size, programs, mappings) < LEAST_MAPPINGS:
        pilots -= 1
    return Split(min(pilots, len(group_sizes)), _mappings_left(runs, pilots * size, programs, mappings))


def _mappings_left(runs: int, pilots: int, programs: int, mappings: int) -> int:
    """Return under how many mappings the programs that are not pilots can run."""
    if pilots >= programs:
        return mappings
    return min((runs - pilots * mappings) // (programs - pilots), mappings)


def pilot_groups(groups: Sequence[str], count: int, seed: int = SEED) -> tuple[str, ...]:
    """Return the names of ``count`` groups, drawn at random by ``seed``, in the order given."""
    names = list(dict.fromkeys(groups))
    drawn = np.random.default_rng(seed).permutation(len(names))[:count]
    return tuple(names[at] for at in sorted(drawn))


def pivot_columns(gains: Array, count: int, default: int) -> npt.NDArray[np.int64]:
    """Return ``count`` columns in the order in which they are taken, the default first, int64[count].

    ``gains`` are the pilots' log2 gains over the default, float64[pilots, mappings].
    """
    chosen = [default]
    best = gains[:, default].copy()
    while len(chosen) < min(count, gains.shape[1]):
        value = np.maximum(gains, best[:, None]).mean(axis=0) - best.mean()
        value[chosen] = -np.inf
        column = int(value.argmax())
        if value[column] <= NOTHING:
            away = np.min([((gains - gains[:, [taken]]) ** 2).mean(axis=0) for taken in chosen], axis=0)
            away[chosen] = -np.inf
            column = int(away.argmax())
        chosen.append(column)
        best = np.maximum(best, gains[:, column])
    return np.array(chosen, dtype=np.int64)
