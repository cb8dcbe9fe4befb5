"""Which mappings a region is replayed under, and what is made of the times."""

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable

import msgspec
import numpy as np
import pytest

from numapredict.collect.capturing.exchange import AskedRegion, Outcome
from numapredict.collect.capturing.gain import CONFIRMING, Gain, gains_of, needs_none_after
from numapredict.collect.mapping import parse_label
from numapredict.predictor.regions.choice import CANDIDATES, Tries, replayed
from numapredict.predictor.searching.known_gains import known_gains
from numapredict.predictor.searching.prior import Prior
from tests.shapes import shape

TOPOLOGY = shape([4, 4])
BASELINE, HALF, SPREAD, BOUND = LABELS = (
    "8x2-contiguous-first-touch",
    "4x1-contiguous-bind",
    "8x2-contiguous-interleave",
    "8x2-contiguous-bind@1",
)
# In log2, of three known programs that react in a way of their own each.
GAINS = np.array([[0.0, 1.0, 0.1, -1.0], [0.0, -1.0, 0.8, 0.2], [0.0, -1.0, -0.5, 0.3]])
PRIOR = Prior(tuple(map(parse_label, LABELS)), known_gains(GAINS, ("a", "b", "c")), 0, "three programs")

Times = Callable[[str, int], Outcome]


def region(team: int = 8) -> AskedRegion:
    return AskedRegion(key=1, module="app", offset=16, process=1, instance=2, team=team, mean_s=1.0)


def replays(outcomes: Times, team: int = 8) -> list[tuple[str, Outcome]]:
    """Return what is replayed where ``outcomes`` says what comes of a mapping's n-th replay."""
    made: list[tuple[str, Outcome]] = []
    choices = replayed(region(team), PRIOR, 0, TOPOLOGY)
    try:
        placement = next(choices)
        while True:
            label = placement.mapping.label
            made.append((label, outcomes(label, sum(label == other for other, _ in made))))
            placement = choices.send(made[-1][1])
    except StopIteration:
        return made


def took(seconds: float) -> Outcome:
    return Outcome((seconds, seconds * 1.5, seconds / 1.5), 8)


def labels(made: Iterable[tuple[str, Outcome]]) -> list[str]:
    return [label for label, _ in made]


