import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.modelled.instance_classes import (
    InstanceClasses,
    classes_of_regions,
    instance_classes,
    instances_to_trace,
)
from numapredict.collect.placing.census import Census, CensusRegion

NOISE = np.random.default_rng(7)
CYCLE = (64.0, 8.0, 1.0, 8.0)  # work of the levels of a multigrid solver, in ms


def region(work_ms: list[float], count: int = 0, key: int = 1, share: float = 1.0) -> CensusRegion:
    """Return a region with this listed work; ``share``: its native time over the work."""
    work_s = tuple(work * 1e-3 for work in work_ms)
    return CensusRegion(key, count or len(work_s), sum(work_s) * share, 0, 2, "app", work_s=work_s)


def census(*regions: CensusRegion) -> Census:
    return Census(regions, sum(found.time_s for found in regions), 0.0, complete=True)


def classes(work_ms: list[float], count: int = 0) -> InstanceClasses:
    found = instance_classes(region(work_ms, count))
    assert found is not None
    return found


def test_levels_of_different_size_are_classes() -> None:
    found = classes([*CYCLE] * 25)
    assert found.of[:9] == (0, 2, 1, 2, 3, 2, 1, 2, 3)
    assert found.count == (1, 25, 50, 24)
    assert found.work_s == pytest.approx((0.064, 0.025, 0.4, 24 * 0.064))


def test_noise_does_not_split_a_class_or_join_two() -> None:
    work = np.array([*CYCLE] * 100) * NOISE.lognormal(0, 0.2, 400)
    assert classes(work.tolist()).of == classes([*CYCLE] * 100).of
    assert instance_classes(region((10 * NOISE.lognormal(0, 0.2, 400)).tolist())) is None


def test_a_handful_of_disturbed_instances_is_no_class() -> None:
    work = np.full(400, 1.0)
    work[[50, 120]] = 80.0
    assert instance_classes(region(work.tolist())) is None
    work[[60, 180, 240, 300, 320, 333, 352, 390]] = 80.0
    assert instance_classes(region(work.tolist())) is not None


def test_a_rare_class_that_matters_in_time_counts_and_one_that_does_not_is_left_out() -> None:
    assert classes([*[1.0] * 9, 20.0] * 20).count == (1, 179, 20)
    assert instance_classes(region([*[20.0] * 49, 1.0] * 4)) is None


def test_the_first_instance_makes_no_class_and_few_instances_none() -> None:
    assert instance_classes(region([90.0, *[1.0] * 50])) is None
    assert instance_classes(region([1.0, 9.0] * 2)) is None
    assert instance_classes(region([])) is None
    assert instance_classes(region([0.0] * 20)) is None


def test_instances_after_those_listed_are_of_the_same_classes() -> None:
    found = classes([5.0, *[1.0, 9.0] * 10], count=201)
    assert found.count == (1, 100, 100)
    assert found.work_s == pytest.approx((0.005, 0.1, 0.9))


def test_sizes_without_gaps_are_classes_of_about_a_size() -> None:
    work = 1 + 9 * (0.5 + 0.5 * np.sin(np.arange(200) / 6))
    found = classes(work.tolist())
    for n in range(1, len(found.count)):
        mine = work[np.array(found.of) == n]
        assert mine.max() / mine.min() < 5
    assert len(found.count) > 2


def test_a_trace_goes_on_until_it_has_instances_of_every_class() -> None:
    found = classes([*CYCLE] * 25)
    assert found.first_instances(1) == 5
    assert found.first_instances(2) == 9
    assert found.first_instances(3) == 13
    assert found.first_instances(1000) == 100


def test_where_instances_are_alike_the_usual_number_is_traced() -> None:
    made = census(region([1.0] * 50, key=1), region([1.0] * 2, key=2))
    assert instances_to_trace(made, 3, 40.0) == {1: 3, 2: 2}


def test_more_is_traced_as_far_as_the_time_allows() -> None:
    work = [*CYCLE] * 25
    assert instances_to_trace(census(region(work)), 3, 1e6) == {1: 97}
    assert instances_to_trace(census(region(work)), 3, 1.0) == {1: 3}
    tiny = [level * 1e-3 for level in work]
    assert instances_to_trace(census(region(tiny)), 3, 0.4) == {1: 13}


def test_regions_of_no_weight_have_no_classes() -> None:
    heavy, light = region([1e4] * 50, key=1), region([*CYCLE] * 25, key=2)
    assert set(classes_of_regions(census(light))) == {2}
    assert classes_of_regions(census(heavy, light)) == {}


def test_traced_instances_stand_for_their_class() -> None:
    found = classes([*CYCLE] * 25)
    # The first, then of each class the first half for itself and the others for the rest: 1, 8 and 64 ms.
    first = np.arange(13)
    assert found.parts(first).tolist() == [0, 3, 1, 3, 5, 3, 2, 4, 6, 4, 2, 4, 6]
    assert found.stands_for(first).tolist() == [1, 1, 24 / 2, 1, 47 / 3, 1, 23 / 2]
    assert found.share_of(first) == 1


def test_a_class_that_was_not_traced_is_filled_in_by_native_work() -> None:
    found = classes([*CYCLE] * 25)
    first = np.arange(4)  # none of 64 ms but the first
    seen, whole = 0.064 + 0.4 + 0.025, 0.064 * 25 + 0.4 + 0.025
    assert found.share_of(first) == pytest.approx(seen / whole)
    work = np.array(found.work_s) / np.array(found.count)
    each = found.stands_for(first)[found.parts(first)]
    assert (each * work[np.array(found.of)[first]]).sum() == pytest.approx(whole)
    assert (found.stands_for(first, serial=True)[found.parts(first)]).sum() == pytest.approx(100)


def test_next_to_nothing_of_the_work_stands_for_the_number_of_instances_only() -> None:
    found = classes([*[1.0] * 20, *[1000.0] * 20])
    first = np.arange(4)  # of 1 ms, with 0.1% of the work: by work they would stand for 20,000 instances
    assert found.stands_for(first)[found.parts(first)].sum() == pytest.approx(40)


@given(
    st.lists(st.floats(0, 1e6, allow_subnormal=False), max_size=80),
    st.integers(0, 100),
    st.integers(1, 80),
)
def test_traced_instances_stand_for_all(work_ms: list[float], more: int, traced: int) -> None:
    found = instance_classes(region(work_ms, len(work_ms) + more))
    if found is None:
        return
    first = np.arange(min(traced, len(work_ms)))
    each = found.stands_for(first)
    assert np.isfinite(each).all()
    assert (each >= 0).all()
    if len(set(found.of)) == len({found.of[n] for n in first}):
        assert each[found.parts(first)].sum() == pytest.approx(len(work_ms) + more)
    assert 0 <= found.share_of(first) <= 1
