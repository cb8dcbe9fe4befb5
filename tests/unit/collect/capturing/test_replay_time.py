"""What an instance takes by its replays, between warm caches and empty ones."""

import math

import msgspec
import pytest

from numapredict.collect.capturing.exchange import Outcome
from numapredict.collect.capturing.replay_time import distance, emptied_share, time_of

BOTH = Outcome((1.0, 0.9, 1.2), emptied_s=(3.0, 2.0, 2.9))


def test_a_time_lies_between_the_medians_of_both() -> None:
    assert [time_of(BOTH, share) for share in (0, 0.5, 1)] == pytest.approx([1.0, 1.95, 2.9])
    assert time_of(Outcome((1.0,), emptied_s=(0.5,)), 1) == 1.0
    assert time_of(Outcome((1.0,)), 1) == 1.0
    assert math.isnan(time_of(Outcome(())))
    assert math.isnan(time_of(Outcome((1.0,), problem="it took too long")))


@pytest.mark.parametrize(("own_s", "share"), [(0.5, 0.0), (1.0, 0.0), (1.02, 0.0), (1.95, 0.5), (2.9, 1.0), (5.0, 1.0)])
def test_the_run_s_own_mean_says_which_share_of_the_caches_is_emptied(own_s: float, share: float) -> None:
    assert emptied_share([BOTH], own_s) == pytest.approx(share)
    assert emptied_share([BOTH, BOTH, Outcome((), problem="it took too long")], own_s) == pytest.approx(share)


def test_beyond_emptied_caches_the_first_replay_counts() -> None:
    """A replay may find done what the one before it did."""
    first = msgspec.structs.replace(BOTH, first_s=3.9)
    shares = [emptied_share([first, first], own_s) for own_s in (1.95, 2.9, 3.4, 3.9, 9.0)]
    assert shares == pytest.approx([0.5, 1.0, 1.5, 2.0, 2.0])
    assert [time_of(first, share) for share in shares] == pytest.approx([1.95, 2.9, 3.4, 3.9, 3.9])
    alike = Outcome((1.0,), emptied_s=(1.0,), first_s=2.0)
    assert time_of(alike, emptied_share([alike], 1.5)) == pytest.approx(1.5)
    assert emptied_share([msgspec.structs.replace(alike, first_s=1.01)], 1.5) == 0


def test_where_others_fail_the_first_replay_is_the_time() -> None:
    alone = Outcome((3.0,), first_s=3.0)
    assert (emptied_share([alone, alone], 2.0), time_of(alone, 2.0)) == (2.0, 3.0)
    assert emptied_share([alone, msgspec.structs.replace(BOTH, first_s=3.9)], 1.0) == 2  # else these two are compared


def test_without_replays_after_emptied_caches_or_without_a_difference_none_is() -> None:
    assert emptied_share([Outcome((1.0,)), BOTH], 2.0) == 0
    assert emptied_share([Outcome((1.0,), emptied_s=(1.02,))], 2.0) == 0
    assert emptied_share([], 2.0) == 0


def test_times_far_apart() -> None:
    assert distance(1.0, 4.0) == distance(4.0, 1.0) == 2
    assert distance(math.nan, 1.0) == distance(1.0, 0.0) == math.inf
