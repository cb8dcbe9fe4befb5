"""The product's regression of gains on readings, as an estimator of scikit-learn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from numapredict.predictor.learning.gain_model import (
    RISK_WEIGHT,
    deviations,
    held_out_gains,
    regress,
    risk_adjusted_gain,
)
from numapredict.predictor.searching.known_gains import group_weights

Array = npt.NDArray[np.float64]


class GainRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts a program's gain under every mapping from what two probe runs read of it: what models use.

    Ridge regression of log2 gains on standardised readings, groups of programs weighing the same. ``choose`` discounts
    each mapping's gain by ``risk_weight`` deviations, found on programs held out by group, before it compares them.

    >>> import numapredict, numpy as np
    >>> dataset = numapredict.Dataset.load("sandybridge-4x8")
    >>> X, y = dataset.readings().to_numpy(), np.log2(dataset.gains().to_numpy())
    >>> default = dataset.gains().columns.get_loc(dataset.default.label)
    >>> chosen = numapredict.GainRegressor(default=default).fit(X, y, groups=dataset.groups).choose(X)
    >>> bool(np.exp2(y[np.arange(len(y)), chosen].mean()) > 1.1)
    True
    """

    def __init__(self, risk_weight: float = RISK_WEIGHT, default: int = 0) -> None:
        self.risk_weight = risk_weight
        self.default = default

    def fit(self, X: Any, y: Any, groups: Sequence[str] | None = None) -> "GainRegressor":  # noqa: ANN401
        """Fit to readings X float[programs, readings] and log2 gains y float[programs, mappings] or float[programs].

        ``groups`` names what each program is held out with, its own if not given. ``default`` is the column of y whose
        gain is 0 by definition. Raises ValueError for other shapes and for values that are not finite.
        """
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=True, ensure_min_samples=2, dtype=np.float64)
        gains = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
        names = [str(n) for n in range(len(X))] if groups is None else list(map(str, groups))
        if len(names) != len(X):
            raise ValueError(f"groups has {len(names)} values and X {len(X)} rows")
        if np.ndim(y) > 1 and not 0 <= self.default < gains.shape[1]:
            raise ValueError(f"default={self.default} is no column of y, which has {gains.shape[1]}")
        self.one_column_ = np.ndim(y) == 1
        self.centre_, self.scale_, self.gain_, self.slopes_ = regress(X, gains, group_weights(names))
        expected = held_out_gains(X, gains, names)
        self.deviation_ = deviations(expected, gains, names, 0 if self.one_column_ else self.default, X.shape[1])
        return self

    def predict(self, X: Any) -> Array:  # noqa: ANN401
        """Return the log2 gains of programs with readings X float[programs, readings], in the shape of y."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        found: Array = self.gain_ + ((X - self.centre_) / self.scale_) @ self.slopes_
        return found[:, 0] if self.one_column_ else found

    def choose(self, X: Any) -> npt.NDArray[np.intp]:  # noqa: ANN401
        """Return the column of the mapping to advise for each program, int[programs]: the default's if none is better.

        Raises ValueError after a fit to the gains of one mapping.
        """
        gains = self.predict(X)
        if self.one_column_:
            raise ValueError("fit to the gains of several mappings, the default's among them, to choose one")
        known = risk_adjusted_gain(gains, self.deviation_, self.risk_weight, self.default)
        found: npt.NDArray[np.intp] = np.argmax(known, axis=1)
        return found

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        """Return what scikit-learn is to know: y may have several columns."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
