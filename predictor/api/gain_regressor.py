"""The product's gain model as a scikit-learn estimator."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from numapredict.predictor.learning.gain_model import (
    RISK_WEIGHT,
    Array,
    held_out_deviations,
    held_out_gains,
    regress,
    risk_adjusted_gain,
)
from numapredict.predictor.searching.known_gains import group_weights


class GainRegressor(RegressorMixin, MultiOutputMixin, BaseEstimator):  # type: ignore[misc] # it ships no types
    """Predict a program's gain under every mapping from the readings of its probe runs, and choose the best mapping.

    The ridge regression by which `numapredict predict` chooses, for any table of readings: see
    `Dataset.training_table`. Groups of programs weigh the same, and the error of each mapping is measured on programs
    held out by group. What a probe run has measured is predicted here like the rest; `numapredict predict` uses it as
    measured.

    ``default`` is the mapping that gains are over, by its name or column; None finds it as the only output whose gains
    are all 0. ``risk_weight`` is the part of its deviation by which `best` discounts a gain.

    After `fit`: ``mappings_``, the outputs' names, or numbers where they have none; ``default_``, the default's column
    or None; ``centre_``, ``scale_`` float64[readings]; ``gain_``, ``deviation_`` float64[mappings] in units of ``y``;
    ``slopes_`` float64[readings, mappings], of standardised readings.

    >>> from numapredict import Dataset
    >>> table = Dataset.load("broadwell-2x10").training_table()
    >>> regressor = GainRegressor().fit(table.readings, table.gains, groups=table.groups)
    >>> regressor.predict(table.readings).shape
    (128, 101)
    >>> best = regressor.best(table.readings)
    >>> taken = table.gains.to_numpy()[range(128), table.gains.columns.get_indexer(best)]
    >>> bool(taken.mean() > 0.1)
    True
    """

    def __init__(self, *, default: str | int | None = None, risk_weight: float = RISK_WEIGHT) -> None:
        self.default = default
        self.risk_weight = risk_weight

    def fit(self, X: Any, y: Any, groups: Sequence[object] | None = None) -> "GainRegressor":  # noqa: ANN401
        """Learn from readings [programs, readings] and gains [programs, mappings], or [programs] for one mapping.

        ``groups`` has what each program is held out with; without it each is alone. Gains are log2 over the default.
        Raises ValueError for anything else than finite numbers, and for an unknown default.
        """
        names = [str(name) for name in y.columns] if hasattr(y, "columns") else None
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, dtype=np.float64)
        gains: Array = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
        kept = [str(group) for group in (range(len(X)) if groups is None else groups)]
        check_consistent_length(X, kept)
        self.mappings_: npt.NDArray[Any] = np.arange(gains.shape[1]) if names is None else np.array(names, dtype=object)
        self.default_ = self._column(gains)
        self.centre_, self.scale_, self.gain_, self.slopes_ = regress(X, gains, group_weights(kept))
        self.deviation_ = held_out_deviations(held_out_gains(X, gains, kept), gains, kept, X.shape[1])
        self._single = np.ndim(y) == 1
        return self

    def predict(self, X: Any) -> Array:  # noqa: ANN401
        """Return the predicted gains float64[programs, mappings], or [programs] if ``y`` was so."""
        gains = self._gains(X)
        return gains[:, 0] if self._single else gains

    def best(self, X: Any) -> npt.NDArray[Any]:  # noqa: ANN401
        """Return each program's best mapping by its name in ``mappings_``: the default unless one should surely gain.

        Raises ValueError if the default is not known.
        """
        gains = self._gains(X)
        if self.default_ is None:
            raise ValueError(
                "no output has gains of 0 alone, as the default has: name it by GainRegressor(default=...)"
            )
        found = risk_adjusted_gain(gains, self.deviation_, self.risk_weight, self.default_)
        chosen: npt.NDArray[Any] = self.mappings_[found.argmax(axis=1)]
        return chosen

    def _gains(self, X: Any) -> Array:  # noqa: ANN401
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        gains: Array = self.gain_ + (X - self.centre_) / self.scale_ @ self.slopes_
        return gains

    def _column(self, gains: Array) -> int | None:
        """Return the default's column, or None if it is not known."""
        if self.default is None:
            zeros = np.flatnonzero((gains == 0).all(axis=0))
            return int(zeros[0]) if len(zeros) == 1 else None
        columns = list(self.mappings_)
        if self.default not in columns:
            raise ValueError(
                f"default {self.default!r} is none of the outputs: {', '.join(map(str, columns[:3]))}, ..."
            )
        return columns.index(self.default)
