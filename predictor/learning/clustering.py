"""Ward clustering of programs, and each cluster's centroid member (thesis sec. 5 and 6)."""

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


def ward_linkage(rows: Array) -> Array:
    """Return the merge tree float64[n - 1, 4] of the rows float64[n, m], in SciPy's layout; empty for one row.

    ValueError for values that are not finite.
    """
    return linkage(rows, "ward") if len(rows) > 1 else np.empty((0, 4))


def cut(tree: Array, n_clusters: int) -> Labels:
    """Return int64[n]: every row's cluster when the tree is cut into at most ``n_clusters``.

    Clusters are numbered from 0 in the order of their first row, so that equal data give equal numbers. Rows at
    distance zero cannot be separated, hence "at most".
    """
    if len(tree) == 0:
        return np.zeros(1, dtype=np.int64)
    raw = fcluster(tree, n_clusters, criterion="maxclust")
    _, first, inverse = np.unique(raw, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    return order[inverse].astype(np.int64)


def centroid_members(rows: Array, labels: Labels) -> Labels:
    """Return int64[k]: of each cluster, the row closest to the mean of the cluster's rows (thesis sec. 6)."""
    members = np.empty(labels.max() + 1, dtype=np.int64)
    for cluster in range(len(members)):
        inside = np.flatnonzero(labels == cluster)
        distance = np.linalg.norm(rows[inside] - rows[inside].mean(axis=0), axis=1)
        # The two members of a pair are equally far from their mean up to rounding: the earlier one is taken.
        members[cluster] = inside[np.flatnonzero(distance <= distance.min() * (1 + 1e-9))[0]]
    return members
