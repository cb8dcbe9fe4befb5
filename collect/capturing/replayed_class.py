"""What replays say of a class of a region's instances, and what the region gains by all of its classes.

A class whose replays take about as long as its instances counts by its share of the region's time. All else counts as
it is: what was not replayed gains nothing. Pure.
"""

from collections.abc import Callable, Sequence

import msgspec

from numapredict.collect.capturing.exchange import Outcome
from numapredict.collect.capturing.gain import Gain, gains_of, is_like
from numapredict.collect.capturing.instance_class import LEAST_INSTANCE_S, InstanceClass
from numapredict.collect.capturing.replay_time import emptied_share
from numapredict.collect.capturing.watcher import CapturedRegion

SELDOM = 0.01
"""Of a region's time: a class with less is not told of where it was not replayed."""


class ReplayedClass(msgspec.Struct, frozen=True):
    """``count`` instances that took about ``mean_s`` each, and ``share`` of the region's time.

    Instance number ``instance``, from 0, was replayed under the mappings of ``gains``, the baseline first, and
    ``emptied`` is the share of the caches that other regions empty between such instances, 0 to 1, and ``undone`` that
    of what replays find done by the one before, and such instances do. Without ``gains`` the class counts as it is, and
    ``problem`` says why.
    """

    mean_s: float
    count: int
    share: float
    instance: int | None = None
    gains: tuple[Gain, ...] = ()
    emptied: float = 0.0
    undone: float = 0.0
    problem: str = ""


def replayed_classes(
    classes: Sequence[InstanceClass], tried: Sequence[CapturedRegion], cut: str = ""
) -> tuple[ReplayedClass, ...]:
    """Return what is known of a region's classes, of all its instances that were ``tried``.

    ``cut`` is why others may be missing.
    """
    found = []
    for number, one in enumerate(classes):
        own = [each for each in tried if each.asked.number == number]
        if one.wanted or one.share >= SELDOM:
            found.append(_replayed(one, own, cut))
    return tuple(found)


def _replayed(one: InstanceClass, tried: Sequence[CapturedRegion], cut: str) -> ReplayedClass:
    known = ReplayedClass(one.mean_s, one.count, one.share)
    best = max(tried, key=lambda each: len(each.replays), default=None)
    if best is None:
        return msgspec.structs.replace(known, problem=_why_not(one, cut))
    replays = [(each.mapping, each.outcome) for each in best.replays]
    if not replays:
        used_up = "the time for replays was used up: allow more by --seconds"
        return msgspec.structs.replace(known, problem=cut if best.cut else used_up)
    emptied = _emptied(replays, one.mean_s)
    gains = gains_of(replays, emptied)
    found = msgspec.structs.replace(
        known,
        instance=best.asked.instance,
        gains=gains,
        emptied=min(emptied, 1.0),
        undone=max(emptied - 1.0, 0.0),
    )
    base_s = gains[0].time_s
    if base_s is None:
        return msgspec.structs.replace(known, problem=gains[0].problem or "it could not be replayed")
    if not is_like(base_s, one.mean_s):
        return msgspec.structs.replace(known, problem=_unlike(base_s / one.mean_s))
    return found


def _why_not(one: InstanceClass, cut: str) -> str:
    if one.mean_s < LEAST_INSTANCE_S:
        least_us = LEAST_INSTANCE_S * 1e6
        return f"an instance takes less than {least_us:.0f} us, about what its barriers take: join regions"
    if not one.wanted:
        return "others hold most of the region's time"
    return (
        cut or "the instances that stand for it did not come again, or beside replays of others: no two runs are alike"
    )


def _unlike(ratio: float) -> str:
    if ratio < 1:
        return (
            f"a replay takes {ratio:.2f} of an instance's time: such instances were interrupted in the first run, or a "
            "replay finds done what the one before did"
        )
    return f"a replay takes {ratio:.1f} times an instance's time: run it again when the computer is quiet"


def counted_share(classes: Sequence[ReplayedClass]) -> float:
    """Return the share of the region's time that replays stand for, 0 to 1."""
    return min(sum(one.share for one in classes if one.gains), 1.0)


def together(classes: Sequence[ReplayedClass], mean_s: float) -> tuple[Gain, ...]:
    """Return what each mapping gives the whole region, of all that one of its classes was replayed under.

    Time of classes that were not replayed under it counts as it is. ``mean_s`` is the mean of all instances: a replay's
    time is over it what replays are over their classes' means.
    """
    counted = [one for one in classes if one.gains]
    labels = dict.fromkeys(gain.mapping for one in counted for gain in one.gains)
    return tuple(_together(label, counted, mean_s) for label in labels)


def _together(mapping: str, classes: Sequence[ReplayedClass], mean_s: float) -> Gain:
    own = [(one, gain) for one in classes for gain in one.gains if gain.mapping == mapping]
    problem = next((gain.problem for _, gain in own if gain.problem), "")
    if any(gain.speedup is None for _, gain in own):
        return Gain(mapping, None, None, problem=problem)
    rest = max(1.0 - sum(one.share for one, _ in own), 0.0)

    def time_s(of: Callable[[Gain], float | None]) -> float:
        return mean_s * (rest + sum(one.share / one.mean_s * (of(gain) or 0.0) for one, gain in own))

    def speedup(of: Callable[[Gain], float | None]) -> float:
        return 1 / (rest + sum(one.share / (of(gain) or 1.0) for one, gain in own))

    return Gain(
        mapping,
        time_s(lambda gain: gain.time_s),
        speedup(lambda gain: gain.speedup),
        speedup(lambda gain: gain.lowest),
        # one that gains nothing needs no further rounds
        min([gain.rounds for _, gain in own if (gain.speedup or 0.0) > 1] or [gain.rounds for _, gain in own]),
        problem,
        time_s(lambda gain: gain.warm_s),
        time_s(lambda gain: gain.emptied_s),
    )


def _emptied(replays: Sequence[tuple[str, Outcome]], mean_s: float) -> float:
    return emptied_share([outcome for mapping, outcome in replays if mapping == replays[0][0]], mean_s)
