"""Choose the number of clusters, the two probes, their features and the rule by cross-validation.

Every group of programs is left out in turn; the others are clustered and every pair of candidate mappings is tried as
probes. A choice's score is the geometric mean of the speedups over the default that the left-out programs get. All
pairs are scored at once: 200 candidates (40,000 pairs) and 24 programs take about a second, so none is skipped.

The best of a million scores on a few dozen programs is mostly luck. So the probes are those whose score is best on
average over all rules and numbers of clusters; only then are the rule and the number chosen, for these probes.
Held out and averaged over scales and rankings, that captured more of the gain than the best single score on two of
three measured machines and on both synthetic sets of programs, and about as much on the third machine.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.mapping import AnyMapping
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning.clustering import Array, Labels, centroid_members, cut, ward_linkage
from numapredict.predictor.learning.features import Observations, clustering_rows
from numapredict.predictor.learning.options import FeatureKind, Ranking, Rule, TrainingOptions
from numapredict.predictor.learning.probes import MIN_DEVIATION, bandwidth_floor

Grid = npt.NDArray[np.float32]

CLUSTER_COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
"""The numbers of clusters that are tried: neighbours among the large ones hardly differ."""

MOST_COMPARED = 512
"""Of more programs, whole groups drawn at random are compared: leaving out every group and clustering the others takes
time in the cube of their number."""

TOLERANCE = 1e-3
"""Scores this close in log2 (0.07%) count as equal: then cheaper probes and fewer clusters win."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What cross-validation chose, and the geometric mean speedup that the left-out programs got with it."""

    n_clusters: int
    kind: FeatureKind
    rule: Rule
    first: AnyMapping
    second: AnyMapping
    speedup: float


@dataclass(frozen=True, eq=False)
class Cuts:
    """One merge tree cut at several numbers of clusters, and the mapping chosen for each cluster.

    For every cut ``labels`` holds int64[training programs] and ``choices`` int64[clusters], columns of mappings.
    """

    labels: tuple[Labels, ...]
    choices: tuple[Labels, ...]


def mapping_costs(time_s: Array, default: int, rows: Array, labels: Labels, ranking: Ranking) -> Array:
    """Return float64[clusters, mappings]: the log2 times over the default's that order each cluster's mappings."""
    relative = np.log2(time_s / time_s[:, [default]])
    if ranking == "centroid":
        return relative[centroid_members(rows, labels)]
    weight = 1.0 if ranking == "pooled" else 0.0
    everyone = weight * relative.mean(axis=0)
    inside = [relative[labels == cluster] for cluster in range(labels.max() + 1)]
    return np.array([(part.sum(axis=0) + everyone) / (len(part) + weight) for part in inside])


@dataclass(frozen=True, eq=False)
class Scores:
    """Every choice's mean log2 gain over the default, float64[kinds, rules, counts, candidates, candidates]."""

    kinds: tuple[FeatureKind, ...]
    counts: tuple[int, ...]
    candidates: tuple[int, ...]
    log2_gain: Array


def select(observations: Observations, default: int, options: TrainingOptions) -> Choice:
    """Return the best choice inside these observations; InsufficientDataError with fewer than two candidates."""
    observations = observations.rows(compared_rows(observations.groups, MOST_COMPARED))
    scores = score_choices(observations, default, options)
    at = _best(scores, _probe_costs(observations, default, scores.candidates))
    return Choice(
        n_clusters=scores.counts[at[2]],
        kind=scores.kinds[at[0]],
        rule=options.rules[at[1]],
        first=observations.mappings[scores.candidates[at[3]]],
        second=observations.mappings[scores.candidates[at[4]]],
        speedup=float(2 ** scores.log2_gain[at]),
    )


def compared_rows(groups: Sequence[str], most: int) -> Labels:
    """Return the rows of groups drawn at random, the same each time, with at most so many programs but two groups.

    int64[rows], in their order; all of them if they are no more.
    """
    if len(groups) <= most:
        return np.arange(len(groups))
    _, group, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    order = np.random.default_rng(1).permutation(len(sizes))
    drawn = order[: max(int(np.searchsorted(sizes[order].cumsum(), most, side="right")), 2)]
    return np.flatnonzero(np.isin(group, drawn))


def score_choices(observations: Observations, default: int, options: TrainingOptions) -> Scores:
    """Leave every group out in turn and score all choices; a group counts once, however many variants it holds."""
    candidates = _candidates(observations, options)
    counts = tuple(k for k in CLUSTER_COUNTS if k <= min(options.max_clusters, len(observations.programs)))
    if options.n_clusters is not None:
        counts = (options.n_clusters,)
    kinds = _kinds(observations, options)
    scores = np.zeros((len(kinds), len(options.rules), len(counts), len(candidates), len(candidates)))
    groups = np.array(observations.groups)
    names = np.unique(groups)
    for name in names if len(names) > 1 else ():  # a single group leaves nothing to test on
        outside, train = np.flatnonzero(groups == name), np.flatnonzero(groups != name)
        cuts = _cuts(observations.time_s[train], default, counts, options)
        for kind_index, kind in enumerate(kinds):
            fold = _Fold(observations, train, candidates, kind)
            for row in outside:
                gains = np.log2(observations.time_s[row, default] / observations.time_s[row])
                for rule_index, rule in enumerate(options.rules):
                    for count_index, grid in fold.gains(int(row), cuts, gains, rule):
                        scores[kind_index, rule_index, count_index] += grid / (len(outside) * len(names))
    return Scores(kinds, counts, candidates, scores)


