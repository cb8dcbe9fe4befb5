"""What instances of several lengths gain together."""

import msgspec
import pytest

from numapredict.collect.capturing.exchange import AskedRegion
from numapredict.predictor.regions.choice import Gain
from numapredict.predictor.regions.duration_class import DurationClass, means_and_shares, together


def test_each_duration_counts_to_the_nearest_replay() -> None:
    counts, spent_s = (10, 0, 0, 0, 2, 2, 0, 1), (1.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.0, 4.0)
    asked = AskedRegion(1, "app", 16, 7, 3, 0.3, 8, counts=counts, spent_s=spent_s)
    found = means_and_shares([1.1, 0.08], asked)
    assert found == ((pytest.approx(4.0), pytest.approx(0.9)), (pytest.approx(0.1), pytest.approx(0.1)))
    most = msgspec.structs.replace(asked, spent_s=(1.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.0, 2.9))
    assert means_and_shares([1.1, 0.08], most)[0][0] == pytest.approx((2.0 + 3.0 + 2.9) / 5)
    assert means_and_shares([0.1], msgspec.structs.replace(asked, counts=(), spent_s=())) == ((0.3, 1.0),)


def test_a_region_gains_what_its_classes_do_by_their_time() -> None:
    def one(share: float, mean_s: float, *gains: Gain) -> DurationClass:
        return DurationClass(mean_s, share, 4, gains, 0.0)

    base, long, short = "8x2-contiguous-first-touch", "8x2-contiguous-interleave", "4x1-contiguous-bind"

    def gain(mapping: str, speedup: float, lowest: float, rounds: int, base_s: float) -> Gain:
        time_s = base_s / speedup
        return Gain(mapping, time_s, speedup, lowest, rounds, warm_s=time_s, emptied_s=time_s)

    failed = Gain("1x1-contiguous-bind", None, None, problem="it took too long")
    first = one(0.75, 0.1, gain(base, 1, 1, 5, 0.1), gain(long, 2, 1.5, 3, 0.1), gain(short, 0.5, 0.5, 1, 0.1), failed)
    second = one(0.25, 0.01, gain(base, 1, 1, 3, 0.02), gain(long, 0.5, 0.5, 3, 0.02), failed)
    found = {each.mapping: each for each in together([first, second], 0.05)}
    assert list(found) == [base, long, failed.mapping]  # not what one of them was not replayed under
    assert found[long].speedup == pytest.approx(1 / (0.75 / 2 + 0.25 / 0.5))
    assert found[long].lowest == pytest.approx(1 / (0.75 / 1.5 + 0.25 / 0.5))
    assert found[long].rounds == 3
    assert found[base].time_s == pytest.approx(0.05 * (0.75 + 0.25 * 2))
    assert found[failed.mapping].problem == "it took too long"
