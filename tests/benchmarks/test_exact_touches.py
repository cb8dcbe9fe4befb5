"""What a profile's samples estimate, worked out on touches that are known, and held against a run."""

from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.exact_touches import _gaps, _weights, visits
from tests.benchmarks.programs import HERE, compiled
from tests.benchmarks.variables import compared
from tests.openmp import CAN_TRACE


def rate(times: list[float], length: float = 100.0) -> float:
    """Return a page's rate of visits by its touches in a step."""
    return visits(_gaps(np.zeros(len(times)), np.array(times), length), 1, length)


def test_a_pages_rate_is_that_of_its_visits() -> None:
    assert rate([30.0]) == pytest.approx(1 / 100)
    assert rate([0.0, 25.0, 50.0, 75.0]) == pytest.approx(1 / 25)
    assert rate([10.0, 10.1, 10.2, 10.3]) == pytest.approx(1 / 100, rel=0.01)  # a burst counts as one
    assert rate([20.0, 80.0]) == pytest.approx(2 / 100)  # uneven, and half of the waits end within 25


def test_two_pages_are_visited_as_often_as_both() -> None:
    page, time = np.array([0.0, 0.0, 1.0]), np.array([0.0, 50.0, 10.0])
    assert visits(_gaps(page, time, 100.0), 2, 100.0) == pytest.approx(2 / 2 / (100 / 3))


def test_touches_in_no_order_count_as_0_72_of_what_they_are() -> None:
    times = np.random.default_rng(1).uniform(0, 1e6, 20_000)
    assert rate(times.tolist(), 1e6) == pytest.approx(0.5 / np.log(2) * 20_000 / 1e6, rel=0.05)


def test_a_touch_counts_by_the_wait_that_it_ends() -> None:
    page = np.array([7, 9, 7])
    weights = _weights(page, _gaps(page, np.array([90.0, 50.0, 10.0]), 100.0), 100.0)
    assert weights[0] / weights[2] == pytest.approx(80 / 20)
    assert weights[1] == pytest.approx(2 / 100)


@pytest.mark.native
@pytest.mark.thorough
@pytest.mark.skipif(not CAN_TRACE, reason="no gcc or no emulator")
def test_samples_of_loops_over_arrays_agree_with_the_trace(tmp_path: Path) -> None:
    program = compiled(HERE / "shares.c", tmp_path, options=("-g", "-fopenmp"))
    for _ in range(4):  # beside a load the threads of few samples have not the same number of them
        found = compared(program, "stream", 6000)
        if all(abs(one.remote_share - one.exact.remote_touches) <= 0.05 for one in found):
            break
    assert [one.variable.split(",")[0] for one in found if one.exact.touches > 0.3] == ["often"]
    assert len(found) == 3
    for one in found:
        assert one.remote_share == pytest.approx(one.exact.remote_touches, abs=0.05)
        assert one.touch_share == pytest.approx(one.exact.touches, abs=0.1)  # 0.03 on a quiet computer
    (wrong,) = (one for one in found if one.variable.startswith("wrong"))
    assert wrong.exact.remote_touches == pytest.approx(0.75, abs=0.02)
