"""The drawing of a merge tree: leaves at the right, a root scale, else the last merge would hide all others."""

import math

import msgspec
import numpy as np
from scipy.cluster.hierarchy import leaves_list

from numapredict.predictor.learning.clustering import Array
from numapredict.predictor.learning.model import Model

ROOM = 1.05
"""The distance at the left edge, over that of the last merge."""

LABELLED = 9
"""The least height of a cluster's bar, in CSS pixels, that has room for its number."""


class Merge(msgspec.Struct, frozen=True, array_like=True):
    """One merge as an SVG path, from 0 at the left to 1 at the leaves and a row each 1 down; ``at`` is its place."""

    at: float
    path: str


class ClusterBar(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster beside its rows: its number, and where it is in CSS pixels."""

    number: int
    y: float
    height: float

    @property
    def labelled(self) -> bool:
        """Return whether its number has room."""
        return self.height >= LABELLED


class TreeData(msgspec.Struct, frozen=True, kw_only=True):
    """A model's tree: programs from top to bottom in rows of ``row_height`` CSS pixels, and their clusters.

    ``apart`` are the merges between clusters and ``within`` those inside, as SVG paths; ``cut`` is between them.
    """

    programs: tuple[str, ...]
    clusters: tuple[ClusterBar, ...]
    apart: str
    within: str
    cut: float
    row_height: int


def merges_of(tree: Array, leaves: tuple[int, ...]) -> tuple[Merge, ...]:
    """Return a merge tree in SciPy's layout, its programs in the order of ``leaves``."""
    corners = {row: (1.0, number + 0.5) for number, row in enumerate(leaves)}
    merges: list[Merge] = []
    for left, right, apart, _ in tree:
        (x1, y1), (x2, y2), at = corners[int(left)], corners[int(right)], place_of(apart, tree)
        corners[len(leaves) + len(merges)] = at, (y1 + y2) / 2
        merges.append(Merge(at, f"M{x1:.4f} {y1:.3f}H{at:.4f}V{y2:.3f}H{x2:.4f}"))
    return tuple(merges)


def place_of(distance: float, tree: Array) -> float:
    """Return where a distance of a tree is drawn, from 0 at the left to 1 at the leaves."""
    farthest = max(float(tree[:, 2].max(initial=0.0)), 1e-9) * ROOM
    return 1 - math.sqrt(max(float(distance), 0.0) / farthest)


def row_height(rows: int) -> int:
    """Return the height of a row in CSS pixels."""
    return 18 if rows <= 40 else 12 if rows <= 200 else 10


def tree_data(model: Model) -> TreeData:
    """Return the merge tree of a model's programs."""
    tree: Array = np.array([[m.left, m.right, m.distance, m.programs] for m in model.linkage]).reshape(-1, 4)
    leaves = tuple(leaves_list(tree).tolist()) if len(tree) else (0,)
    cluster_of = {member.name: cluster.id for cluster in model.clusters for member in cluster.members}
    programs = tuple(model.programs[leaf] for leaf in leaves)
    clusters = [cluster_of[name] for name in programs]
    starts = [row for row, each in enumerate(clusters) if row == 0 or clusters[row - 1] != each]
    merges, high = merges_of(tree, leaves), row_height(len(programs))
    places = sorted((merge.at for merge in merges), reverse=True)
    whole = len(programs) - len(set(clusters))  # so many merges are inside clusters
    ends = [*places[max(whole - 1, 0) : whole], *places[whole : whole + 1]]
    cut = sum(ends) / len(ends) if ends else 0.0
    return TreeData(
        programs=programs,
        clusters=tuple(
            ClusterBar(number=clusters[start], y=start * high, height=(stop - start) * high)
            for start, stop in zip(starts, (*starts[1:], len(programs)), strict=True)
        ),
        apart="".join(merge.path for merge in merges if merge.at < cut),
        within="".join(merge.path for merge in merges if merge.at >= cut),
        cut=round(cut, 4),
        row_height=high,
    )
