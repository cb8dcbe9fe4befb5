"""The assignment of programs to clusters by two probes, as an estimator that training and tests use."""

from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from numapredict.predictor.learning.options import FeatureKind, Rule
from numapredict.predictor.learning.probes import Array, Labels, cluster_distances, learn_scales, scaled_features


class ProbeAssignment(BaseEstimator):  # type: ignore[misc] # scikit-learn ships no types
    """Assign programs to clusters by the readings of their two probes.

    Readings are float64[n, 3]: time at the first probe, time at the second, local bandwidth at the second (ignored by
    the kind ``times``). Learns ``scales_``, ``rows_`` and ``labels_``.
    """

    def __init__(self, kind: FeatureKind = "ratio", rule: Rule = "centre") -> None:
        self.kind = kind
        self.rule = rule

    def fit(self, readings: Array, labels: npt.ArrayLike) -> Self:
        """Learn the scales and the training rows of each cluster."""
        readings = np.asarray(readings, dtype=np.float64)
        self.labels_ = np.asarray(labels, dtype=np.int64)
        if len(readings) != len(self.labels_):
            raise ValueError(f"{len(readings)} readings cannot have {len(self.labels_)} labels")
        self.scales_ = learn_scales(self.kind, readings)
        self.rows_ = scaled_features(self.scales_, readings)
        return self

    def predict(self, readings: Array) -> Labels:
        """Return int64[n]: the nearest cluster of each row of readings."""
        check_is_fitted(self)
        features = scaled_features(self.scales_, np.asarray(readings, dtype=np.float64))
        nearest: Labels = cluster_distances(self.rule, features, self.rows_, self.labels_).argmin(axis=1)
        return nearest
