import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from numapredict.predictor.learning.few_runs import LEAST_MAPPINGS
from numapredict.predictor.learning.pivots import Split, pilot_groups, pivot_columns, split_budget


@given(st.integers(1, 20_000), st.lists(st.integers(1, 4), min_size=2, max_size=40), st.integers(4, 200))
def test_a_budget_is_never_overspent(runs: int, sizes: list[int], mappings: int) -> None:
    programs = sum(sizes)
    least = max(sizes) * mappings + (programs - max(sizes)) * LEAST_MAPPINGS
    split = split_budget(runs, sizes, mappings)
    if split is None:
        assert runs < least
        return
    assert runs >= least
    pilots = min(split.pilots * max(sizes), programs)
    assert 1 <= split.pilots <= len(sizes)
    assert LEAST_MAPPINGS <= split.mappings <= mappings
    if pilots < programs:
        assert pilots * mappings + (programs - pilots) * split.mappings <= runs


def test_by_hand() -> None:
    # 1000 runs, 60 codes of 2 programs, 100 mappings: 0.4 of them are 2 codes, the rest 600 / 116 mappings.
    assert split_budget(1000, [2] * 60, 100) == Split(pilots=2, mappings=5)


def test_the_mappings_that_help_the_pilots_most_come_first() -> None:
    # b helps two pilots a little, c one of them much, d is c again, e hurts everybody differently.
    gains = np.array([[0, 0.5, 2.0, 2.0, -1.0], [0, 0.5, -1.0, -1.0, -3.0], [0, 0.0, 0.0, 0.0, -5.0]])
    assert pivot_columns(gains, 3, 0).tolist() == [0, 2, 1]
    assert pivot_columns(gains, 4, 0).tolist() == [0, 2, 1, 4]  # d adds nothing; e is the most different
    assert sorted(pivot_columns(gains, 99, 0).tolist()) == [0, 1, 2, 3, 4]


def test_a_larger_budget_takes_more_of_the_same() -> None:
    gains = np.random.default_rng(2).normal(0, 1, (5, 40))
    gains[:, 7] = 0
    longest = pivot_columns(gains, 30, 7).tolist()
    for count in (1, 5, 17):
        assert pivot_columns(gains, count, 7).tolist() == longest[:count]
    assert longest[0] == 7
    assert len(set(longest)) == 30


def test_pilots_are_the_same_each_time_and_whole_groups() -> None:
    groups = ["a", "a", "b", "c", "c", "d"]
    assert pilot_groups(groups, 2) == pilot_groups(groups, 2)
    assert set(pilot_groups(groups, 2)) < set(pilot_groups(groups, 3)) < {"a", "b", "c", "d"}
    assert {pilot_groups(groups, 1, seed) for seed in range(20)} == {("a",), ("b",), ("c",), ("d",)}


def test_too_small_a_budget_is_not_split() -> None:
    assert split_budget(217, [1] * 60, 41) is None
    assert split_budget(218, [1] * 60, 41) == Split(pilots=1, mappings=LEAST_MAPPINGS)
