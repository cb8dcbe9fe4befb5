"""What is said of each region of a run: the sum over what counts, and why the rest does not."""

import pytest

from numapredict.collect.capturing.exchange import AskedRegion, Outcome
from numapredict.collect.capturing.instance_class import InstanceClass, RegionInstances
from numapredict.collect.capturing.watcher import CapturedRegion, Replay
from numapredict.collect.placing.region_times import RegionTime, RegionTimes
from numapredict.predictor.regions.region_answers import ENDED, region_answers
from numapredict.predictor.regions.replayed_region import ReplayedRegion

BASE, ONE = "8x2-contiguous-first-touch", "1x1-contiguous-bind"


def captured(number: int, base_s: float, other_s: float, cut: bool = False) -> CapturedRegion:
    times = [(BASE, base_s), *[(ONE, other_s), (BASE, base_s)] * 3]
    replays = tuple(Replay(label, Outcome((time_s,) * 3, 8)) for label, time_s in times)
    return CapturedRegion(AskedRegion(1, "/bin/app", 16, 7, 4, 8, number=number), replays, 1.5, cut)


def answers(*tried: CapturedRegion, cut: str = "") -> tuple[ReplayedRegion, ...]:
    """Return the answers on two regions, of which the second was not in the first run's list of instances."""
    classes = (
        InstanceClass(1.0, 4, 0.5, (4,)),
        InstanceClass(0.1, 24, 0.3, (5,)),
        InstanceClass(0.01, 160, 0.2, (), wanted=False),
    )
    known = RegionInstances(1, "/bin/app", 16, 188, 8.0, 0.8, classes)
    times = [RegionTime(name, "/bin/app", offset, count, time_s, 8) for name, offset, count, time_s in (
        ("short", 32, 10, 2.0), ("long", 16, 188, 8.0))]  # fmt: skip
    return region_answers([RegionTimes(tuple(times), 11.0, complete=True)], [known], tried, cut)


def test_a_region_gains_by_the_time_that_replays_stand_for() -> None:
    long, short = answers(captured(0, 1.0, 0.5), captured(1, 0.1, 0.2))
    assert (long.name, short.name) == ("long", "short")
    assert (long.replayed, long.share, long.replay_s) == (0.8, 0.8, 3.0)
    assert long.gains[1].speedup == pytest.approx(1 / (0.5 / 2 + 0.3 * 2 + 0.2))
    assert long.replay_ratio == pytest.approx(1)
    assert long.problem == "others hold most of the region's time"
    assert (short.gains, short.replayed) == ((), 0.0)


def test_a_replay_of_another_length_does_not_count() -> None:
    long, _ = answers(captured(0, 0.02, 0.001), captured(1, 0.1, 0.2))
    assert long.replayed == 0.3
    assert "0.02 of an instance's time" in long.problem
    assert (long.gains[1].speedup or 0) < 1
    none, _ = answers(captured(0, 0.02, 0.001))
    assert (none.gains, none.best, none.replay_ratio) == ((), None, None)


def test_what_is_missing_since_the_program_ended_is_said_so() -> None:
    long, _ = answers(CapturedRegion(captured(0, 1, 1).asked, (), 0.1, cut=True))
    assert long.problem == ENDED
    long, _ = answers(cut="it was interrupted")
    assert long.problem == "it was interrupted"
