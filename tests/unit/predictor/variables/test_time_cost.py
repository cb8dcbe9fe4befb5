import pytest

from numapredict.collect.source.place import Frame, Place
from numapredict.predictor.variables.time_cost import TimeCost, time_cost_of

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


def test_the_rounds_are_told_where_there_are_several() -> None:
    assert cost(0.25, 0.2, 0.31).in_words == "25.0% (20.0% to 31.0%)"
    assert TimeCost(share=0.25, lowest=0.25, highest=0.25, rounds=1).in_words == "25.0%"
