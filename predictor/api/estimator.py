"""The product's regression of gains on readings, as an estimator of scikit-learn."""

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
    """Predict a program's gain under every mapping from what two probe runs read of it, and choose the best mapping.

    The ridge regression by which ``predict`` chooses, for any table of readings, such as ``Dataset.readings``. Groups
    of programs weigh the same, and the error of each mapping is measured on programs held out by group. The gain that
    a probe has measured is predicted here like the rest; ``predict`` takes it as measured.

    ``default`` is the mapping that gains are over, by its name or column; None finds it as the only output whose gains
    are all 0. ``risk_weight`` is the part of its deviation by which ``choose`` discounts a gain.

    After ``fit``: ``mappings_``, the outputs' names, or numbers where they have none; ``default_``, the default's
    column or None; ``centre_``, ``scale_`` float64[readings]; ``gain_``, ``deviation_`` float64[mappings] in log2;
    ``slopes_`` float64[readings, mappings], of standardised readings.

    >>> import numapredict, numpy as np
    >>> dataset = numapredict.Dataset.load("broadwell-2x10")
    >>> X, y = dataset.readings(), np.log2(dataset.gains())
    >>> regressor = numapredict.GainRegressor().fit(X, y, groups=dataset.groups)
    >>> regressor.predict(X).shape
    (128, 101)
    >>> bool(y.to_numpy()[np.arange(128), regressor.choose(X)].mean() > 0.1)
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

    def choose(self, X: Any) -> npt.NDArray[np.intp]:  # noqa: ANN401
        """Return the column of each program's best mapping, int[programs]: the default's unless one clearly gains.

        Raises ValueError if the default is not known.
        """
        gains = self._gains(X)
        if self.default_ is None:
            raise ValueError(
                "no output has gains of 0 alone, as the default has: name it by GainRegressor(default=...)"
            )
        known = risk_adjusted_gain(gains, self.deviation_, self.risk_weight, self.default_)
        found: npt.NDArray[np.intp] = np.argmax(known, axis=1)
        return found

    def best(self, X: Any) -> npt.NDArray[Any]:  # noqa: ANN401
        """Return each program's best mapping as ``choose`` does, by its name in ``mappings_``."""
        found: npt.NDArray[Any] = self.mappings_[self.choose(X)]
        return found

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
                f"default {self.default!r} is not one of the outputs: {', '.join(map(str, columns[:3]))}, ..."
            )
        return columns.index(self.default)
