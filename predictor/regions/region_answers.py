"""The answer on each region of a run, of the region clock's times and of the replays. Pure, but for names of places."""

from collections.abc import Iterable, Sequence

from numapredict.collect.capturing.exchange import place_of
from numapredict.collect.capturing.instance_class import COVERED, LEAST_SHARE, RegionInstances
from numapredict.collect.capturing.replayed_class import ReplayedClass, counted_share, replayed_classes, together
from numapredict.collect.capturing.watcher import CapturedRegion
from numapredict.collect.placing.region_times import RegionTime, RegionTimes, with_places
from numapredict.collect.source.modules import Modules
from numapredict.predictor.regions.replayed_region import ReplayedRegion

ENDED = "the program ended before its replays did"
"""Of a region: why it has no gains."""


INTERRUPTED = "the first run was interrupted: let it run to its end"

FULL = "the first run has more kinds of instances than there is room for: run a smaller input"


def region_answers(
    found: Iterable[RegionTimes],
    known: Iterable[RegionInstances],
    captured: Iterable[CapturedRegion],
    cut: str = "",
) -> tuple[ReplayedRegion, ...]:
    """Return the regions of all processes, the ones with most time first.

    ``known`` are those of the first run with the classes of their instances, and ``cut`` is why some of these may be
    missing in the second one.
    """
    modules = Modules()
    all_times = [with_places(times, modules) for times in found]
    whole_s = sum(times.region_time_s for times in all_times)
    instances = {place_of(region.module, region.offset): region for region in known}
    tried: dict[tuple[str, int], list[CapturedRegion]] = {}
    for one in captured:
        cut = cut or (ENDED if one.cut else "")
        tried.setdefault(place_of(one.asked.module, one.asked.offset), []).append(one)
    regions = []
    for region in (region for times in all_times for region in times.regions):
        place = place_of(region.module, region.offset)
        own = instances.get(place)
        classes = replayed_classes(own.classes, tried.get(place, []), cut) if own is not None else ()
        regions.append(_region(region, region.time_s / whole_s if whole_s > 0 else 0.0, classes, tried.get(place, [])))
    return tuple(sorted(regions, key=lambda region: -region.time_s))


def _region(
    region: RegionTime, share: float, classes: Sequence[ReplayedClass], tried: Sequence[CapturedRegion]
) -> ReplayedRegion:
    counted = [one for one in classes if one.gains]
    covered = counted_share(classes)
    instance_s = region.time_s / region.count if region.count else 0.0
    gains = together(classes, instance_s)
    replays_s = sum(one.share / one.mean_s * (one.gains[0].time_s or 0.0) for one in counted)
    return ReplayedRegion(
        name=region.name,
        module=region.module,
        offset=region.offset,
        count=region.count,
        time_s=region.time_s,
        share=share,
        team=region.team,
        place=region.place,
        instance=counted[0].instance if counted else None,
        replay_s=sum(one.seconds for one in tried),
        gains=gains,
        replay_ratio=replays_s / covered if covered else None,
        problem=_problem(classes, share),
        emptied=sum(one.share * one.emptied for one in counted),
        undone=sum(one.share * one.undone for one in counted),
        instance_s=instance_s if counted else None,
        classes=tuple(classes),
        replayed=covered,
    )


def _problem(classes: Sequence[ReplayedClass], share: float) -> str:
    """Return why a region, or what has most time of its rest, was not replayed; empty where little is left."""
    if share < LEAST_SHARE:
        return f"it has less than {LEAST_SHARE:.0%} of the time"
    left = [one for one in classes if one.problem]
    if counted_share(classes) >= COVERED:
        return ""
    if not left:
        return FULL if classes else "none of its instances ended in the first run"
    return max(left, key=lambda one: one.share).problem
