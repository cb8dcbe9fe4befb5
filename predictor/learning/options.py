"""The options of training."""

from typing import Literal

import msgspec

from numapredict.collect.mapping import AnyMapping

Scale = Literal["linear", "log"]
FeatureKind = Literal["thesis", "ratio", "times"]
Method = Literal["search", "thesis"]
Reads = Literal["bandwidth", "share", "times"]
"""What is read of a run in addition to its time: local bandwidth by counters, without them the sampled share of local
accesses, or nothing."""

Clock = Literal["regions", "process"]
"""Whether a time is the time in parallel regions (the thesis's codelets are regions) or that of the whole run."""

CLUSTERS = 6
"""The number of clusters that fig. 29 of the thesis uses."""


class TrainingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a model is learned.

    ``default`` is the label that times are divided by and speedups are relative to; None means the mapping that a
    program gets today. ``n_clusters`` fixes the number of clusters. ``method`` says for what: clusters that explain
    what a ``search`` advises, or clusters that choose the mapping as in the
    ``thesis`` (sec. 6, fig. 29).
    """

    default: AnyMapping | None = None
    n_clusters: int | None = None
    method: Method = "search"

    def __post_init__(self) -> None:
        """Raise ValueError for numbers of clusters below one."""
        if self.n_clusters is not None and self.n_clusters < 1:
            raise ValueError("the number of clusters must be at least 1")

    @property
    def scale(self) -> Scale:
        """Return how run times are clustered: ``linear`` as in the thesis, or ``log``."""
        return "linear" if self.method == "thesis" else "log"

    def with_default(self, default: AnyMapping | None) -> "TrainingOptions":
        """Return the options with another default."""
        return msgspec.structs.replace(self, default=default)


THESIS = TrainingOptions(method="thesis")
"""As in the thesis: a program's cluster by two probes, on a linear scale, and its centroid's best mapping."""
