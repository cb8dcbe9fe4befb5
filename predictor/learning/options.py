"""The options of training."""

from typing import Literal

import msgspec

from numapredict.collect.mapping import AnyMapping

Scale = Literal["linear", "log"]
Ranking = Literal["centroid", "members", "pooled"]
FeatureKind = Literal["thesis", "ratio", "times"]
Rule = Literal["centre", "member"]
Method = Literal["cluster", "expectation"]
Reads = Literal["bandwidth", "share", "times"]
"""What is read from a probe in addition to its time: local bandwidth by counters, without them the sampled share of
local accesses, or nothing."""

Clock = Literal["regions", "process"]
"""Whether a time is the time in parallel regions (the thesis's codelets are regions) or that of the whole run."""


class TrainingOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a model is learned; what is not fixed here is chosen by cross-validation inside the training data.

    ``default`` is the label that times are divided by and speedups are relative to; None means the mapping that a
    program gets today. ``scale`` says how run times are clustered: ``linear`` as in the thesis, or ``log``.
    ``ranking`` says whose times order a cluster's mappings: its ``centroid``'s, as in the thesis, the geometric mean
    of its ``members``, or that mean ``pooled`` with one more member that reacts as all programs do on average, which
    stabilises small clusters. ``n_clusters`` fixes the number of clusters, ``max_clusters`` bounds the choice.
    ``feature_kinds`` and ``rules`` are those that may be chosen, ties going to the first; without counters the kind is
    always ``times``. ``probe_candidates`` are the labels that may become probes; empty means all that were measured.
    ``method`` says how the mapping is chosen: by the ``cluster`` that the probes assign a program to, as in the thesis,
    or by the gain model (``expectation``), the cluster being the explanation.
    """

    default: AnyMapping | None = None
    scale: Scale = "linear"
    ranking: Ranking = "centroid"
    n_clusters: int | None = None
    max_clusters: int = 20
    feature_kinds: tuple[FeatureKind, ...] = ("ratio", "thesis")
    rules: tuple[Rule, ...] = ("centre", "member")
    probe_candidates: tuple[AnyMapping, ...] = ()
    method: Method = "cluster"

    def __post_init__(self) -> None:
        """Raise ValueError for numbers of clusters below one and empty choices."""
        if self.max_clusters < 1 or (self.n_clusters is not None and self.n_clusters < 1):
            raise ValueError("the number of clusters must be at least 1")
        if not self.feature_kinds or not self.rules:
            raise ValueError("at least one kind of features and one rule must be allowed")

    def with_default(self, default: AnyMapping | None) -> "TrainingOptions":
        """Return the options with another default."""
        return msgspec.structs.replace(self, default=default)


THESIS = TrainingOptions()
"""As in the thesis (sec. 6): run times on a linear scale, a cluster by two probes, its centroid's best mapping. Which
probes, how many clusters and how features are scaled is chosen by cross-validation instead of by hand."""
