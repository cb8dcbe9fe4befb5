"""What a run that adapts says at its end."""

import msgspec
import pytest

from numapredict.native.errors import UsageError
from numapredict.predictor.adapting.adapted import (
    BASELINE,
    Adapted,
    TeamOfRegion,
    TriedMapping,
    adapted_in_words,
    starts_next_run,
)
from numapredict.predictor.adapting.session import share_of

ALONE = Adapted(
    command=("./app",),
    machine="here",
    start="as-it-is",
    mapping="as-it-is",
    speedup=1.0,
    spent_s=0.0,
    saved_s=0.0,
    pages=0,
    step_regions=0,
    step_s=0.0,
    trials=(),
    left_alone="",
    kept=False,
    time_s=10.0,
    exit_code=0,
    signal=None,
    status="ended",
)
KEPT = TriedMapping(
    mapping="8x2-contiguous-locality",
    before="as-it-is",
    outcome="kept",
    speedup=1.5,
    cost_s=-0.1,
    at_s=2.0,
    steps=3,
)


def test_a_program_that_is_left_alone() -> None:
    alone = msgspec.structs.replace(ALONE, left_alone="several of its threads start regions")
    assert list(adapted_in_words(alone)) == ["adapt: left alone: several of its threads start regions"]
    (line,) = adapted_in_words(ALONE)
    assert "ended too early" in line


def test_what_was_kept_what_it_gained_and_what_it_cost() -> None:
    bad = msgspec.structs.replace(KEPT, mapping="4x1-contiguous-bind", outcome="cut short", speedup=0.5, cost_s=0.25)
    found = msgspec.structs.replace(
        ALONE,
        mapping=KEPT.mapping,
        speedup=1.5,
        spent_s=0.25,
        saved_s=2.0,
        step_regions=4,
        trials=(KEPT, bad),
        kept=True,
    )
    first, second, last = adapted_in_words(found)
    assert first == "adapt: after 2.00 s: 8x2-contiguous-locality kept: 1.50x over as-it-is"
    assert second.endswith("4x1-contiguous-bind cut short: at most 0.50x over as-it-is, which cost 250.00 ms")
    assert "1.50x as fast" in last
    assert last.endswith("trials cost 250.00 ms of 10.00 s and gained 2.00 s; the next run starts with it")


def test_what_smaller_teams_gained_is_said_with_the_turns_that_say_so() -> None:
    trial = msgspec.structs.replace(KEPT, mapping=BASELINE, turns=4, teams=True)
    teams = (TeamOfRegion(7, "4x1"), TeamOfRegion(9, "1x1"))
    found = msgspec.structs.replace(
        ALONE, speedup=1.5, spent_s=0.01, saved_s=2.0, step_regions=4, trials=(trial,), kept=True, regions=teams
    )
    first, last = adapted_in_words(found)
    assert first == "adapt: after 2.00 s: smaller teams of regions kept: 1.50x over as-it-is in 4 pairs of turns"
    assert last == (
        "adapt: at the end as it is, with a smaller team in 2 regions, steps 1.50x as fast as at the start, by 4 pairs "
        "of turns; trials cost 10.00 ms of 10.00 s and gained 2.00 s; the next run starts with it"
    )
    none = msgspec.structs.replace(trial, outcome="no gain", turns=0)
    first, last = adapted_in_words(msgspec.structs.replace(ALONE, step_regions=4, trials=(none,)))
    assert first.endswith("smaller teams of regions left again: none was faster")
    assert "turns" not in last


def test_a_program_that_was_killed_says_where_it_was() -> None:
    found = msgspec.structs.replace(ALONE, mapping=KEPT.mapping, step_regions=1, trials=(KEPT,), status="cut off")
    assert list(adapted_in_words(found))[-1] == "adapt: at the last trial's end 8x2-contiguous-locality"


def test_the_next_run_begins_with_what_gained() -> None:
    assert starts_next_run(KEPT.mapping, BASELINE, 0.5)
    assert starts_next_run(KEPT.mapping, KEPT.mapping, 0.0)
    assert not starts_next_run(KEPT.mapping, BASELINE, 0.001)
    assert not starts_next_run(BASELINE, BASELINE, 0.0)


@pytest.mark.parametrize(("text", "share"), [(None, 0.05), ("2%", 0.02), ("0.1", 0.1), ("50%", 0.5)])
def test_shares(text: str | None, share: float) -> None:
    assert share_of(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "%", "5", "0", "-1%", "nan", "51%", "a lot"])
def test_other_shares_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="such as 5%"):
        share_of(text)


def test_beside_a_load_the_load_comes_first_and_no_gain_is_claimed() -> None:
    tried = msgspec.structs.replace(ALONE, trials=(KEPT,), step_regions=2, speedup=1.5)
    busy = msgspec.structs.replace(tried, disturbed="other programs used 1.0 of its 2 PUs")
    first, *_, last = adapted_in_words(busy)
    assert first.startswith("adapt: this computer was busy, other programs used 1.0 of its 2 PUs: no gain can be told")
    assert last == "adapt: what was measured meanwhile says little, and is not kept"
    assert not any("as fast" in line for line in adapted_in_words(busy))
    assert any("as fast" in line for line in adapted_in_words(tried))
