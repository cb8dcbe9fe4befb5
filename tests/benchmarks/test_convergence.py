"""When a run's iterations are said to be steady, and how a guest's output is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.convergence import convergence


def test_a_run_that_gets_faster_converges_where_its_last_slow_iteration_ends() -> None:
    found = convergence([0.5, 0.4, 0.3, *[0.1] * 9])
    assert (found.steady_s, found.spread, found.iteration) == (0.1, 0, 3)
    assert found.after_s == pytest.approx(1.2)
    assert found.lost_s == pytest.approx(0.9)


def test_a_run_that_never_changes_has_lost_nothing() -> None:
    found = convergence([0.2] * 8)
    assert (found.iteration, found.after_s, found.lost_s) == (0, 0, 0)


def test_one_late_iteration_is_no_change_and_two_are() -> None:
    assert convergence([0.2] * 6 + [0.9] + [0.2] * 9).iteration == 0
    assert convergence([0.2] * 5 + [0.9] * 2 + [0.2] * 9).iteration == 7


def test_the_first_iteration_stands_for_itself() -> None:
    assert convergence([0.9] + [0.2] * 7).iteration == 1


def test_a_run_that_is_still_changing_has_no_such_iteration() -> None:
    assert convergence([0.1 * 2**n for n in range(8)]).iteration is None


def test_the_bound_is_a_share_of_the_steady_time() -> None:
    times = [0.108, 0.108, 0.108, *[0.1] * 9]
    assert convergence(times, 0.05).iteration == 3
    assert convergence(times, 0.10).iteration == 0


def test_too_few_iterations_are_refused() -> None:
    with pytest.raises(ValueError, match="3 iterations"):
        convergence([1.0] * 3)


@given(st.lists(st.floats(0.01, 10), min_size=4, max_size=40), st.sampled_from([0.25, 2.0, 1024.0]))
def test_a_slower_clock_changes_times_and_no_iteration(times_s: list[float], factor: float) -> None:
    found, slow = convergence(times_s, 0.2), convergence([factor * time for time in times_s], 0.2)
    assert (slow.iteration, slow.spread) == (found.iteration, found.spread)
    assert (slow.steady_s, slow.after_s) == (factor * found.steady_s, factor * found.after_s)
