"""The heatmap of a dataset, its merge tree, and the speedups from cutting that tree (thesis sec. 6, figs. 24 to 29)."""

from itertools import pairwise

import msgspec
import numpy as np

from numapredict.collect.mapping import Mapping
from numapredict.predictor.evaluation.thesis import centroid_columns
from numapredict.predictor.learning.clustering import Array, cut
from numapredict.predictor.learning.features import Observations, gains_of
from numapredict.predictor.learning.model import Model
from numapredict.reports.column_order import Column, columns_of
from numapredict.reports.parts.merge_tree import Merge, merges_of, place_of, row_height
from numapredict.reports.parts.quantity import rounded
from numapredict.reports.program_order import Order, colour_limit

MOST_CUTS = 64
"""The greatest number of clusters to choose; the thesis uses 6 of 50 (fig. 29)."""


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """The tree cut into clusters, numbered from the top.

    ``starts`` are the clusters' first programs, ``mappings`` the fastest mapping of each cluster's centroid.
    The speedups over the default are those of all programs when each takes its cluster's mapping: in sample, no program
    was held out. ``at`` is where the drawn tree is cut into them. ``numbers`` are the numbers of the same clusters in a
    model on the same page, else empty.
    """

    starts: tuple[int, ...]
    mappings: tuple[int, ...]
    at: float
    geometric: float
    arithmetic: float
    numbers: tuple[int, ...] = ()


class HeatmapData(msgspec.Struct, frozen=True, kw_only=True):
    """Programs from top to bottom and mappings from left to right; elsewhere they are given by index.

    ``times_s`` are in seconds, four digits. Colours end at ``limit``, in log2 over the default. ``choices`` are
    the mappings' own, None for foreign mappings. ``merges`` are the tree, whose rows are ``row_height`` CSS pixels
    high. ``places`` are the columns, the best first, those of fewer cores folded. ``cuts`` are for 1, 2, ... clusters.
    ``oracle`` is the
    geometric mean of every program's best speedup, ``oracle_arithmetic`` the arithmetic one.
    """

    programs: tuple[str, ...]
    labels: tuple[str, ...]
    places: tuple[Column, ...]
    choices: tuple[tuple[int | str, ...] | None, ...]
    default: int
    times_s: tuple[tuple[float, ...], ...]
    limit: float
    merges: tuple[Merge, ...]
    row_height: int
    cuts: tuple[Cut, ...]
    oracle: float
    oracle_arithmetic: float
    start_clusters: int


def heatmap_data(
    observations: Observations, default: int, order: Order, clusters: int, model: Model | None = None
) -> HeatmapData:
    """Return the heatmap: ``default`` is the column that times are compared with, ``clusters`` the first cut.

    Where a cut has the clusters of ``model``, it has the model's numbers.
    """
    times = observations.time_s[list(order.leaves)]
    gains = gains_of(times, default)
    programs = tuple(observations.names[row] for row in order.leaves)
    cuts = cuts_of(observations, default, order)
    if model is not None:
        cuts = tuple(_numbered(each, programs, model) for each in cuts)
    labels = tuple(mapping.label for mapping in observations.mappings)
    choices = tuple(m.choices if isinstance(m, Mapping) else None for m in observations.mappings)
    return HeatmapData(
        programs=programs,
        labels=labels,
        places=columns_of(labels, choices, -gains, default),
        choices=choices,
        default=default,
        times_s=tuple(tuple(map(rounded, row)) for row in times.tolist()),
        limit=colour_limit(gains),
        merges=merges_of(order.tree, order.leaves),
        row_height=row_height(len(programs)),
        cuts=cuts,
        oracle=float(2 ** gains.max(axis=1).mean()),
        oracle_arithmetic=float((2 ** gains.max(axis=1)).mean()),
        start_clusters=max(1, min(clusters, len(cuts))),
    )


def cuts_of(observations: Observations, default: int, order: Order) -> tuple[Cut, ...]:
    """Return the cuts into 1, 2, ... clusters, up to MOST_CUTS; programs that react the same cannot be separated."""
    time_s, leaves = observations.time_s, list(order.leaves)
    found: list[Cut] = []
    for wanted in range(1, min(len(leaves), MOST_CUTS) + 1):
        labels = cut(order.tree, wanted)
        height = _height(order.tree, int(labels.max()) + 1)
        if (order.tree[:, 2] > height).sum() != labels.max() or (found and labels.max() < len(found[-1].starts)):
            continue  # programs at distance zero
        columns = centroid_columns(time_s, order.rows, labels)
        speedup = time_s[:, default] / time_s[np.arange(len(time_s)), columns[labels]]
        placed = labels[leaves].tolist()
        starts = (0, *(place for place, (a, b) in enumerate(pairwise(placed), 1) if a != b))
        found.append(
            Cut(
                starts=starts,
                mappings=tuple(int(columns[placed[start]]) for start in starts),
                at=place_of(height, order.tree),
                geometric=rounded(float(np.exp(np.log(speedup).mean()))),
                arithmetic=rounded(float(speedup.mean())),
            )
        )
    return tuple(found)


def _height(tree: Array, clusters: int) -> float:
    """Return the middle between the distances of the last merge kept and the first undone."""
    distances: list[float] = [0.0, *tree[:, 2].tolist()]
    if clusters == 1:
        return distances[-1] * 1.03
    first_undone = len(distances) - clusters + 1
    return (distances[first_undone - 1] + distances[first_undone]) / 2


def _numbered(each: Cut, programs: tuple[str, ...], model: Model) -> Cut:
    """Return a cut with a model's numbers if its clusters are the model's, else as it is."""
    stops = (*each.starts[1:], len(programs))
    parts = [programs[start:stop] for start, stop in zip(each.starts, stops, strict=True)]
    return msgspec.structs.replace(each, numbers=model.numbers_of(parts))
