import msgspec
import numpy as np
import pytest

from numapredict.collect.source.place import Frame, Place
from numapredict.predictor.variables.time_cost import RunSaving, TimeCost, run_saving, time_cost_of

LOOP = Place("app", 7, (Frame("main", "app.c", 7),))


def cost(share: float, lowest: float, highest: float) -> TimeCost:
    return TimeCost(share=share, lowest=lowest, highest=highest, rounds=3)


def test_the_share_is_the_middle_round_and_each_region_has_its_own() -> None:
    before = [{"a": 3.0, "b": 1.0}, {"a": 6.0, "b": 2.0}, {"a": 3.0, "b": 1.0}]
    after = [{"a": 1.0, "b": 1.0}, {"a": 3.0, "b": 2.0}, {"a": 3.0, "b": 0.9}]
    found = time_cost_of(before, after, {"a": LOOP})
    assert found is not None
    assert (found.share, found.lowest, found.highest, found.rounds) == (0.375, 0.025, 0.5, 3)
    assert [(one.place, one.share, one.of_all) for one in found.regions] == [(LOOP, 0.5, 0.375)]


def test_a_region_that_takes_longer_counts_against_the_others() -> None:
    found = time_cost_of([{"a": 2.0, "b": 2.0}], [{"a": 1.0, "b": 3.5}], {})
    assert found is not None
    assert found.share == -0.125
    assert [(one.share, one.of_all) for one in found.regions] == [(-0.75, -0.375), (0.5, 0.25)]


def test_the_region_with_most_of_it_comes_first() -> None:
    found = time_cost_of([{"a": 2.0, "b": 6.0}], [{"a": 1.0, "b": 3.0}], {})
    assert found is not None
    assert [one.of_all for one in found.regions] == [0.375, 0.125]


def test_without_time_in_regions_there_is_no_share_of_it() -> None:
    assert time_cost_of([{"a": 0.0}], [{"a": 0.0}], {}) is None
    assert time_cost_of([], [], {}) is None


@pytest.mark.parametrize(
    ("found", "is_worth"),
    [
        (cost(0.2, 0.1, 0.3), True),
        (cost(0.2, 0.0, 0.3), False),
        (cost(0.2, -0.1, 0.3), False),
        (cost(0.01, 0.01, 0.01), True),
        (cost(0.0099, 0.009, 0.01), False),
    ],
)
def test_a_change_is_worth_it_if_each_round_gains_and_by_enough(found: TimeCost, is_worth: bool) -> None:
    assert found.is_worth == is_worth


def test_no_share_is_told_without_its_range() -> None:
    assert cost(0.25, 0.2, 0.31).in_words == "25.0% (20.0% to 31.0%) of the time in parallel regions"
    modelled = TimeCost(share=0.25, lowest=0.25, highest=0.25, rounds=1)  # 1.33x, within a factor of 1.2
    assert modelled.in_words == "25.0% (10.0% to 37.5%) of the time in parallel regions"


def test_the_whole_run_leads_where_it_was_timed() -> None:
    run = RunSaving(2.0, 0.125, 0.1, 0.15)
    timed = msgspec.structs.replace(cost(0.25, 0.2, 0.31), run=run)
    assert timed.in_words == "12.5% (10.0% to 15.0%) of the run's time, 0.25 s of 2 s"
    assert timed.regions_in_words == "25.0% (20.0% to 31.0%) of the time in parallel regions"
    assert (timed.saved, timed.is_worth) == (0.125, True)
    unsure = msgspec.structs.replace(timed, run=RunSaving(2.0, 0.125, -0.01, 0.25))
    assert (unsure.is_sure, unsure.is_worth) == (False, False)
    little = msgspec.structs.replace(timed, run=RunSaving(2.0, 0.009, 0.008, 0.01))
    assert (little.is_sure, little.is_worth) == (True, False)


def test_a_further_pair_of_runs_should_be_within_the_range_in_nine_of_ten_cases() -> None:
    ranges, hits, draws = np.random.default_rng(1), 0, 400
    for _ in range(draws):
        before, after = 1 * ranges.lognormal(0, 0.02, 4), 0.8 * ranges.lognormal(0, 0.02, 4)
        found = run_saving(before[:3].tolist(), after[:3].tolist(), (before - after)[:3].tolist())
        assert found is not None
        hits += found.low <= 1 - after[3] / before[3] <= found.high
    assert 0.86 < hits / draws < 0.94


def test_equal_rounds_have_no_width_and_one_round_has_no_range() -> None:
    assert run_saving([2.0, 4.0], [1.0, 2.0], [1.0, 2.0]) == RunSaving(3.0, 0.5, 0.5, 0.5)
    assert run_saving([2.0], [1.0], [1.0]) is None


def test_the_range_allows_for_a_serial_part_as_long_as_before() -> None:
    assert run_saving([4.0, 4.0], [3.0, 3.0], [2.0, 2.0]) == RunSaving(4.0, 0.25, 0.25, 0.5)
    assert run_saving([4.0, 4.0], [2.0, 2.0], [1.0, 1.0]) == RunSaving(4.0, 0.5, 0.25, 0.5)  # it is shorter
    assert run_saving([4.0, 4.0], [2.0, 2.0], [5.0, 5.0]) == RunSaving(4.0, 0.5, 0.5, 0.5)
