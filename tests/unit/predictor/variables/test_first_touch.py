import dataclasses

import numpy as np
import pytest

from numapredict.collect.placing.profile_file import FIRST, ProfiledRange
from numapredict.predictor.variables.first_touch import elsewhere_share, first_threads, manner_of, schedule_in
from numapredict.predictor.variables.page_nodes import PageNodes
from numapredict.predictor.variables.touches import Touches
from tests.unit.predictor.variables.test_pattern import PAGES, sampled, touches

PAGE = sampled(1000)
BLOCKS = touches(PAGE, PAGE * 4 // PAGES)
EACH = range(4)


def known(*slots: int, pages: int = 16) -> ProfiledRange:
    """Return a range whose parts of 16 pages were touched first by these threads."""
    firsts = np.array([(16 * part, 16, 16 * part, slot, 0, 0, 2) for part, slot in enumerate(slots)], FIRST)
    return ProfiledRange(1, 1, 0, 0, pages * max(len(slots), 1), 0, 0, "app", 64, firsts=firsts)


@pytest.mark.parametrize(
    ("ranges", "manner"),
    [
        ((known(0, 0, 0, 0), known(0)), "one thread"),
        ((known(3, 3, 3, 3),), "one thread"),
        ((known(0, 0, 1, 1, 2, 2, 3, 3),), "equal blocks"),
        ((known(3, 3, 2, 2, 1, 1, 0, 0),), "equal blocks"),
        ((known(0, 0), known(1, 1), known(2, 2), known(3, 3)), "equal blocks"),
        ((known(0, 1, 2, 3, 0, 1, 2, 3),), "in turn"),
        ((known(),), "supposed"),
        ((known(-1, -1),), "supposed"),
        ((known(-1, 0, -1, 0), known()), "one thread"),
        ((known(*[0] * 39, 3),), "one thread"),
    ],
)
def test_the_manner_is_what_was_seen(ranges: tuple[ProfiledRange, ...], manner: str) -> None:
    assert manner_of(ranges) == manner


def test_schedules_are_read_from_directives() -> None:
    said = {
        "#pragma omp parallel for": "",
        "#pragma omp for schedule(static)": "static",
        "#pragma omp for schedule( Dynamic , 16 ) nowait": "dynamic,16",
        "!$omp do schedule(monotonic: guided, 4)": "guided,4",
        "#pragma omp for schedule(static, N / 2)": "static,N / 2",
    }
    assert {text: schedule_in(text) for text in said} == said


def share(first: np.ndarray, nodes: object = EACH) -> float:
    rows = dataclasses.replace(BLOCKS, first=first)
    node_of = tuple(nodes)  # type: ignore[call-overload]
    return elsewhere_share(rows, PageNodes(node_of).homes(rows, first_threads(rows)), node_of)


def test_blocks_after_a_serial_loop_are_elsewhere_but_for_that_threads() -> None:
    serial = np.zeros(len(PAGE), dtype=np.int64)
    assert share(serial) == pytest.approx(0.75, abs=0.04)
    assert share(serial, (0, 0, 1, 1)) == pytest.approx(0.5, abs=0.04)
    assert share(serial - 1) == share(serial)  # nothing is known: thread 0 is supposed


def test_blocks_after_a_parallel_loop_are_where_they_are_used() -> None:
    assert share(PAGE * 4 // PAGES) == 0
    assert share((PAGE // 16) % 4) == pytest.approx(0.75, abs=0.05)


def test_pages_whose_first_touch_is_not_known_are_left_out() -> None:
    half = np.where(PAGE < PAGES // 2, -1, 0)  # thread 0's half is not known
    assert share(half) == 1.0


def test_weights_count_and_not_rows() -> None:
    one: Touches = touches(np.array([0, 1]), np.array([0, 1]), pages=2)
    one.weight[:] = (3.0, 1.0)
    assert elsewhere_share(one, np.array([0, 0]), [*EACH]) == 0.25
    one.weight[:] = 0.0
    assert elsewhere_share(one, np.array([0, 0]), [*EACH]) == 0.0
