"""What classes of instances gain, and a region by all of them; against what whole runs would, by modelled work."""

import itertools
from collections import Counter
from collections.abc import Iterator

import pytest

from numapredict.collect.capturing.exchange import AskedRegion, Outcome
from numapredict.collect.capturing.gain import Gain
from numapredict.collect.capturing.instance_class import InstanceClass, classes_of
from numapredict.collect.capturing.replayed_class import ReplayedClass, counted_share, replayed_classes, together
from numapredict.collect.capturing.watcher import CapturedRegion, Replay
from numapredict.collect.placing.census import InstanceKind

BASE, ONE, FAILS = "8x2-contiguous-first-touch", "1x1-contiguous-bind", "4x1-contiguous-bind"


def captured(number: int, base_s: float, other_s: float, instance: int = 4) -> CapturedRegion:
    times = [(BASE, base_s), *[(ONE, other_s), (BASE, base_s)] * 3]
    replays = tuple(Replay(label, Outcome((time_s,) * 3, 8)) for label, time_s in times)
    return CapturedRegion(AskedRegion(1, "app", 16, 7, instance, 8, number=number), replays, 1.0)


LONG, SHORT = InstanceClass(0.1, 10, 0.75, (4, 9)), InstanceClass(0.01, 30, 0.24, (5,))


def test_a_class_counts_where_its_replays_take_as_long_as_its_instances() -> None:
    long, short = replayed_classes([LONG, SHORT], [captured(0, 0.11, 0.2), captured(1, 0.0002, 0.1)])
    assert (long.instance, long.problem, len(long.gains)) == (4, "", 2)
    assert (short.instance, short.gains) == (None, ())
    assert "0.02 of an instance's time" in short.problem
    assert counted_share([long, short]) == 0.75
    gains = {gain.mapping: gain for gain in together([long, short], 0.04)}
    assert gains[ONE].speedup == pytest.approx(1 / (0.25 + 0.75 * 0.2 / 0.11))
    assert gains[BASE].time_s == pytest.approx(0.04 * (0.25 + 0.75 * 1.1))


def test_another_instance_that_was_replayed_stands_for_its_class() -> None:
    alone = CapturedRegion(AskedRegion(1, "app", 16, 7, 4, 8), captured(0, 9.0, 1.0).replays[:1], 1.0)
    (long,) = replayed_classes([LONG], [alone, captured(0, 0.1, 0.05, 9)])
    assert (long.instance, long.gains[1].speedup) == (9, pytest.approx(2))


def test_what_was_not_replayed_says_why() -> None:
    def why(one: InstanceClass, *tried: CapturedRegion, cut: str = "") -> str:
        (found,) = replayed_classes([one], tried, cut)
        assert found.gains == ()
        return found.problem

    nothing = CapturedRegion(AskedRegion(1, "app", 16, 7, 4, 8), (), 1.0)
    refused = (Replay(BASE, Outcome((), problem="it makes the system call read")),)
    assert "--seconds" in why(LONG, nothing)
    assert why(LONG, CapturedRegion(nothing.asked, refused, 1.0)) == "it makes the system call read"
    assert "did not come again" in why(LONG)
    assert why(LONG, cut="it ended") == "it ended"
    assert "less than 5 us" in why(InstanceClass(1e-6, 9, 0.5, (), wanted=False))
    assert "others hold most" in why(InstanceClass(1.0, 9, 0.05, (), wanted=False))
    assert "times an instance's time" in why(LONG, captured(0, 0.9, 1.0))
    assert replayed_classes([InstanceClass(1.0, 9, 0.005, (), wanted=False)], []) == ()


def test_a_mapping_counts_for_the_classes_that_had_it_and_fails_for_all_if_for_one() -> None:
    def one(share: float, *gains: Gain) -> ReplayedClass:
        return ReplayedClass(0.1, 5, share, 4, gains)

    def gain(mapping: str, speedup: float, rounds: int) -> Gain:
        return Gain(mapping, 0.1 / speedup, speedup, speedup, rounds, warm_s=0.1, emptied_s=0.1)

    failed = Gain(FAILS, None, None, problem="it took too long")
    first, second = one(0.5, gain(BASE, 1, 5), gain(ONE, 2, 3), failed), one(0.3, gain(BASE, 1, 1), gain(FAILS, 2, 3))
    found = {each.mapping: each for each in together([first, second], 0.1)}
    assert (found[ONE].speedup, found[ONE].rounds) == (pytest.approx(1 / (0.5 / 2 + 0.5)), 3)
    assert (found[FAILS].speedup, found[FAILS].problem) == (None, "it took too long")
    slower = one(0.3, gain(BASE, 1, 1), gain(ONE, 0.5, 1))
    both = {each.mapping: each for each in together([first, slower], 0.1)}
    assert (both[ONE].speedup, both[ONE].rounds) == (pytest.approx(1 / (0.5 / 2 + 0.3 / 0.5 + 0.2)), 3)


