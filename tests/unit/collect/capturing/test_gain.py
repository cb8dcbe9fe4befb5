"""What is made of the times of a region's replays."""

import msgspec
import pytest

from numapredict.collect.capturing.exchange import Outcome
from numapredict.collect.capturing.gain import gains_of

BASELINE, HALF, SPREAD = "8x2-contiguous-first-touch", "4x1-contiguous-bind", "8x2-contiguous-interleave"


def took(seconds: float) -> Outcome:
    return Outcome((seconds, seconds * 1.5, seconds / 1.5), 8)


def test_a_gain_is_over_the_baseline_before_and_after() -> None:
    """A computer that becomes slower meanwhile gives no gain."""
    times = iter((1.0, 1.5, 2.25))
    gain = gains_of([(BASELINE, took(next(times))), (HALF, took(next(times))), (BASELINE, took(next(times)))])[1]
    assert gain.speedup == pytest.approx(1.0)
    assert gain.time_s == pytest.approx(1.5)
    assert not gain.is_sure


def test_a_gain_is_of_instances_whose_caches_other_regions_empty() -> None:
    made = [
        (label, msgspec.structs.replace(took(warm_s), emptied_s=(cold_s,)))
        for label, warm_s, cold_s in ((BASELINE, 1.0, 3.0), (HALF, 0.5, 3.5), (BASELINE, 1.0, 3.0))
    ]
    warm, half, cold = (gains_of(made, emptied) for emptied in (0.0, 0.5, 1.0))
    assert [gains[1].speedup for gains in (warm, half, cold)] == pytest.approx([2.0, 1.0, 3 / 3.5])
    assert [gain.time_s for gain in half] == pytest.approx([2.0, 2.0])
    assert [(gain.warm_s, gain.emptied_s) for gain in half] == [(1.0, 3.0), (0.5, 3.5)]


def test_replays_that_were_cut_off_count_as_far_as_they_came() -> None:
    gains = gains_of([(BASELINE, took(1.0)), (HALF, took(0.5)), (BASELINE, took(1.0)), (SPREAD, took(0.5))])
    assert [gain.mapping for gain in gains] == [BASELINE, HALF]
    assert gains_of([]) == ()
