import numpy as np
import pytest

from numapredict.collect.placing.profile_file import WAIT_BEGINS_S, WAIT_BINS
from numapredict.predictor.variables.visits import Waits, latency_s, quantile_s, visits

SEED = 7
WATCHES = 20_000


def waits(times: np.ndarray, length_s: float, late_s: float = 0.0) -> Waits:
    """Return the waits of watches that begin at any moment of a step, which comes again and again, by bin."""
    began = np.random.default_rng(SEED).uniform(0, length_s, WATCHES)
    again = np.append(times, times[0] + length_s)
    waited = again[np.searchsorted(again, began)] - began + late_s
    return np.bincount(np.searchsorted(WAIT_BEGINS_S, waited, side="right") - 1, minlength=WAIT_BINS)


def share(one: Waits, other: Waits) -> float:
    """Return the first one's share of the visits of two variables that were watched as often."""
    noticed_s = latency_s(one + other)
    first, second = visits(one, noticed_s), visits(other, noticed_s)
    return first / (first + second)


def test_a_rate_is_that_of_the_visits_and_not_one_over_the_mean_wait() -> None:
    even = waits(np.arange(0, 1e-3, 2.5e-4), 1e-3)
    assert visits(even, 0.0) / WATCHES == pytest.approx(4000, rel=0.03)


@pytest.mark.parametrize(
    ("times", "exact"),
    [
        ([0.0, 0.5e-3], 2 / 3),
        ([0.0, 0.3e-3], 2 / 3),  # one over the mean wait: 0.63
        ([0.0, 0.25e-3, 0.5e-3, 0.75e-3], 4 / 5),
        ([0.1e-3, 0.1002e-3, 0.1004e-3], 1 / 2),  # a burst counts as one
        (np.arange(0, 1e-3, 1e-6).tolist(), 0.999),  # a hot table
    ],
)
def test_shares_of_touches_are_the_exact_ones(times: list[float], exact: float) -> None:
    once = np.array([0.9e-3])
    assert share(waits(np.array(times), 1e-3), waits(once, 1e-3)) == pytest.approx(exact, abs=0.05)


def test_shares_hold_where_each_touch_is_noticed_late() -> None:
    late_s = 40e-6
    twice, once = (waits(np.array(times), 1e-3, late_s) for times in ([0.0, 0.5e-3], [0.2e-3]))
    assert latency_s(twice + once) == pytest.approx(late_s, rel=0.25)
    assert share(twice, once) == pytest.approx(2 / 3, abs=0.03)
    assert visits(twice, 0.0) / (visits(twice, 0.0) + visits(once, 0.0)) < 0.66  # without it


def test_a_computer_that_stops_now_and_then_changes_no_share() -> None:
    """One wait of thirty lasts 10 ms longer, whose it is: the mean waits would be nearly the same."""
    both = []
    for times in ([0.0, 0.5e-3], [0.2e-3]):
        one = waits(np.array(times), 1e-3)
        stopped = one // 30
        both.append(one - stopped)
        both[-1][np.searchsorted(WAIT_BEGINS_S, 10e-3)] += stopped.sum()
    assert share(*both) == pytest.approx(2 / 3, abs=0.03)


def test_visits_at_random_count_as_0_72_of_what_they_are() -> None:
    times = np.sort(np.random.default_rng(SEED + 1).uniform(0, 1.0, 10_000))
    assert visits(waits(times, 1.0), 0.0) / WATCHES == pytest.approx(0.5 / np.log(2) * 10_000, rel=0.05)


def test_what_is_rarely_touched_counts_by_its_touches() -> None:
    """Of pages that are watched for 4 ms and touched each second, few are seen: evenly over these 4 ms."""
    seen = np.random.default_rng(SEED).uniform(0, 4e-3, 800)
    few = np.bincount(np.searchsorted(WAIT_BEGINS_S, seen, side="right") - 1, minlength=WAIT_BINS)
    assert visits(few, 0.0) == pytest.approx(800 / 4e-3, rel=0.1)


def test_a_touch_before_the_protection_was_known_to_hold_has_a_rate() -> None:
    first = np.zeros(WAIT_BINS, np.int64)
    assert latency_s(first) == 0.0
    first[0] = 5
    assert 0 < visits(first, latency_s(first)) < float("inf")
    assert quantile_s(first, 0.5) == pytest.approx(WAIT_BEGINS_S[1] / 2)
