"""What instances of several lengths gain together."""

import msgspec
import pytest

from numapredict.collect.capturing.duration_class import DurationClass, means_and_shares, of_most_use, together
from numapredict.collect.capturing.exchange import AskedRegion, Outcome
from numapredict.collect.capturing.gain import Gain
from numapredict.collect.capturing.watcher import CapturedRegion, Replay


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


def test_of_the_instances_tried_the_one_most_like_the_others_is_of_most_use_if_other_mappings_were_replayed() -> None:
    def tried(*times_s: float) -> CapturedRegion:
        labels = ("8x2-contiguous-first-touch", "4x1-contiguous-bind", "8x2-contiguous-first-touch")
        made = tuple(Replay(label, Outcome((time_s,), 8)) for label, time_s in zip(labels, times_s, strict=False))
        return CapturedRegion(AskedRegion(1, "app", 16, 1, 2, 0.01, 8), made, 1.0)

    alone, short, shorter, like, cut = tried(0.01), tried(0.002, 1, 1), tried(0.001, 1, 1), tried(0.012, 1, 1), tried()
    assert of_most_use([shorter, short, alone]) == short
    assert of_most_use([short, like, shorter, alone]) == like
    assert of_most_use([cut, alone]) == alone
    assert of_most_use([cut]) == cut
    assert of_most_use([]) is None
