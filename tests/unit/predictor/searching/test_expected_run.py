import numpy as np
import pytest

from numapredict.predictor.searching.expected_run import LEAST_DEVIATION, MISFIT, expected_run
from numapredict.predictor.searching.known_gains import KnownGains, known_gains


def kinds(programs: int = 200, spread: float = 0.3) -> KnownGains:
    """Return programs that differ by chance under four mappings."""
    gains = np.random.default_rng(1).normal([0, 0.5, 1.0, -1.0], spread, (programs, 4))
    gains[:, 0] = 0
    return known_gains(gains, [str(n) for n in range(programs)])


def test_the_interval_is_that_of_what_the_mapping_added_to_the_known_programs() -> None:
    known = kinds()
    found = expected_run(known, [0], [0.0], (), 2)
    assert [found.low, found.median, found.high] == pytest.approx(
        np.quantile(known.gains[:, 2], [0.05, 0.5, 0.95]), abs=0.05
    )
    assert found.chance == pytest.approx((known.gains[:, 2] > 0).mean())
    after = expected_run(known, [0, 2], [0.0, 1.0], (), 3)
    assert after.high < -0.5
    assert after.chance == 0.0


def test_each_program_is_compared_with_its_own_best_run() -> None:
    known = known_gains(np.array([[0.0, 3.0, 3.5], [0.0, -1.0, 0.5]]), ["a", "b"])
    found = expected_run(known, [0, 1], [0.0, 1.0], (), 2)
    assert found.median == pytest.approx(0.5, abs=LEAST_DEVIATION + MISFIT * 2)
    assert found.chance == 1.0


def test_the_interval_widens_by_how_far_the_known_programs_were_off() -> None:
    known = known_gains(np.array([[0.0, 1.0, 2.0]] * 5), list("abcde"))
    widths = []
    for seen in (1.0, 0.0, -2.0):
        found = expected_run(known, [0, 1], [0.0, seen], (), 2)
        assert found.median == pytest.approx(1.0)
        widths.append(found.high - found.low)
    misfit = MISFIT * np.array([0.0, 1.0, 3.0])
    assert widths == pytest.approx(3.3 * np.hypot(LEAST_DEVIATION, misfit), rel=0.15)


def test_an_ended_run_counts_as_off_only_where_known_programs_were_faster() -> None:
    known = known_gains(np.array([[0.0, -2.0, 1.0]] * 5), list("abcde"))
    ended, whole = (expected_run(known, [0, 1], [0.0, 0.0], cut, 2) for cut in ((False, True), ()))
    assert ended.high - ended.low < (whole.high - whole.low) / 5


def test_nine_of_ten_programs_of_a_known_kind_come_out_within() -> None:
    known, held = kinds(), np.random.default_rng(2).normal([0, 0.5, 1.0, -1.0], 0.3, (400, 4))
    within = []
    for gains in held:
        found = expected_run(known, [0], [0.0], (), 2)
        within.append(found.low <= gains[2] <= found.high)
    assert 0.87 <= np.mean(within) <= 0.93
