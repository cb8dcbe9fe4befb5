"""Where the pages of an array go in a plan: as the regions that decide want them."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from numapredict.collect.capturing.gain import Gain
from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.predictor.regions import planning
from numapredict.predictor.regions.application_plan import Uses
from numapredict.predictor.regions.one_mapping import OneMapping
from numapredict.predictor.regions.planning import Wish, _Data, _few_samples, _plan_like
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.predictor.regions.touch_groups import TouchGroups
from tests.shapes import shape

BASE, LOCAL = "8x2-contiguous-first-touch", "8x2-contiguous-locality"
APART = TouchGroups({0: frozenset({1}), 1: frozenset({2})}, {1: frozenset({0}), 2: frozenset({1})})
"""Region 0 and region 1 touch the array from different nodes."""


class Array:
    """An array of which nothing else is asked here."""

    ranges = ("a range",)


def data(replayed: Collection[int]) -> _Data:
    uses = Uses(("a",), (1000,), {0: frozenset({1}), 1: frozenset({1})}, APART)
    profile: Any = object()
    arrays: Any = (Array(),)
    return _Data(profile, arrays, uses, {0: 5, 1: 7}, frozenset(replayed))


@pytest.mark.parametrize("own", [0, 1])
def test_the_samples_of_the_regions_that_decide_alone_place_an_array(own: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other region was not replayed: it is in the profile, and decides nothing."""
    asked: list[set[int]] = []

    def of_regions(profile: object, ranges: Sequence[object], regions: set[int]) -> tuple[object, Sequence[object]]:
        asked.append(regions)
        return profile, ranges

    monkeypatch.setattr(planning, "of_regions", of_regions)
    monkeypatch.setattr(planning, "plan_of", lambda *given: given)
    known = data({own})
    assert known.users(1) == [own]
    placement = resolve(parse_label(BASE), shape([4, 4]))
    for label in (LOCAL, "8x2-contiguous-interleave"):
        _plan_like((label, known.users(1)), 1, known, placement)
    assert asked == [{5 if own == 0 else 7}]  # interleaving asks for no touches


def test_a_profile_of_another_program_is_told_from_one_with_few_samples() -> None:
    region = ReplayedRegion("solve", "/app", 16, 10, 1.0, 0.1, 8, gains=(Gain(BASE, 1.0, 1.0, 1.0, 5),))
    answer = ReplayedRegions(("app",), "m", BASE, 0, None, 2.0, 1.0, 1.0, (region,))
    wish, profile = Wish(Path("plan"), Path("a profile")), data({0}).profile
    for known, said in (
        (_Data(profile), "it is of another program"),
        (_Data(profile, numbers={0: 5}), "too few samples of 1 of 1"),
    ):
        (note,) = _few_samples(known, answer, wish)
        assert note.startswith("a profile ")
        assert said in note


@pytest.mark.parametrize(("rounds", "advised"), [(1, False), (3, True)])
def test_a_mapping_that_gained_in_one_round_is_not_advised_for_all_regions(rounds: int, advised: bool) -> None:
    gains = (Gain(BASE, 1.0, 1.0, 1.0, 5), Gain(LOCAL, 0.5, 2.0, 2.0, rounds))
    region = ReplayedRegion("solve", "/app", 16, 10, 1.0, 0.1, 8, gains=gains)
    answer = ReplayedRegions(
        ("app",), "m", BASE, 0, None, 2.0, 1.0, 1.0, (region,), one_mapping=(OneMapping(LOCAL, 2.0, 2.0),)
    )
    assert (answer.whole_program is not None) == advised