def test_the_baseline_is_replayed_around_every_other_mapping_and_the_winner_again() -> None:
    made = replays(lambda label, _: took({SPREAD: 0.5}.get(label, 1.0)))
    assert labels(made)[::2] == [BASELINE] * (len(made) // 2 + 1)
    others = labels(made)[1::2]
    assert set(others) == {HALF, SPREAD, BOUND}
    assert others[-CONFIRMING:] == [SPREAD] * CONFIRMING
    assert len(others) == 3 + CONFIRMING


def test_what_gained_first_decides_what_comes_next() -> None:
    made = labels(replays(lambda label, _: took({HALF: 0.5}.get(label, 1.0))))
    assert made[1] == HALF  # adds most over all known programs
    slow = labels(replays(lambda label, _: took({HALF: 2.0}.get(label, 1.0))))
    assert slow[3] == SPREAD  # as the programs that lose by it do


@pytest.mark.parametrize(("time_s", "another"), [(1.1, False), (2.1, True), (0.6, False), (0.4, True)])
def test_another_instance_is_asked_for_where_one_is_of_another_length(time_s: float, another: bool) -> None:
    choices = replayed(region(), PRIOR, 0, TOPOLOGY)
    next(choices)
    if not another:
        assert choices.send(took(time_s)).mapping.label != BASELINE
        return
    with pytest.raises(StopIteration) as ended:
        choices.send(took(time_s))
    assert ended.value.value is True


def test_after_enough_no_more_is_tried_but_the_best_is_confirmed() -> None:
    def others(tries: Tries) -> list[str]:
        choices, found = replayed(region(), PRIOR, 0, TOPOLOGY, tries), [BASELINE]
        next(choices)
        with contextlib.suppress(StopIteration):
            while True:
                time_s = 0.5 if found[-1] == HALF else 1.0
                found.append(choices.send(took(time_s)).mapping.label)
        return [label for label in found if label != BASELINE]

    assert others(Tries(others=(BOUND, SPREAD), enough=lambda: True)) == [HALF] * (1 + CONFIRMING)
    assert set(others(Tries(others=(BOUND, SPREAD)))) == {HALF, BOUND, SPREAD}


def test_mappings_that_gained_in_other_regions_are_replayed_after_the_candidates() -> None:
    def first_ones(*others: str, team: int = 8) -> list[str]:
        choices = replayed(region(team), PRIOR, 0, TOPOLOGY, Tries(candidates=1, others=others))
        found = [next(choices).mapping.label]
        with contextlib.suppress(StopIteration):
            while len(found) < 100:
                found.append(choices.send(took(1.0)).mapping.label)
        return found[1::2]

    (candidate,) = first_ones()
    assert first_ones(BOUND, SPREAD) == [candidate, SPREAD, BOUND]
    assert first_ones(candidate, BASELINE, "1x1-contiguous-bind") == [candidate]


def test_a_further_class_of_instances_is_replayed_as_the_first_was_and_confirms_its_best() -> None:
    def made(time_s: float, *others: str) -> tuple[list[str], bool]:
        choices = replayed(region(), PRIOR, 0, TOPOLOGY, Tries(others=others, further=True))
        found = [next(choices).mapping.label]
        while True:
            try:
                found.append(choices.send(took(time_s if found[-1] == BASELINE else 2.0)).mapping.label)
            except StopIteration as ended:
                return found[1::2], bool(ended.value)

    assert made(1.0, SPREAD, BASELINE, HALF) == ([HALF, SPREAD, SPREAD, SPREAD], False)
    assert made(1.0, BASELINE, HALF) == ([HALF], False)
    assert made(3.0, SPREAD) == ([], True)  # it is of another class


def test_for_a_plan_the_threads_stay_and_pages_alone_change_and_the_best_of_these_is_confirmed_too() -> None:
    labels_of = (*LABELS, "8x2-contiguous-locality")
    known = known_gains(np.column_stack([GAINS, GAINS[:, 2]]), ("a", "b", "c"))
    prior = Prior(tuple(map(parse_label, labels_of)), known, 0, "three programs")
    times = {HALF: 0.25, "8x2-contiguous-locality": 0.5, SPREAD: 0.8}

    def others(tries: Tries) -> list[str]:
        choices = replayed(region(), prior, 0, TOPOLOGY, tries)
        found = [next(choices).mapping.label]
        with contextlib.suppress(StopIteration):
            while True:
                time_s = times.get(found[-1], 1.0)
                found.append(choices.send(took(time_s)).mapping.label)
        return [label for label in found if label != BASELINE]

    assert others(Tries(1)) == [HALF] * 3
    assert others(Tries(1, pages_alone=True)) == [HALF, SPREAD, labels_of[-1], HALF, HALF, *[labels_of[-1]] * 2]
    times[HALF] = 2.0
    assert others(Tries(1, pages_alone=True))[3:] == [labels_of[-1]] * 2  # it is the best, and confirmed once
    told = Tries(others=(HALF, labels_of[-1], BASELINE, SPREAD), pages_alone=True, further=True)
    assert others(told) == [HALF, SPREAD, labels_of[-1], HALF, HALF, *[labels_of[-1]] * 2]
    told = Tries(others=(HALF, BASELINE, labels_of[-1], SPREAD), pages_alone=True, further=True)
    assert others(told)[3:] == [HALF, HALF]


def test_a_lucky_winner_is_not_confirmed_and_the_next_one_is() -> None:
    def outcome(label: str, turn: int) -> Outcome:
        if label == HALF:
            return took(0.4 if turn == 0 else 1.2)
        return took(0.8 if label == SPREAD else 1.0)

    gains = {gain.mapping: gain for gain in gains_of(replays(outcome))}
    assert not gains[HALF].is_sure
    assert gains[HALF].lowest == pytest.approx(1 / 1.2)
    assert gains[SPREAD].is_sure
    assert gains[SPREAD].speedup == pytest.approx(1.25)


def test_a_baseline_that_cannot_be_replayed_ends_it() -> None:
    made = replays(lambda *_: Outcome((), problem="it makes the system call write"))
    assert labels(made) == [BASELINE]
    assert gains_of(made) == (Gain(BASELINE, None, None, problem="it makes the system call write"),)


def test_a_mapping_that_cannot_be_replayed_is_left_out_and_the_others_go_on() -> None:
    made = replays(lambda label, _: Outcome((), problem="it ended by SIGSEGV") if label == HALF else took(1.0))
    gains = {gain.mapping: gain for gain in gains_of(made)}
    assert gains[HALF].speedup is None
    assert gains[HALF].problem == "it ended by SIGSEGV"
    assert gains[SPREAD].speedup == pytest.approx(1.0)


def test_a_region_with_its_own_number_of_threads_has_mappings_of_as_many() -> None:
    assert set(labels(replays(lambda *_: took(1.0), team=4))) == {BASELINE, HALF}
    assert set(labels(replays(lambda *_: took(1.0), team=3))) == {BASELINE}


def test_the_baseline_is_not_replayed_after_what_is_clearly_worse() -> None:
    def outcome(label: str, _: int) -> Outcome:
        time_s = {HALF: 1.5, SPREAD: 1.2}.get(label, 1.0)
        return Outcome((time_s, time_s * 1.01), 8) if label != BOUND else Outcome((), problem="it ended by SIGSEGV")

    made = replays(outcome)
    after = {one: other for one, other in itertools.pairwise(labels(made)) if one != BASELINE}
    assert after.pop(SPREAD) == BASELINE  # it might be the computer
    assert BASELINE not in after.values()
    gains = {gain.mapping: gain for gain in gains_of(made)}
    assert (gains[HALF].speedup, gains[SPREAD].speedup) == (pytest.approx(1 / 1.5), pytest.approx(1 / 1.2))
    assert gains[BOUND].problem == "it ended by SIGSEGV"
    cold = [msgspec.structs.replace(one, emptied_s=(3.0,)) for one in (outcome(BASELINE, 0), outcome(HALF, 0))]
    assert not needs_none_after(*cold)  # with empty caches it is as good


def test_the_baseline_s_own_instances_say_how_empty_the_caches_are() -> None:
    def last_gain(mean_s: float) -> list[str]:
        choices = replayed(msgspec.structs.replace(region(), mean_s=mean_s), PRIOR, 0, TOPOLOGY, Tries(candidates=1))
        made = []
        with contextlib.suppress(StopIteration):
            made.append(next(choices).mapping.label)
            while True:
                warm_s, cold_s = (1.0, 3.0) if made[-1] == BASELINE else (0.5, 9.0)
                made.append(choices.send(Outcome((warm_s,), 8, emptied_s=(cold_s,))).mapping.label)
        return made

    assert len(last_gain(1.0)) == 3 + 2 * CONFIRMING  # the other mapping gains while caches are warm
    assert len(last_gain(3.0)) == 3


def test_there_are_only_so_many_candidates() -> None:
    wide = shape([16, 16, 16, 16])
    many = tuple(parse_label(f"{threads}x4-contiguous-first-touch") for threads in range(8, 64, 4))
    gains = np.abs(np.random.default_rng(1).normal(size=(20, len(many))))
    gains[:, 0] = 0.0
    prior = Prior(many, known_gains(gains, tuple(map(str, range(20)))), 0, "")
    choices = replayed(region(many[0].threads), prior, 0, wide)
    label, asked = next(choices).mapping.label, []
    while True:
        asked.append(label)
        try:
            label = choices.send(took(1.0 if label == many[0].label else math.pi)).mapping.label
        except StopIteration:
            break
    assert len(asked) == 1 + CANDIDATES  # all are clearly worse