Work = list[tuple[int, float]]
"""Instances of a region in their order: the caller, and milliseconds of work."""


def v_cycle() -> Work:
    def cycle(level: int) -> Iterator[tuple[int, float]]:
        yield level, 48 / 4**level
        if level < 6:
            yield from cycle(level + 1)
            yield level, 48 / 4**level

    return [each for _ in range(5) for each in cycle(0)]


def refined_mesh() -> Work:
    return [(0, 2.0 * (1 + step // 4 * 2 if step < 24 else 13)) for step in range(36)]


def breadth_first_search() -> Work:
    return [(0, work) for _ in range(4) for work in (0.1, 0.2, 1.5, 24.0, 40.0, 5.0, 0.3)]


def wavefronts() -> Work:
    return [(0, 0.5 * min(plane, 32 - plane)) for _ in range(6) for plane in range(1, 32)]


def rank_one_updates() -> Work:
    return [(0, 0.02 * (48 - step) ** 2) for step in range(48)]


def takes_s(work_ms: float, threads: int, barrier_ms: float) -> float:
    return (work_ms / threads + barrier_ms * (threads - 1)) / 1000


PROGRAMS = (v_cycle, refined_mesh, breadth_first_search, wavefronts, rank_one_updates)
TEAMS = tuple(itertools.product((2, 4, 16), (0.0, 0.01, 0.05, 0.2, 0.5)))


def foretold_and_true(instances: Work, threads: int, barrier_ms: float) -> tuple[float, float]:
    """Return what one thread gains over so many, by replays of what stands for the others, and by all instances."""
    times = [takes_s(work, threads, barrier_ms) for _, work in instances]
    classes = classes_of(kinds_of(instances, times), sum(times))
    tried = [
        captured(number, times[one.instances[0]], takes_s(instances[one.instances[0]][1], 1, barrier_ms))
        for number, one in enumerate(classes)
        if one.wanted
    ]
    found = replayed_classes(classes, tried)
    assert counted_share(found) >= 0.9
    (foretold,) = [gain.speedup for gain in together(found, sum(times) / len(times)) if gain.mapping == ONE]
    assert foretold is not None
    return foretold, sum(times) / sum(takes_s(work, 1, barrier_ms) for _, work in instances)


def test_foretold_gains_are_near_those_of_whole_runs_and_never_of_the_wrong_sign() -> None:
    pairs = [foretold_and_true(program(), *team) for program in PROGRAMS for team in TEAMS]
    far = [pair for pair in pairs if not abs(pair[0] / pair[1] - 1) <= 0.15]
    wrong = [pair for pair in pairs if (pair[0] - 1) * (pair[1] - 1) < 0 and abs(pair[0] - 1) > 0.05]
    assert len(far) <= 0.1 * len(pairs), far
    assert not wrong


def kinds_of(instances: Work, times: list[float]) -> list[InstanceKind]:
    """Return the kinds as the library lists them (native/regions/region_kinds.c)."""
    found: dict[tuple[int, int, int], list[int]] = {}
    for number, ((caller, work_ms), time_s) in enumerate(zip(instances, times, strict=True)):
        work_s = work_ms / 1000 if work_ms / 1000 >= time_s / 10 else 0.0
        found.setdefault((caller, part_of(time_s, 1 if work_s else 3), part_of(work_s, 2)), []).append(number)

    def work_of(own: list[int]) -> float:
        return sum(instances[n][1] / 1000 for n in own if instances[n][1] / 1000 >= times[n] / 10)

    return [
        InstanceKind(
            caller, 2, len(own), sum(times[n] for n in own), tuple(own[(1 << n) - 1] for n in powers(own)), work_of(own)
        )
        for (caller, *_), own in found.items()
    ]


def part_of(time_s: float, bits: int) -> int:
    ns = int(time_s * 1e9)
    octave = ns.bit_length() - 1
    return (octave << bits) + (ns >> octave - bits & (1 << bits) - 1) if ns >> bits else 0


def powers(own: list[int]) -> list[int]:
    return list(range(len(own).bit_length()))[-6:]


def test_instances_are_counted_once() -> None:
    instances = v_cycle()
    kinds = kinds_of(instances, [takes_s(work, 2, 0.5) for _, work in instances])
    assert sum(kind.count for kind in kinds) == len(instances)
    assert Counter(itertools.chain.from_iterable(kind.numbers for kind in kinds)).most_common(1)[0][1] == 1
