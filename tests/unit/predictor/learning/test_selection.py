import dataclasses
import itertools

import msgspec
import numpy as np
import pytest

from numapredict.collect.mapping import mapping_named
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning import selection
from numapredict.predictor.learning.clustering import cut, ward_linkage
from numapredict.predictor.learning.features import Observations, clustering_rows, observe
from numapredict.predictor.learning.options import Ranking, Scale, TrainingOptions
from numapredict.predictor.learning.probes import cluster_distances, learn_scales, scaled_features
from numapredict.predictor.learning.selection import compared_rows, mapping_costs, score_choices, select
from numapredict.predictor.learning.train import probe_readings
from tests.planted import planted_dataset

DEFAULT = mapping_named("32x4-contiguous-first-touch")
OTHERS = ("8x1-contiguous-bind", "16x2-contiguous-locality", "32x4-contiguous-balance")
CANDIDATES = (*map(mapping_named, OTHERS), DEFAULT)


def noisy(programs: int, seed: int = 3) -> Observations:
    """Return observations without structure, so that nothing agrees by chance."""
    observations = observe(planted_dataset(programs, jitter=0.5))
    noise = np.exp(np.random.default_rng(seed).normal(0, 0.4, observations.time_s.shape))
    return dataclasses.replace(observations, time_s=observations.time_s * noise)


@pytest.mark.thorough
@pytest.mark.parametrize(("ranking", "scale"), [("centroid", "linear"), ("pooled", "log")])
def test_scoring_all_pairs_at_once_equals_doing_one_after_the_other(ranking: Ranking, scale: Scale) -> None:
    observations = noisy(9)
    default = observations.column(DEFAULT)
    options = TrainingOptions(
        probe_candidates=CANDIDATES,
        max_clusters=4,
        ranking=ranking,
        scale=scale,
        feature_kinds=("ratio", "thesis", "times"),
    )
    scores = score_choices(observations, default, options)
    for c, count in enumerate(scores.counts):
        learned = []
        for row in range(9):
            train = observations.rows(other for other in range(9) if other != row)
            rows = clustering_rows(train.time_s, default, scale)
            labels = cut(ward_linkage(rows), count)
            learned.append((train, labels, mapping_costs(train.time_s, default, rows, labels, ranking).argmin(axis=1)))
        for (a, kind), (b, rule), ((i, first), (j, second)) in itertools.product(
            enumerate(scores.kinds), enumerate(options.rules), itertools.permutations(enumerate(CANDIDATES), 2)
        ):
            gains = []
            for row, (train, labels, chosen) in enumerate(learned):
                readings = probe_readings(train, first, second)
                scales = learn_scales(kind, readings)
                asked = scaled_features(scales, probe_readings(observations.rows([row]), first, second))
                cluster = cluster_distances(rule, asked, scaled_features(scales, readings), labels)[0].argmin()
                gains.append(np.log2(observations.time_s[row, default] / observations.time_s[row, chosen[cluster]]))
            assert scores.log2_gain[a, b, c, i, j] == pytest.approx(np.mean(gains), abs=1e-6), (kind, rule, count)


def test_planted_kinds_are_distinguished() -> None:
    observations = observe(planted_dataset(15))
    choice = select(observations, observations.column(DEFAULT), TrainingOptions())
    oracle = np.exp(
        np.log(observations.time_s[:, observations.column(DEFAULT)] / observations.time_s.min(axis=1)).mean()
    )
    assert choice.n_clusters >= 3
    assert choice.first != choice.second
    assert choice.speedup == pytest.approx(oracle, rel=0.02)


def test_without_counters_only_times_are_used() -> None:
    observations = observe(planted_dataset(10, counters=False))
    assert select(observations, observations.column(DEFAULT), TrainingOptions()).kind == "times"


def test_options_bound_the_choice() -> None:
    observations = observe(planted_dataset(10))
    options = TrainingOptions(n_clusters=3, feature_kinds=("thesis",), rules=("member",), probe_candidates=CANDIDATES)
    choice = select(observations, observations.column(DEFAULT), options)
    assert (choice.n_clusters, choice.kind, choice.rule) == (3, "thesis", "member")
    assert {choice.first, choice.second} <= set(CANDIDATES)


def test_variants_of_one_group_are_left_out_together() -> None:
    dataset = planted_dataset(10)
    grouped = tuple(msgspec.structs.replace(p, group=p.name.rsplit("-", 1)[0]) for p in dataset.programs)
    observations = observe(msgspec.structs.replace(dataset, programs=grouped))
    default = observations.column(DEFAULT)
    alone = select(observe(dataset), default, TrainingOptions())
    together = select(observations, default, TrainingOptions())
    assert together.speedup < alone.speedup, "with its twin left out too, a program is harder to place"


def test_one_program_still_gets_a_choice() -> None:
    observations = observe(planted_dataset(1))
    choice = select(observations, observations.column(DEFAULT), TrainingOptions())
    assert choice.n_clusters == 1
    assert choice.first != choice.second


def test_one_candidate_is_too_few() -> None:
    observations = observe(planted_dataset(3))
    with pytest.raises(InsufficientDataError, match="two probes"):
        select(observations, observations.column(DEFAULT), TrainingOptions(probe_candidates=(DEFAULT,)))


def test_mapping_costs_by_hand() -> None:
    times = np.array([[1.0, 0.5, 2.0], [1.0, 0.5, 0.25], [1.0, 4.0, 4.0]])
    rows = np.array([[0.0], [1.0], [9.0]])
    labels = np.array([0, 0, 1])
    assert mapping_costs(times, 0, rows, labels, "centroid").tolist() == [[0, -1, 1], [0, 2, 2]]
    assert mapping_costs(times, 0, rows, labels, "members").tolist() == [[0, -1, -0.5], [0, 2, 2]]
    # The mean over all is (0, 0, 1/3): it counts as one more member of each cluster.
    assert mapping_costs(times, 0, rows, labels, "pooled") == pytest.approx(
        np.array([[0, -2 / 3, -2 / 9], [0, 1, 7 / 6]])
    )


def test_of_more_programs_than_can_be_compared_whole_groups_are_drawn_the_same_each_time() -> None:
    groups = [f"g{n % 40}" for n in range(200)]
    rows = compared_rows(groups, 52)
    assert 40 < len(rows) <= 52
    drawn = {groups[row] for row in rows}
    assert rows.tolist() == [row for row, group in enumerate(groups) if group in drawn]
    assert compared_rows(groups, 52).tolist() == rows.tolist()
    assert compared_rows(groups, 200).tolist() == list(range(200))


def test_two_large_groups_are_compared_even_if_each_has_too_many_programs() -> None:
    assert len({"abc"[row // 50] for row in compared_rows(["a"] * 50 + ["b"] * 50 + ["c"] * 50, 10)}) == 2


def test_what_is_chosen_from_many_programs_is_what_is_chosen_from_those_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    observations = noisy(24)
    default = observations.column(DEFAULT)
    options = TrainingOptions(probe_candidates=CANDIDATES, max_clusters=4)
    drawn = observations.rows(compared_rows(observations.groups, 10))
    assert len(drawn.programs) == 10
    wanted = select(drawn, default, options)
    monkeypatch.setattr(selection, "MOST_COMPARED", 10)
    assert select(observations, default, options) == wanted != select(noisy(10, seed=4), default, options)
