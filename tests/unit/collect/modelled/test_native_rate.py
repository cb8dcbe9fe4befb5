import msgspec
import pytest

from numapredict.collect.modelled.native_rate import NativeRate, native_rate
from numapredict.collect.placing.census import CensusRegion

REGION = CensusRegion(
    key=1, count=1, time_s=30.0, offset=1, team=2, module="app", barriers=9, passed_s=(1.0, 2.0, 4.0, 9.0)
)


def test_the_curve_goes_from_the_start_over_the_powers_of_two_to_the_end() -> None:
    rate = native_rate(REGION)
    assert rate == NativeRate((0, 1, 2, 4, 8, 10), (0, 1, 2, 4, 9, 30))


def test_what_was_not_counted_has_no_rate() -> None:
    assert native_rate(msgspec.structs.replace(REGION, barriers=0, passed_s=())) is None


def test_of_several_instances_no_time_is_above_that_of_the_mean() -> None:
    rate = native_rate(msgspec.structs.replace(REGION, count=6, barriers=18))
    assert rate is not None
    assert (rate.barriers, rate.times_s) == ((0, 1, 2, 4), (0, 1, 2, 5))
    late = native_rate(msgspec.structs.replace(REGION, count=60, barriers=180))
    assert late is not None
    assert late.times_s == (0, 0.5, 0.5, 0.5)
    assert 0 <= late.share_of(2) <= 1


def test_the_share_is_that_of_the_time_and_never_above_one() -> None:
    rate = NativeRate((0, 4, 8, 16, 100), (0, 4, 8, 16, 100))
    assert [rate.share_of(passed) for passed in (0, 3, 50, 100, 10**6)] == pytest.approx([0, 0.03, 0.5, 1, 1])
    assert NativeRate((0, 1, 2), (0, 0, 0)).share_of(1) == 0


@pytest.mark.parametrize(("factor", "same"), [(1.3, True), (0.75, True), (1.7, False), (0.5, False)])
def test_the_rate_of_the_rest_is_that_of_the_second_half_within_a_factor(factor: float, same: bool) -> None:
    rate = NativeRate((0, 16, 32, 64, 1064), (0, 90, 106, 138, 138 + 1000 * factor))
    assert rate.goes_on_after(64) is same


def test_a_change_between_two_points_may_lie_before_or_behind() -> None:
    """Natively 1000 short steps and 20 long ones: by a straight line much of the long ones would be seen."""
    rate = NativeRate((0, 256, 512, 1020), (0, 0.18, 0.36, 4.7))
    assert not rate.goes_on_after(900)
    assert rate.share_of(900) == pytest.approx(0.63 / 4.7, rel=0.01)
    # Where a point behind shows that the later pace began early, what was seen of it counts.
    rate = NativeRate((0, 256, 512, 1024, 2048, 4000), (0, 0.18, 0.36, 0.8, 21, 60))
    assert rate.goes_on_after(1900)
    assert rate.share_of(1900) == pytest.approx(18.1 / 60, rel=0.01)
