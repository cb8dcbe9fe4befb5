"""The answer on each region of a run, of the region clock's times and of the replays. Pure, but for names of places."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from numapredict.collect.capturing.exchange import Outcome
from numapredict.collect.capturing.replay_time import emptied_share
from numapredict.collect.capturing.watcher import CapturedRegion
from numapredict.collect.placing.region_times import RegionTime, RegionTimes, with_places
from numapredict.collect.source.modules import Modules
from numapredict.predictor.regions.choice import FEWEST_REPLAYS, gains_of, is_like, of_most_use
from numapredict.predictor.regions.duration_class import DurationClass, means_and_shares, together
from numapredict.predictor.regions.replayed_region import ReplayedRegion

LEAST_SHARE, LEAST_INSTANCE_S, FEWEST = 0.05, 50e-6, 3
"""What native/capture/load.c replays: regions with this share of the time since the first region of all, of instances
so long, that came back so often."""


def region_answers(found: Iterable[RegionTimes], captured: Iterable[CapturedRegion]) -> tuple[ReplayedRegion, ...]:
    """Return the regions of all processes, the ones with most time first."""
    modules = Modules()
    all_times = [with_places(times, modules) for times in found]
    whole_s = sum(times.region_time_s for times in all_times)
    by_place: dict[tuple[str, int], list[CapturedRegion]] = {}
    for one in captured:
        by_place.setdefault((Path(one.asked.module).name, one.asked.offset), []).append(one)
    regions = [
        _region(region, whole_s, by_place.get((Path(region.module).name, region.offset), []))
        for times in all_times
        for region in times.regions
    ]
    return tuple(sorted(regions, key=lambda region: -region.time_s))


def _region(region: RegionTime, whole_s: float, tried: Sequence[CapturedRegion]) -> ReplayedRegion:
    share = region.time_s / whole_s if whole_s > 0 else 0.0
    captured = _of_each_class(tried)
    classes = _classes(captured)
    problem = ""
    if not tried:
        problem = _why_not(region, share)
    elif not classes:
        problem = "the time for replays was used up: allow more by --seconds"
    gains, instance_s = (classes[0].gains, classes[0].mean_s) if classes else ((), None)
    if len(classes) > 1:
        instance_s = region.time_s / region.count
        gains = together(classes, instance_s)
    replay_s = gains[0].time_s if gains else None
    return ReplayedRegion(
        name=region.name,
        module=region.module,
        offset=region.offset,
        count=region.count,
        time_s=region.time_s,
        share=share,
        team=region.team,
        place=region.place,
        instance=classes[0].instance if classes else None,
        replay_s=sum(one.seconds for one in tried),
        gains=gains,
        replay_ratio=replay_s * region.count / region.time_s if replay_s is not None and region.time_s > 0 else None,
        problem=problem,
        emptied=sum(one.share * one.emptied for one in classes),
        undone=sum(one.share * one.undone for one in classes),
        instance_s=instance_s,
        classes=classes if len(classes) > 1 else (),
    )


def _outcomes(captured: CapturedRegion) -> tuple[tuple[str, Outcome], ...]:
    return tuple((one.mapping, one.outcome) for one in captured.replays)


def _emptied(replays: Sequence[tuple[str, Outcome]], instance_s: float) -> float:
    return emptied_share([outcome for mapping, outcome in replays if mapping == replays[0][0]], instance_s)


def _of_each_class(tried: Sequence[CapturedRegion]) -> tuple[CapturedRegion, ...]:
    """Return the instance of most use of each class of durations that was replayed.

    A further one counts only if its replays take another time than those before: the instances that it was to stand for
    were interrupted, else.
    """
    by_class: dict[int, list[CapturedRegion]] = {}
    for one in tried:
        by_class.setdefault(one.asked.before, []).append(one)
    found: list[CapturedRegion] = []
    for own in by_class.values():
        best = of_most_use(own)
        if best is None or not best.replays:
            continue
        new = len(best.replays) >= FEWEST_REPLAYS and not any(
            is_like(_baseline_s(best), _baseline_s(one)) for one in found
        )
        if new or not found:
            found.append(best)
    return tuple(found)


def _baseline_s(captured: CapturedRegion) -> float:
    """Return what the replays under the baseline take, not a number where there are none."""
    replays = _outcomes(captured)
    return gains_of(replays, _emptied(replays, captured.asked.mean_s))[0].time_s or math.nan


def _classes(captured: Sequence[CapturedRegion]) -> tuple[DurationClass, ...]:
    """Return what the replays say of each class of durations."""
    found = []
    known = means_and_shares([_baseline_s(one) for one in captured], captured[-1].asked) if captured else ()
    for one, (mean_s, share) in zip(captured, known, strict=True):
        replays = _outcomes(one)
        emptied = _emptied(replays, mean_s)
        parts = min(emptied, 1.0), max(emptied - 1.0, 0.0)
        found.append(DurationClass(mean_s, share, one.asked.instance, gains_of(replays, emptied), *parts))
    return tuple(found)


def _why_not(region: RegionTime, share: float) -> str:
    if region.count < FEWEST:
        return f"it ran {'once' if region.count == 1 else 'twice'}: what comes once or twice is not"
    if region.time_s / max(region.count, 1) < LEAST_INSTANCE_S:
        return f"an instance takes less than {LEAST_INSTANCE_S * 1e6:.0f} us"
    if share < LEAST_SHARE:
        return f"it has less than {LEAST_SHARE:.0%} of the time"
    return (
        f"whenever it began it had less than {LEAST_SHARE:.0%} of the time, or instances of less than "
        f"{LEAST_INSTANCE_S * 1e6:.0f} us"
    )
