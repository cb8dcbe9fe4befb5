"""A model's clusters, probes and merge tree."""

import msgspec
import numpy as np
from scipy.cluster.hierarchy import leaves_list

from numapredict.predictor.learning.clustering import Array
from numapredict.predictor.learning.model import Cluster, Model, RankedMapping
from numapredict.predictor.learning.probes import Probe
from numapredict.reports.parts.heatmap import Branch, branches_of

SHOWN_MAPPINGS = 5


class MemberData(msgspec.Struct, frozen=True):
    """One training program with its own best mapping and its speedup over the default."""

    name: str
    summary: str
    best: str
    speedup: float


class ClusterData(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster: its members, the one closest to their mean, and the mappings ranked first."""

    id: int
    centroid: str
    members: tuple[MemberData, ...]
    ranked: tuple[RankedMapping, ...]


class ClustersData(msgspec.Struct, frozen=True, kw_only=True):
    """A model's clusters, and its merge tree with programs from top to bottom; ``cluster_of`` has each program's."""

    probes: tuple[Probe, Probe]
    clusters: tuple[ClusterData, ...]
    mappings: int
    dropped_programs: tuple[str, ...]
    dropped_mappings: tuple[str, ...]


class TreeData(msgspec.Struct, frozen=True):
    """A merge tree to draw: programs from top to bottom, their clusters, and the merges."""

    programs: tuple[str, ...]
    clusters: tuple[int, ...]
    branches: tuple[Branch, ...]


def clusters_data(model: Model) -> ClustersData:
    """Return the clusters in the model's order."""
    return ClustersData(
        probes=model.probes,
        clusters=tuple(map(_cluster, model.clusters)),
        mappings=len(model.clusters[0].ranked),
        dropped_programs=model.dropped_programs,
        dropped_mappings=model.dropped_mappings,
    )


def tree_data(model: Model) -> TreeData:
    """Return the merge tree of a model's programs."""
    tree: Array = np.array([[m.left, m.right, m.distance, m.programs] for m in model.linkage]).reshape(-1, 4)
    leaves = tuple(leaves_list(tree).tolist()) if len(tree) else (0,)
    cluster_of = {member.name: cluster.id for cluster in model.clusters for member in cluster.members}
    names = tuple(model.programs[leaf] for leaf in leaves)
    return TreeData(names, tuple(cluster_of[name] for name in names), branches_of(tree, leaves))


def _cluster(cluster: Cluster) -> ClusterData:
    return ClusterData(
        id=cluster.id,
        centroid=cluster.centroid,
        members=tuple(MemberData(m.name, m.summary, m.best, m.best_speedup) for m in cluster.members),
        ranked=cluster.ranked[:SHOWN_MAPPINGS],
    )
