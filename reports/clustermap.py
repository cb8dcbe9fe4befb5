"""Dendrogram and heatmap of a dataset in one figure (thesis figures 24 and 25)."""

from collections.abc import Sequence

import msgspec
import numpy as np
from scipy.cluster.hierarchy import dendrogram

from numapredict.collect import mapping
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping, ThreadPolicy, applicable
from numapredict.collect.page_policy import PagePolicy
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning.clustering import cut
from numapredict.predictor.learning.features import observe
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.options import CLUSTERS, Scale, TrainingOptions
from numapredict.predictor.learning.train import default_of
from numapredict.reports.drawable import drawable
from numapredict.reports.program_order import order_programs
from numapredict.reports.source import origin_of, source_line


class Bracket(msgspec.Struct, frozen=True):
    """One merge of the dendrogram: the four corners' distances and rows (row 0.5 is the first row's middle)."""

    distances: tuple[float, float, float, float]
    rows: tuple[float, float, float, float]
    cluster: int | None


class Mapping(msgspec.Struct, frozen=True):  # noqa: D101 - a mapping as an object, which `--json` of this figure has
    __doc__ = mapping.Mapping.__doc__

    threads: int
    thread_nodes: int
    thread_policy: ThreadPolicy
    page_nodes: int
    page_policy: PagePolicy
    threads_per_core: int = 1
    thread_l3s: int = 0

    @property
    def label(self) -> str:
        """Return the text form."""
        return mapping.Mapping(*msgspec.structs.astuple(self)).label


class ClustermapData(msgspec.Struct, frozen=True, kw_only=True):
    """What the figure shows, from top to bottom and left to right.

    ``log2_times`` are run times over the default mapping's, one row per program and one value per mapping: below 0 is
    faster. ``clusters`` numbers each program's cluster, 1 at the top; ``brackets`` draw the merge tree, which Ward's
    method made of these times on the ``scale``.
    """

    machine: str
    modelled: bool
    default: Mapping
    scale: Scale
    programs: tuple[str, ...]
    mappings: tuple[Mapping, ...]
    log2_times: tuple[tuple[float, ...], ...]
    clusters: tuple[int, ...]
    brackets: tuple[Bracket, ...]
    source: str

    @property
    def title(self) -> str:
        """Return the title: dataset, machine, and whether times are modelled."""
        made = "modelled run times" if self.modelled else "measured run times"
        return f"{len(self.programs)} programs under {len(self.mappings)} mappings on {drawable(self.machine)} ({made})"

    @property
    def method(self) -> str:
        """Return how the programs were clustered."""
        times = "log2 of the run times" if self.scale == "log" else "run times on a linear scale (as the thesis)"
        return f"Clusters ({len(set(self.clusters))}) and tree: Ward's method on {times} over the default's."


def clustermap_data(
    dataset: Dataset,
    default: AnyMapping | None = None,
    n_clusters: int | None = None,
    scale: Scale = "log",
    model: Model | None = None,
) -> ClustermapData:
    """Cluster a dataset's programs by how they react to mappings, and order them by the merge tree.

    ``default``: what times are divided by. The scale is that of the model and the page unless the thesis's,
    ``linear``, is requested; likewise the number of clusters, at most that of programs. Clusters that are those of
    ``model`` have its numbers, as in its answers, others 1, 2, ... from the top. InsufficientDataError if the default
    or all programs are missing, or if they do not form the requested number of clusters.
    """
    if dataset.topology is None:
        raise InsufficientDataError(f"dataset of {dataset.machine} has foreign mappings, which the figure cannot show")
    chosen = default_of(dataset, TrainingOptions(default=default))
    observations = observe(dataset, chosen)
    column = observations.column(chosen)
    if len(observations.programs) < 2:
        raise InsufficientDataError(f"dataset of {dataset.machine} has one program: a clustermap needs at least two")
    ordered = order_programs(observations, column, scale)
    drawn, order = dendrogram(ordered.tree, no_plot=True), list(ordered.leaves)
    labels = cut(ordered.tree, n_clusters or CLUSTERS)[order]
    found = int(labels.max()) + 1
    if n_clusters is not None and found < n_clusters:
        raise InsufficientDataError(
            f"dataset of {dataset.machine}: its {len(order)} programs fall into at most {found} of the {n_clusters} "
            f"clusters asked for; ask for {found} or fewer"
        )
    names = tuple(observations.names[row] for row in order)
    in_order = list(dict.fromkeys(labels.tolist()))
    parts = [[name for name, label in zip(names, labels.tolist(), strict=True) if label == each] for each in in_order]
    own = () if model is None else model.numbers_of(parts)
    numbers = dict(zip(in_order, own or range(1, found + 1), strict=True))
    clusters = tuple(numbers[cluster] for cluster in labels.tolist())
    log2_times = np.log2(observations.time_s / observations.time_s[:, [column]])[order]
    return ClustermapData(
        machine=dataset.machine,
        modelled=dataset.modelled,
        default=Mapping(*applicable(chosen).choices),
        scale=scale,
        programs=names,
        mappings=tuple(Mapping(*applicable(each).choices) for each in observations.mappings),
        log2_times=tuple(tuple(map(float, row)) for row in log2_times),
        clusters=clusters,
        brackets=tuple(
            _bracket(rows_, distances, clusters)
            for rows_, distances in zip(drawn["icoord"], drawn["dcoord"], strict=True)
        ),
        source=source_line([origin_of(dataset)]),
    )


def _bracket(rows: Sequence[float], distances: Sequence[float], clusters: tuple[int, ...]) -> Bracket:
    """Return one merge; SciPy puts leaves at 5, 15, 25 ..."""
    at = [float(row) / 10 for row in rows]
    inside = set(clusters[int(min(at)) : int(max(at)) + 1])
    return Bracket(
        distances=(float(distances[0]), float(distances[1]), float(distances[2]), float(distances[3])),
        rows=(float(at[0]), float(at[1]), float(at[2]), float(at[3])),
        cluster=inside.pop() if len(inside) == 1 else None,
    )
