"""The answer on each region of a run, of the region clock's times and of the replays. Pure, but for names of places."""

from collections.abc import Iterable, Sequence

from numapredict.collect.capturing.duration_class import classes_of, together
from numapredict.collect.capturing.exchange import FEWEST, LEAST_INSTANCE_S, LEAST_SHARE, place_of
from numapredict.collect.capturing.watcher import CapturedRegion
from numapredict.collect.placing.region_times import RegionTime, RegionTimes, with_places
from numapredict.collect.source.modules import Modules
from numapredict.predictor.regions.replayed_region import ReplayedRegion

ENDED = "the program ended before its replays did"
"""Of a region: why it has no gains."""


def region_answers(found: Iterable[RegionTimes], captured: Iterable[CapturedRegion]) -> tuple[ReplayedRegion, ...]:
    """Return the regions of all processes, the ones with most time first."""
    modules = Modules()
    all_times = [with_places(times, modules) for times in found]
    whole_s = sum(times.region_time_s for times in all_times)
    by_place: dict[tuple[str, int], list[CapturedRegion]] = {}
    cut = False
    for one in captured:
        cut = cut or one.cut
        by_place.setdefault(place_of(one.asked.module, one.asked.offset), []).append(one)
    regions = [
        _region(region, whole_s, by_place.get(place_of(region.module, region.offset), []), cut)
        for times in all_times
        for region in times.regions
    ]
    return tuple(sorted(regions, key=lambda region: -region.time_s))


def _region(region: RegionTime, whole_s: float, tried: Sequence[CapturedRegion], cut: bool) -> ReplayedRegion:
    share = region.time_s / whole_s if whole_s > 0 else 0.0
    classes = classes_of(tried)
    problem = ""
    if not tried:
        problem = _why_not(region, share, cut)
    elif not classes:
        problem = ENDED if cut else "the time for replays was used up: allow more by --seconds"
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


def _why_not(region: RegionTime, share: float, cut: bool) -> str:
    if region.count < FEWEST:
        return f"it ran {'once' if region.count == 1 else 'twice'}: what comes once or twice is not"
    if region.time_s / max(region.count, 1) < LEAST_INSTANCE_S:
        return f"an instance takes less than {LEAST_INSTANCE_S * 1e6:.0f} us"
    if share < LEAST_SHARE:
        return f"it has less than {LEAST_SHARE:.0%} of the time"
    if cut:
        return ENDED
    return (
        f"whenever it began it had less than {LEAST_SHARE:.0%} of the time, or instances of less than "
        f"{LEAST_INSTANCE_S * 1e6:.0f} us"
    )
