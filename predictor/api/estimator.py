"""The belief of a search about all mappings after some runs, as an estimator of scikit-learn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from numapredict.predictor.searching.known_gains import Array, group_weights
from numapredict.predictor.searching.next_run import DEVIATION, weights_at


class GainRegressor(RegressorMixin, MultiOutputMixin, BaseEstimator):  # type: ignore[misc] # it ships no types
    """Predict a program's gain under every mapping from its gains in a few runs, and choose a mapping.

    The engine by which ``predict`` chooses runs: a known program counts the more the closer its gains in these runs
    are to the new program's, and none is ever ruled out. Groups of programs weigh the same. ``deviation`` is that, in
    log2, by which the gains of programs that react alike differ.

    After ``fit``: ``mappings_``, the outputs' names, or numbers where they have none; ``runs_``, the columns of the
    outputs that the features are, None where they are no outputs; ``readings_`` float64[programs, runs], ``gains_``
    float64[programs, mappings] and ``weights_`` float64[programs], what is known.

    >>> import numapredict, numpy as np
    >>> dataset = numapredict.Dataset.load("broadwell-2x10")
    >>> X, y = dataset.readings(), np.log2(dataset.gains())
    >>> regressor = numapredict.GainRegressor().fit(X, y, groups=dataset.groups)
    >>> regressor.predict(X).shape
    (128, 101)
    >>> bool(y.to_numpy()[np.arange(128), regressor.choose(X)].mean() > 0.1)
    True
    """

    def __init__(self, *, deviation: float = DEVIATION) -> None:
        self.deviation = deviation

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        """Return what scikit-learn may expect: a belief in which no program is ruled out fits no training data well."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any, groups: Sequence[object] | None = None) -> "GainRegressor":  # noqa: ANN401
        """Learn from gains in runs [programs, runs] and under all mappings [programs, mappings], or [programs] for one.

        ``groups`` has what each program is held out with; without it each is alone. Gains are log2 over the default.
        Raises ValueError for anything else than finite numbers.
        """
        names = [str(name) for name in y.columns] if hasattr(y, "columns") else None
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, dtype=np.float64)
        gains: Array = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
        kept = [str(group) for group in (range(len(X)) if groups is None else groups)]
        check_consistent_length(X, kept)
        self.mappings_: npt.NDArray[Any] = np.arange(gains.shape[1]) if names is None else np.array(names, dtype=object)
        self.readings_, self.gains_, self.weights_ = X, gains, group_weights(kept)
        same = [np.flatnonzero((gains == run[:, None]).all(axis=0)) for run in X.T]
        self.runs_ = [int(columns[0]) for columns in same] if all(map(len, same)) else None
        self._single = np.ndim(y) == 1
        return self

    def predict(self, X: Any) -> Array:  # noqa: ANN401
        """Return the expected gains float64[programs, mappings], or [programs] if ``y`` was so.

        The gains of the runs themselves are predicted like the rest.
        """
        gains = self._gains(X)[1]
        return gains[:, 0] if self._single else gains

    def choose(self, X: Any) -> npt.NDArray[np.intp]:  # noqa: ANN401
        """Return the column of each program's best mapping, int[programs]: the best of its runs.

        Raises ValueError if the features are not gains under mappings of the outputs.
        """
        readings, _ = self._gains(X)
        found: npt.NDArray[np.intp] = np.array(self._runs())[readings.argmax(axis=1)]
        return found

    def following(self, X: Any) -> npt.NDArray[np.intp]:  # noqa: ANN401
        """Return the column of the mapping that each program should run next, int[programs]: what should add most.

        Raises ValueError if the features are not gains under mappings of the outputs, or if all mappings have run.
        """
        readings, _ = self._gains(X)
        runs = self._runs()
        if len(set(runs)) == self.gains_.shape[1]:
            raise ValueError("all mappings have run")
        added = np.maximum(self.gains_ - self.gains_[:, runs].max(axis=1, keepdims=True), 0.0)
        expected = self._weights(readings) @ added
        expected[:, runs] = -1.0
        found: npt.NDArray[np.intp] = expected.argmax(axis=1)
        return found

    def best(self, X: Any) -> npt.NDArray[Any]:  # noqa: ANN401
        """Return each program's best mapping as ``choose`` does, by its name in ``mappings_``."""
        found: npt.NDArray[Any] = self.mappings_[self.choose(X)]
        return found

    def _gains(self, X: Any) -> tuple[Array, Array]:  # noqa: ANN401
        check_is_fitted(self)
        readings: Array = validate_data(self, X, reset=False, dtype=np.float64)
        return readings, self._weights(readings) @ self.gains_

    def _weights(self, readings: Array) -> Array:
        squared = ((readings[:, None, :] - self.readings_[None, :, :]) ** 2).sum(axis=2)
        return weights_at(self.weights_, squared, self.deviation)

    def _runs(self) -> list[int]:
        if self.runs_ is None:
            raise ValueError("the features are not gains under some of the mappings: fit with Dataset.readings")
        return self.runs_
