import numpy as np
import pytest

from numapredict.predictor.searching.known_gains import KnownGains, joined, known_gains
from numapredict.predictor.searching.next_run import DEVIATION, UNLIKE, next_run, weights_after

# Columns: the default, what helps the first kind, a copy of it that gives a little more, what helps the second kind.
KINDS = np.array([[0.0, 2.0, 2.1, -3.0], [0.0, 1.9, 2.0, -3.0], [0.0, -1.0, -1.0, 1.5]])


def kinds() -> KnownGains:
    return known_gains(KINDS, ["first", "first", "second"])


def test_every_group_weighs_the_same_and_parts_too() -> None:
    assert kinds().weights.tolist() == [0.25, 0.25, 0.5]
    both = joined([kinds(), known_gains(KINDS[:1], ["first"])])
    assert both.weights.tolist() == [0.125, 0.125, 0.25, 0.5]
    assert both.gains.tolist() == [*KINDS.tolist(), KINDS[0].tolist()]
    with pytest.raises(ValueError, match="no known programs"):
        joined([])


def test_the_first_further_run_is_what_helps_most_on_average() -> None:
    found = next_run(kinds(), [0], [0.0])
    assert found is not None
    assert found.column == 2
    assert found.expected_gain == pytest.approx(
        0.25 * 2.1 + 0.25 * 2.0
    )  # all gains of the default are 0: equal weights


def test_a_run_that_repeats_another_adds_nothing() -> None:
    # A program of neither kind: its own best is 0.1, but the known ones that gained there gain no more from column 1.
    found = next_run(kinds(), [0, 2], [0.0, 0.1])
    assert found is not None
    assert found.column == 3


def test_programs_that_reacted_alike_decide() -> None:
    gains = np.array([[0.0, 3.0, 4.0, 0.0], [0.0, -3.0, 0.0, 1.0]])
    known = known_gains(gains, ["one", "other"])
    alike = next_run(known, [0, 1], [0.0, 2.9])
    other = next_run(known, [0, 1], [0.0, -2.9])
    assert alike is not None
    assert other is not None
    assert (alike.column, other.column) == (2, 3)


def test_weights_follow_the_stated_rule() -> None:
    found = weights_after(kinds(), [0, 1], [0.0, 1.0])
    likely = np.array([0.25, 0.25, 0.5]) * np.exp(-((KINDS[:, 1] - 1.0) ** 2) / DEVIATION**2 / 2)
    assert found == pytest.approx((1 - UNLIKE) * likely / likely.sum() + UNLIKE * np.array([0.25, 0.25, 0.5]))
    assert found.sum() == pytest.approx(1.0)
    ruled_out = weights_after(kinds(), [0, 1], [0.0, 2.0])[2]  # it lost where this one gains fourfold
    assert ruled_out == pytest.approx(UNLIKE * 0.5, rel=0.01)


def test_a_failed_run_tells_nothing_and_is_not_made_again() -> None:
    assert weights_after(kinds(), [0, 2], [0.0, float("nan")]) == pytest.approx(weights_after(kinds(), [0], [0.0]))
    found = next_run(kinds(), [0, 2], [0.0, float("nan")])
    assert found is not None
    assert found.column not in {0, 2}


def test_an_ended_run_speaks_against_programs_that_gained_there_and_for_no_others() -> None:
    ended = weights_after(kinds(), [0, 2], [0.0, 0.0], [False, True])
    assert ended[2] > 1 - UNLIKE  # it lost there; by how much is not known of the new program
    assert ended[2] > weights_after(kinds(), [0, 2], [0.0, 0.0])[2]
    lost = weights_after(kinds(), [0, 3], [0.0, 1.6], [False, True])
    assert lost == pytest.approx(kinds().weights)


def test_gains_far_from_all_known_ones_leave_weights_that_are_numbers() -> None:
    found = weights_after(kinds(), [0, 1], [0.0, 1000.0])
    assert np.isfinite(found).all()
    assert found.sum() == pytest.approx(1.0)


def test_a_closed_mapping_does_not_run() -> None:
    found = next_run(kinds(), [0], [0.0], closed={2})
    assert found is not None
    assert found.column == 1
    assert next_run(kinds(), [0, 2], [0.0, 0.1], closed={1, 2, 3}) is None


def test_of_many_programs_all_count() -> None:
    drawn = np.random.default_rng(5).normal(size=(100, 6))
    drawn[:, 0] = 0
    known = known_gains(drawn, [str(n // 3) for n in range(100)])
    added = np.maximum(drawn - drawn[:, [0, 3]].max(axis=1, keepdims=True), 0.0)
    expected = weights_after(known, [0, 3], [0.0, 0.2]) @ added
    found = next_run(known, [0, 3], [0.0, 0.2])
    assert found is not None
    assert (found.column, found.expected_gain) == (expected.argmax(), pytest.approx(expected.max()))


def test_a_search_ends_when_all_mappings_have_run_and_begins_with_the_default() -> None:
    assert next_run(kinds(), [0, 2, 1, 3], [0.0, 1.0, 1.0, 1.0]) is None
    with pytest.raises(ValueError, match="begins with"):
        next_run(kinds(), [], [])
