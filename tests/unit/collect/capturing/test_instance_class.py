"""Which instances are of one class, and which of them are replayed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.capturing.instance_class import (
    COVERED,
    FACTOR,
    LEAST_INSTANCE_S,
    MOST_CLASSES,
    TRIES,
    classes_of,
    regions_of,
)
from numapredict.collect.placing.census import Census, CensusRegion, InstanceKind


def kind(mean_s: float, count: int, *numbers: int, depth: int = 0, team: int = 2) -> InstanceKind:
    return InstanceKind(depth, team, count, mean_s * count, numbers or tuple(range(count))[:6])


def whole_s(*kinds: InstanceKind) -> float:
    return sum(each.time_s for each in kinds)


def test_the_levels_of_a_v_cycle_are_classes_and_the_finest_hold_most_of_the_time() -> None:
    levels = [kind(0.64 / 4**level, 8 if level else 4, 10 + level, 30 + level) for level in range(7)]
    found = classes_of(levels, whole_s(*levels))
    assert [one.mean_s for one in found] == pytest.approx([each.mean_s for each in levels])
    assert [one.wanted for one in found] == [True, True] + [False] * 5  # 60% and 30%
    assert found[0].instances == (10, 30)
    assert sum(one.share for one in found) == pytest.approx(1)
    assert all(not one.instances for one in found if not one.wanted)


def test_instances_within_a_factor_are_one_class_and_the_fullest_comes_first() -> None:
    spread = [kind(1.0, 1, 3), kind(2.6, 50, 5), kind(3.0, 40, 6), kind(3.7, 30, 7)]
    found = classes_of(spread, whole_s(*spread))
    assert [one.count for one in found] == [120, 1]
    assert found[0].instances == (6, 7)  # first of all as long as the mean, and later ones


def test_callers_and_teams_are_told_apart_unless_there_are_too_many() -> None:
    one, other, small = kind(1.0, 5, depth=64), kind(1.0, 5, depth=128), kind(1.0, 5, team=1)
    assert [each.count for each in classes_of([one, other, small], 15.0)] == [5, 5, 5]
    many = [kind(1.0, 1, n, depth=n) for n in range(2, 3 + MOST_CLASSES)]
    (together,) = classes_of(many, whole_s(*many))
    assert (together.count, together.wanted) == (len(many), True)
    assert together.instances == tuple(range(2, 2 + TRIES))


def test_the_first_instances_are_replayed_only_where_there_are_no_others() -> None:
    def instances(*numbers: int) -> tuple[int, ...]:
        return classes_of([kind(1.0, len(numbers), *numbers)], float(len(numbers)))[0].instances

    assert instances(0, 1, 2, 5) == (2, 5)
    assert instances(0, 1) == (1,)
    assert instances(0) == (0,)
    assert instances(*range(6)) == (2, 3, 4, 5)[:TRIES]


def test_short_instances_and_regions_with_little_time_are_not_wanted() -> None:
    (short,) = classes_of([kind(LEAST_INSTANCE_S / 2, 9)], 1.0)
    assert not short.wanted
    (little,) = classes_of([kind(1.0, 9)], 9.0, is_worth_it=False)
    assert not little.wanted
    assert classes_of([], 1.0) == ()


def region(key: int, time_s: float, *kinds: InstanceKind) -> CensusRegion:
    return CensusRegion(key, sum(each.count for each in kinds), time_s, key, 2, "app", "/bin/app", kinds=kinds)


def test_of_ranks_the_one_with_most_time_counts() -> None:
    one = Census((region(7, 1.0, kind(0.1, 10)), region(8, 0.001, kind(0.001, 1))), 1.0, 0.0, complete=True)
    other = Census((region(7, 3.0, kind(0.3, 10, 4)),), 1.0, 0.0, complete=True)
    first, second = regions_of([one, other])
    assert (first.key, first.module, first.time_s, first.count) == (7, "/bin/app", 3.0, 10)
    assert first.weight == pytest.approx(4 / 4.001)
    assert first.classes[0].instances == (4,)
    assert first.mean_s == pytest.approx(0.3)
    assert not second.classes[0].wanted  # too little of the time
    assert regions_of([]) == ()


KINDS = st.lists(
    st.tuples(st.floats(1e-4, 10), st.integers(1, 50), st.integers(0, 3)).map(lambda t: kind(*t[:2], depth=t[2])),
    min_size=1,
    max_size=30,
)


@given(KINDS)
def test_each_instance_is_of_one_class_and_wanted_ones_hold_most_of_the_time_or_are_as_many_as_may_be(
    kinds: list[InstanceKind],
) -> None:
    time_s = whole_s(*kinds)
    found = classes_of(kinds, time_s)
    assert sum(one.count for one in found) == sum(each.count for each in kinds)
    assert sum(one.share for one in found) == pytest.approx(1)
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)
    wanted = [one for one in found if one.wanted]
    assert sum(one.share for one in wanted) >= COVERED - 1e-9 or len(wanted) == MOST_CLASSES
    assert all(one.instances for one in wanted)
    means = [each.mean_s for each in kinds]
    for one in found:
        assert any(
            mean / FACTOR <= one.mean_s * (1 + 1e-9) and one.mean_s <= mean * FACTOR * (1 + 1e-9) for mean in means
        )
