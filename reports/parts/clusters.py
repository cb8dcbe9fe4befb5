"""A model's merge tree."""

import msgspec
import numpy as np
from scipy.cluster.hierarchy import leaves_list

from numapredict.predictor.learning.clustering import Array
from numapredict.predictor.learning.model import Model
from numapredict.reports.parts.heatmap import Branch, branches_of


class TreeData(msgspec.Struct, frozen=True):
    """A merge tree to draw: programs from top to bottom, their clusters, and the merges."""

    programs: tuple[str, ...]
    clusters: tuple[int, ...]
    branches: tuple[Branch, ...]


def tree_data(model: Model) -> TreeData:
    """Return the merge tree of a model's programs."""
    tree: Array = np.array([[m.left, m.right, m.distance, m.programs] for m in model.linkage]).reshape(-1, 4)
    leaves = tuple(leaves_list(tree).tolist()) if len(tree) else (0,)
    cluster_of = {member.name: cluster.id for cluster in model.clusters for member in cluster.members}
    names = tuple(model.programs[leaf] for leaf in leaves)
    return TreeData(names, tuple(cluster_of[name] for name in names), branches_of(tree, leaves))
