import numpy as np
import pytest

from numapredict.predictor.variables.first_touch import (
    FirstTouches,
    elsewhere_share,
    first_threads,
    manner_of,
    schedule_in,
)
from tests.unit.predictor.variables.test_pattern import PAGES, sampled, touches

PAGE = sampled(1000)
BLOCKS = touches(PAGE, PAGE * 4 // PAGES)
EACH = range(4)


@pytest.mark.parametrize(
    ("threads", "in_region", "schedule", "manner"),
    [
        ((0, 0), False, "", "one thread"),
        ((0, 0, 3), False, "", "one thread"),
        ((0, 3), False, "", "equal blocks"),
        ((0,), True, "", "equal blocks"),
        ((2,), False, "", "equal blocks"),
        ((0,), True, "static", "equal blocks"),
        ((0,), True, "static,1", "in turn"),
        ((1,), True, "dynamic", "in turn"),
        ((-1, -1), False, "", "supposed"),
        ((0,), None, "", "supposed"),
        ((2,), None, "", "equal blocks"),
    ],
)
def test_the_manner_follows_from_thread_and_loop(
    threads: tuple[int, ...], in_region: bool | None, schedule: str, manner: str
) -> None:
    assert manner_of(threads, in_region, schedule) == manner


def test_schedules_are_read_from_directives() -> None:
    said = {
        "#pragma omp parallel for": "",
        "#pragma omp for schedule(static)": "static",
        "#pragma omp for schedule( Dynamic , 16 ) nowait": "dynamic,16",
        "!$omp do schedule(monotonic: guided, 4)": "guided,4",
        "#pragma omp for schedule(static, N / 2)": "static,N / 2",
    }
    assert {text: schedule_in(text) for text in said} == said


def share(first: FirstTouches, nodes: object = EACH) -> float:
    return elsewhere_share(BLOCKS, first_threads(BLOCKS, first, 4), list(nodes))  # type: ignore[call-overload]


def test_blocks_after_a_serial_loop_are_elsewhere_but_for_that_threads() -> None:
    assert share(FirstTouches((0,), "one thread")) == pytest.approx(0.75, abs=0.04)
    assert share(FirstTouches((0,), "one thread"), (0, 0, 1, 1)) == pytest.approx(0.5, abs=0.04)
    assert share(FirstTouches((-1,), "supposed")) == share(FirstTouches((0,), "one thread"))


def test_blocks_after_a_parallel_loop_are_where_they_are_used() -> None:
    assert share(FirstTouches((0,), "equal blocks")) == 0
    assert share(FirstTouches((0,), "in turn")) == pytest.approx(0.75)
    assert share(FirstTouches((0,), "in turn"), (0, 0, 1, 1)) == pytest.approx(0.5)


def test_of_many_ranges_each_has_its_own_thread() -> None:
    rows = touches(PAGE, PAGE * 4 // PAGES, ranges=16)
    by_blocks = FirstTouches(tuple(row * 4 // 16 for row in range(16)), "equal blocks")
    assert elsewhere_share(rows, first_threads(rows, by_blocks, 4), [*EACH]) == 0
    in_turn = FirstTouches(tuple(row % 4 for row in range(16)), "in turn")
    assert elsewhere_share(rows, first_threads(rows, in_turn, 4), [*EACH]) == pytest.approx(0.75, abs=0.05)


def test_weights_count_and_not_rows() -> None:
    one = touches(np.array([0, 1]), np.array([0, 1]), pages=2)
    one.weight[:] = (3.0, 1.0)
    assert elsewhere_share(one, np.array([0, 0]), [*EACH]) == 0.25
    one.weight[:] = 0.0
    assert elsewhere_share(one, np.array([0, 0]), [*EACH]) == 0.0


def test_allocations_that_each_have_another_first_thread_are_each_that_threads() -> None:
    page = np.array([0, 1, 2, 3])
    mine = touches(page, np.array([0, 0, 2, 2]), pages=4, ranges=2)
    assert list(first_threads(mine, FirstTouches((0, 2), "equal blocks"), 4)) == [0, 0, 2, 2]
    assert list(first_threads(mine, FirstTouches((0, 0), "equal blocks"), 4)) != [0, 0, 2, 2]
