"""Checks an answer on regions from a file, which may have the right fields but impossible values."""

import math
from collections.abc import Iterator

from numapredict.collect.capturing.gain import Gain
from numapredict.collect.mapping import parse_label
from numapredict.native.errors import InvalidInputError, InvalidMappingError
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.replayed_regions import ReplayedRegions

_MOST_THREADS = 4096  # native/placement/process/settings.h
_Problems = Iterator[tuple[str, str]]


def check_replays(answer: ReplayedRegions) -> None:
    """Raise InvalidInputError, naming the first impossible field."""
    for field, problem in _problems(answer):
        raise InvalidInputError(f"{field}: {problem}")


def _problems(answer: ReplayedRegions) -> _Problems:
    yield from _label_problems("baseline", answer.baseline)
    for name in ("wall_s", "replay_s", "region_time_s"):
        yield from _time_problems(name, getattr(answer, name))
    for number, region in enumerate(answer.regions, 1):
        for field, problem in _region_problems(region, answer.baseline):
            yield f"region {number}, {field}", problem
    for number, one in enumerate(answer.one_mapping, 1):
        where = f"one_mapping {number}"
        yield from _label_problems(f"{where}, mapping", one.mapping)
        yield from _speedup_problems(where, one.speedup, one.lowest)


def _region_problems(region: ReplayedRegion, baseline: str) -> _Problems:
    if region.count < 1:
        yield "count", f"{region.count} instances cannot have been seen"
    if not 1 <= region.team <= _MOST_THREADS:
        yield "team", f"{region.team} is not within 1 to {_MOST_THREADS}"
    if not 0 <= region.share <= 1 + 1e-9:
        yield "share", f"{region.share:g} is not within 0 to 1"
    yield from _time_problems("time_s", region.time_s)
    if region.replay_ratio is not None:
        yield from _time_problems("replay_ratio", region.replay_ratio)
    for gain in (*region.gains, *(gain for one in region.classes for gain in one.gains)):
        yield from _gain_problems(gain)
    for number, one in enumerate(region.classes, 1):
        yield from _time_problems(f"class {number}, mean_s", one.mean_s)
        if not 0 <= one.share <= 1 + 1e-9:
            yield f"class {number}, share", f"{one.share:g} is not within 0 to 1"
    if region.gains and region.gains[0].mapping != baseline:
        yield "gains", f"the first is of {region.gains[0].mapping}, not of the baseline, {baseline}"
    if len({gain.mapping for gain in region.gains}) < len(region.gains):
        yield "gains", "a mapping is there twice"


def _gain_problems(gain: Gain) -> _Problems:
    yield from _label_problems("gains", gain.mapping)
    where = f"gain of {gain.mapping}"
    known = [value is not None for value in (gain.time_s, gain.speedup, gain.lowest)]
    if any(known) != all(known):
        yield where, "it has a part of time, speedup and the lowest of these"
    elif gain.time_s is not None and gain.speedup is not None and gain.lowest is not None:
        yield from _time_problems(f"{where}, time_s", gain.time_s)
        yield from _speedup_problems(where, gain.speedup, gain.lowest)
        if gain.rounds < 1:
            yield f"{where}, rounds", f"{gain.rounds}, where it was replayed"


def _label_problems(field: str, label: str) -> _Problems:
    try:
        parse_label(label)
    except InvalidMappingError as error:
        yield field, str(error)


def _time_problems(field: str, time_s: float) -> _Problems:
    if not (math.isfinite(time_s) and time_s >= 0):
        yield field, f"{time_s:g} cannot have been read"


def _speedup_problems(where: str, speedup: float, lowest: float) -> _Problems:
    if not (math.isfinite(speedup) and 0 < lowest <= speedup * (1 + 1e-9)):
        yield f"{where}, speedup", f"{speedup:g}, of which the lowest is {lowest:g}, cannot have been read"