def _kinds(observations: Observations, options: TrainingOptions) -> tuple[FeatureKind, ...]:
    """Return the kinds of features that the observations allow; without counters only run times."""
    if observations.local_bandwidth_GBps is not None:
        return options.feature_kinds
    return ("times",)


def _candidates(observations: Observations, options: TrainingOptions) -> tuple[int, ...]:
    if options.probe_candidates:
        columns = [observations.column(each) for each in dict.fromkeys(options.probe_candidates)]
    else:
        columns = list(range(len(observations.mappings)))
    if len(columns) < 2:
        raise InsufficientDataError("two probes need at least two mappings measured for all programs: collect more")
    return tuple(columns)


def _cuts(time_s: Array, default: int, counts: tuple[int, ...], options: TrainingOptions) -> Cuts:
    """Cluster the training programs once and cut the tree at every count."""
    rows = clustering_rows(time_s, default, options.scale)
    tree = ward_linkage(rows)
    labels = tuple(cut(tree, count) for count in counts)
    return Cuts(
        labels, tuple(mapping_costs(time_s, default, rows, each, options.ranking).argmin(axis=1) for each in labels)
    )


def _probe_costs(observations: Observations, default: int, candidates: tuple[int, ...]) -> Array:
    """Return float64[candidates, candidates]: the time of both probes over the default's, on geometric average."""
    relative = observations.time_s[:, list(candidates)] / observations.time_s[:, [default]]
    mean = np.exp(np.log(relative).mean(axis=0))
    pairs: Array = mean[:, None] + mean[None, :]
    return pairs


def _best(scores: Scores, costs: Array) -> tuple[int, int, int, int, int]:
    """Return the index of the choice: first the features and two different probes, then the rule and the count."""
    telling = [index for index, count in enumerate(scores.counts) if count > 1] or [0]  # one cluster needs no probes
    average = scores.log2_gain[:, :, telling].mean(axis=(1, 2))
    average[:, np.eye(len(costs), dtype=bool)] = -np.inf
    cost = np.where(average >= average.max() - TOLERANCE, costs, np.inf)
    kind, first, second = (int(i) for i in np.unravel_index(int(cost.argmin()), cost.shape))
    left = scores.log2_gain[kind, :, :, first, second]
    good = left >= left.max() - TOLERANCE
    count = int(np.flatnonzero(good.any(axis=0))[0])
    return kind, int(left[:, count].argmax()), count, first, second


class _Fold:
    """The probe features of one fold, for all pairs of candidates at once; with scales of its training programs."""

    def __init__(
        self, observations: Observations, train: Labels, candidates: tuple[int, ...], kind: FeatureKind
    ) -> None:
        self.kind = kind
        self.train = train
        time_s = observations.time_s[:, list(candidates)]
        bandwidth = None
        if kind != "times" and observations.local_bandwidth_GBps is not None:
            bandwidth = observations.local_bandwidth_GBps[:, list(candidates)]
        self.second: Array | None = None
        self.inverse: Grid | None = None
        if kind == "thesis":
            assert bandwidth is not None  # noqa: S101 - select() offers this kind only where bandwidth is known
            self.first = time_s / _positive(time_s[train].max(axis=0))
            self.second = bandwidth / _positive(bandwidth[train].max(axis=0))
            return
        self.first = np.log2(time_s)
        covariance = np.atleast_2d(np.cov(self.first[train], rowvar=False, bias=True))
        variance = np.diag(covariance)
        ratio = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0))
        self.inverse = (1 / np.maximum(ratio, MIN_DEVIATION)).astype(np.float32)
        if bandwidth is not None:
            logs = np.log2(np.maximum(bandwidth, bandwidth_floor(bandwidth[train])))
            self.second = logs / np.maximum(logs[train].std(axis=0), MIN_DEVIATION)

    def gains(self, row: int, cuts: Cuts, gains: Array, rule: Rule) -> Iterator[tuple[int, Grid]]:
        """Yield, for every cut, the log2 gain that the left-out program gets with each pair of probes."""
        if rule == "member":
            nearest = self._nearest(row, np.eye(len(self.train)))
            for index, (labels, choices) in enumerate(zip(cuts.labels, cuts.choices, strict=True)):
                yield index, gains[choices[labels]].astype(np.float32)[nearest]
            return
        for index, (labels, choices) in enumerate(zip(cuts.labels, cuts.choices, strict=True)):
            inside = labels[None, :] == np.arange(labels.max() + 1)[:, None]
            yield index, gains[choices].astype(np.float32)[self._nearest(row, inside / inside.sum(axis=1)[:, None])]

    def _nearest(self, row: int, weights: Array) -> npt.NDArray[np.intp]:
        """Return intp[first, second]: the weighted mean of training programs nearest to the program."""
        first = (self.first[row] - weights @ self.first[self.train]).astype(np.float32)
        second = None
        if self.second is not None:
            second = ((self.second[row] - weights @ self.second[self.train]) ** 2).astype(np.float32)
        width = first.shape[1]
        best = np.full((width, width), np.inf, dtype=np.float32)
        nearest = np.zeros((width, width), dtype=np.intp)
        for target in range(len(weights)):
            if self.inverse is None:
                distance = np.broadcast_to(first[target, :, None] ** 2, best.shape).copy()
            else:
                distance = first[target, :, None] - first[target, None, :]
                distance *= self.inverse
                distance *= distance
            if second is not None:
                distance += second[target]
            closer = distance < best
            np.copyto(best, distance, where=closer)
            nearest[closer] = target
        return nearest


def _positive(values: Array) -> Array:
    """Return the values with 1 in place of 0, as divisors."""
    return np.where(values > 0, values, 1.0)
