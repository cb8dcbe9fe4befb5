"""The order of a dataset's programs beside a heatmap, and where its colours end."""

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import leaves_list, optimal_leaf_ordering
from scipy.spatial.distance import pdist

from numapredict.predictor.learning.clustering import Array, ward_linkage
from numapredict.predictor.learning.features import Observations, clustering_rows
from numapredict.predictor.learning.options import Scale


@dataclass(frozen=True, eq=False)
class Order:
    """Programs in the order of their merge tree: the tree, the rows it was made from, and the program at each place."""

    tree: Array
    rows: Array
    leaves: tuple[int, ...]


def order_programs(observations: Observations, default: int, scale: Scale = "log") -> Order:
    """Return the programs in an order in which neighbours react alike; ``default`` is a column."""
    rows = clustering_rows(observations.time_s, default, scale)
    tree = ward_linkage(rows)
    if len(tree):
        tree = optimal_leaf_ordering(tree, pdist(rows))
    return Order(tree, rows, tuple(leaves_list(tree).tolist()) if len(tree) else (0,))


def colour_limit(log2_times: Array) -> float:
    """Return where the colours of log2 times over the default end: at their 98th percentile, from 1 to 3.

    A few extreme mappings would make all others look alike.
    """
    return float(np.clip(np.ceil(2 * np.quantile(np.abs(log2_times), 0.98)) / 2, 1.0, 3.0))
