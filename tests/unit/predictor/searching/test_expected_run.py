import numpy as np
import pytest

from numapredict.predictor.searching.expected_run import LEAST_DEVIATION, MISFIT, ROUNDED, expected_run
from numapredict.predictor.searching.known_gains import KnownGains, joined, known_gains


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


def elsewhere(gains: np.ndarray) -> KnownGains:
    """Return programs, one a group, whose gains were carried over from another machine."""
    return known_gains(gains, [str(n) for n in range(len(gains))], "another")


def test_each_program_is_compared_with_its_own_best_run() -> None:
    for known in (elsewhere, lambda gains: known_gains(gains, ["a", "b"])):
        found = expected_run(known(np.array([[0.0, 3.0, 3.5], [0.0, -1.0, 0.5]])), [0, 1], [0.0, 1.0], (), 2)
        assert found.median == pytest.approx(0.5, abs=LEAST_DEVIATION + MISFIT * 2)
        assert found.chance == 1.0


def test_the_interval_widens_by_how_far_programs_from_elsewhere_were_off() -> None:
    known = elsewhere(np.array([[0.0, 1.0, 2.0]] * 5))
    widths = []
    for seen in (1.0, 0.0, -2.0):
        found = expected_run(known, [0, 1], [0.0, seen], (), 2)
        assert found.median == pytest.approx(1.0)
        widths.append(found.high - found.low)
    misfit = MISFIT * np.array([0.0, 1.0, 3.0])
    assert widths == pytest.approx(3.3 * np.hypot(LEAST_DEVIATION, misfit), rel=0.15)


def test_own_programs_errors_are_the_interval_and_grow_with_how_far_they_were_off() -> None:
    gains = np.tile([[0.0, 1.0, 2.0], [0.0, 1.0, 2.4]], (10, 1))
    known = known_gains(gains, [str(n) for n in range(20)])
    near, far = (expected_run(known, [0, 1], [0.0, seen], (), 2) for seen in (1.0, 3.0))
    # Each of 20 is told 1.2 by all others but for a 19th of its own distance from them.
    assert (near.low, near.high) == pytest.approx((1.2 - 0.2 * 20 / 19 - ROUNDED, 1.2 + 0.2 * 20 / 19 + ROUNDED))
    grown = np.hypot(LEAST_DEVIATION, MISFIT * 2) / LEAST_DEVIATION
    assert far.high - far.low == pytest.approx((near.high - near.low) * grown, rel=0.01)


def test_a_program_learns_nothing_from_its_group() -> None:
    gains = np.array([[0.0, 2.0], [0.0, 2.0], [0.0, -2.0], [0.0, -2.0]])
    found = expected_run(known_gains(gains, ["a", "a", "b", "b"]), [0], [0.0], (), 1)
    assert (found.low, found.high) == pytest.approx(
        (-4.0, 4.0), abs=2 * ROUNDED
    )  # each group was told the gain of the other


def test_a_group_alone_has_no_errors_so_that_the_spread_is_the_interval() -> None:
    found = expected_run(known_gains(np.array([[0.0, 0.5], [0.0, 1.5]]), ["a", "a"]), [0], [0.0], (), 1)
    assert found.low == pytest.approx(0.5, abs=2 * LEAST_DEVIATION)
    assert found.high == pytest.approx(1.5, abs=2 * LEAST_DEVIATION)


def test_programs_of_a_machine_elsewhere_are_related_and_groups_everywhere() -> None:
    here = known_gains(np.zeros((2, 1)), ["a", "b"])
    there, third = known_gains(np.zeros((2, 1)), ["a", "c"], "there"), known_gains(np.zeros((1, 1)), ["d"], "third")
    assert joined([here, there, third]).related().tolist() == [
        [True, False, True, False, False],
        [False, True, False, False, False],
        [True, False, True, True, False],
        [False, False, True, True, False],
        [False, False, False, False, True],
    ]


def test_an_ended_run_counts_as_off_only_where_known_programs_were_faster() -> None:
    known = elsewhere(np.array([[0.0, -2.0, 1.0]] * 5))
    ended, whole = (expected_run(known, [0, 1], [0.0, 0.0], cut, 2) for cut in ((False, True), ()))
    assert ended.high - ended.low < (whole.high - whole.low) / 5


def test_nine_of_ten_programs_of_a_known_kind_come_out_within() -> None:
    known, held = kinds(250), np.random.default_rng(2).normal([0, 0.5, 1.0, -1.0], 0.3, (200, 4))
    within = []
    for gains in held:
        found = expected_run(known, [0], [0.0], (), 2)
        within.append(found.low <= gains[2] <= found.high)
    assert 0.85 <= np.mean(within) <= 0.95  # of 200 programs, two deviations
