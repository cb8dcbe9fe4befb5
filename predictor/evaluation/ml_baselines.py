"""Textbook learners on the same two probes, for comparison with our choice.

Each learns the log2 gains of all mappings from the probes' readings, standardised, and takes the mapping with the
largest expected gain (Sanchez Barrera et al., ICS'20, choose by a tree from two profile runs in this way).
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import RandomForestRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from numapredict.predictor.evaluation.strategy import Strategy
from numapredict.predictor.learning.features import Array, Observations, gains_of
from numapredict.predictor.learning.probes import readings_at

Choice = npt.NDArray[np.int64]

NEIGHBOURS, LEAF, TREES, SEED = 3, 3, 100, 1

LEARNERS: dict[str, Callable[[int], object]] = {
    Strategy.NEIGHBOURS: lambda programs: KNeighborsRegressor(min(NEIGHBOURS, programs)),
    Strategy.TREE: lambda _programs: DecisionTreeRegressor(min_samples_leaf=LEAF, random_state=SEED),
    Strategy.FOREST: lambda _programs: RandomForestRegressor(TREES, min_samples_leaf=LEAF, random_state=SEED),
}


def ml_baseline_orders(
    train: Observations, test: Observations, default: int, probes: tuple[int, int]
) -> dict[str, Choice]:
    """Return the columns that each learner, trained on ``train``, would choose for each program of ``test``.

    int64[programs, mappings]: the one with the largest expected gain first.

    ``probes`` and ``default`` are columns.
    """
    known, floors = readings_at(train, probes)
    asked, _ = readings_at(test, probes, floors)
    gains = gains_of(train.time_s, default)
    found = {}
    for name, learner in LEARNERS.items():
        model = make_pipeline(StandardScaler(), learner(len(known)))
        expected: Array = np.asarray(model.fit(known, gains).predict(asked))
        found[name] = (-expected.reshape(len(asked), -1)).argsort(axis=1, kind="stable").astype(np.int64)
    return found
