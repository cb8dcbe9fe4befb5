"""What a person reads of a program's regions."""

from pathlib import Path

import msgspec

from numapredict.collect.capturing.gain import Gain
from numapredict.collect.capturing.replayed_class import ReplayedClass
from numapredict.collect.source.place import Frame, Place
from numapredict.predictor.regions.one_mapping import OneMapping
from numapredict.predictor.regions.planned_application import PlannedApplication, PlannedMove, PlannedPlace
from numapredict.predictor.regions.regions_text import regions_in_words
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.predictor.variables.time_cost import TimeCost

BASELINE, HALF, SPREAD = "8x2-contiguous-first-touch", "4x1-contiguous-bind", "8x2-contiguous-interleave"


def region(line: int, time_s: float, *gains: Gain, ratio: float | None = None, problem: str = "") -> ReplayedRegion:
    place = Place("app", 16, (Frame("solve", "app.c", line),))
    words = ("solve", "app", 16, 10, time_s, time_s / 10, 8, place, 2, 0.1)
    return ReplayedRegion(*words, gains, ratio, problem, emptied=0.4)


SURE = Gain(HALF, 0.5, 2.0, 1.9, 3)
ONCE = Gain(SPREAD, 0.9, 1.1, 1.1, 1)
BASE = Gain(BASELINE, 1.0, 1.0, 1.0, 5)
ANSWER = ReplayedRegions(
    command=("./app",),
    machine="shape",
    baseline=BASELINE,
    exit_code=0,
    signal=None,
    wall_s=14.0,
    replay_s=2.0,
    region_time_s=10.0,
    plain_s=11.0,
    regions=(
        region(5, 6.0, BASE, SURE, ONCE, ratio=0.97),
        region(9, 3.0, BASE, ONCE, ratio=1.2),
        region(12, 1.0, problem="an instance takes less than 5 us"),
    ),
    notes=("a note",),
)


def words(answer: ReplayedRegions) -> str:
    return "\n".join(regions_in_words(answer))


def test_each_region_has_its_best_mapping_and_the_others() -> None:
    text = words(ANSWER)
    assert "90% of the time in regions was replayed: 2 regions of 3" in text
    assert "the program itself took 11.00 s, and 12.00 s again, the replays 2.00 s" in text
    first, second = (next(line for line in text.splitlines() if f"app.c:{number}" in line) for number in (5, 9))
    assert first.split()[2:] == ["60%", "100%", "10", "0.97", "40%", "8", HALF, "2.00x", SPREAD, "1.10x", "once"]
    assert "as it is" in second
    assert f"{SPREAD} 1.10x once" in second
    assert "app.c:12, 10% (1.00 s in 10 instances): not replayed, an instance takes less than 5 us" in text
    assert "- a note" in text


def test_what_instances_of_each_length_gain_is_said() -> None:
    long = ReplayedClass(2.0, 3, 0.8, 4, (BASE, SURE))
    short = ReplayedClass(0.01, 70, 0.15, 5, (BASE, Gain(HALF, 0.02, 0.5, 0.5, 3)))
    left = ReplayedClass(0.001, 1, 0.05, problem="it took too long")
    region = msgspec.structs.replace(ANSWER.regions[0], classes=(long, short, left), undone=0.3)
    text = " ".join(words(msgspec.structs.replace(ANSWER, regions=(region,))).split())
    assert (
        f"differ, under {HALF}: 3 instances of 2.00 s (80% of its time, 2.00x), 70 instances of 10.00 ms (15% of its "
        "time, 0.50x), 1 instance of 1.00 ms (5% of its time, not replayed)"
    ) in text
    assert "counts as it is" not in text
    region = msgspec.structs.replace(region, replayed=0.8, problem="it took too long")
    text = " ".join(words(msgspec.structs.replace(ANSWER, regions=(region,))).split())
    assert "20% of solve, app.c:5 was not replayed and counts as it is: it took too long" in text
    assert "may find done what the one before it did: its times are 30% on the way to those of first replays" in text


def test_a_replay_unlike_the_run_is_said_to_be() -> None:
    assert "far from 1" not in words(ANSWER)
    for ratio, named in ((1.4, False), (1.6, True), (0.7, False), (0.6, True)):
        unlike = msgspec.structs.replace(ANSWER, regions=(region(5, 6.0, BASE, SURE, ratio=ratio),))
        assert ("replay/run is far from 1 for solve, app.c:5" in words(unlike)) is named


def test_the_bound_counts_sure_gains_alone() -> None:
    assert ANSWER.speedup == 10 / 7
    assert "all regions 1.43x as fast, at most" in words(ANSWER)


def test_one_mapping_for_the_whole_program_comes_with_its_command() -> None:
    assert "one mapping" not in words(ANSWER)
    sure, lucky = OneMapping(SPREAD, 1.3, 1.1), OneMapping(HALF, 1.5, 0.9)
    assert "one mapping" not in words(msgspec.structs.replace(ANSWER, one_mapping=(lucky, sure)))  # each gained once
    regions = (region(5, 6.0, BASE, msgspec.structs.replace(ONCE, speedup=1.3, rounds=3)), *ANSWER.regions[1:])
    answer = msgspec.structs.replace(ANSWER, regions=regions)
    text = " ".join(words(msgspec.structs.replace(answer, one_mapping=(lucky, sure))).split())
    assert f"one mapping for the whole program, {SPREAD}: all regions 1.30x as fast by these replays (1.10x" in text
    assert f"numapredict run --mapping {SPREAD} -- ./app" in text
    assert "one mapping" not in words(msgspec.structs.replace(ANSWER, one_mapping=(lucky,)))
    assert "one mapping" not in words(msgspec.structs.replace(ANSWER, one_mapping=(OneMapping(HALF, 1.01, 1.01),)))


def test_what_a_plan_moves_is_said_with_what_it_costs_and_gains() -> None:
    places = (PlannedPlace(SPREAD, ("solve, app.c:5",)), PlannedPlace(HALF, ("sum, app.c:9", "put, app.c:12")))
    plan = PlannedApplication("a.plan", SPREAD, 1.4, SPREAD, 1.2, 1.5, 0.0, (), (), ())
    assert "moves" not in words(msgspec.structs.replace(ANSWER, plan=plan))
    moving = msgspec.structs.replace(
        plan, moves=(PlannedMove("grid", 5120, 19.0, places),), move_s=0.4, move_gain_s=3.0
    )
    text = " ".join(words(msgspec.structs.replace(ANSWER, plan=moving)).split())
    assert (
        f"- grid: its 5120 pages move 19 times in the run as under {SPREAD} for solve, app.c:5 as under {HALF} for "
        "sum, app.c:9 and put, app.c:12 - moves of pages gain 3.00 s, over the best plan that moves none, and cost "
        "400.00 ms"
    ) in text


def test_a_plan_that_was_measured_says_what_it_takes_off() -> None:
    plan = PlannedApplication(
        "a.plan",
        SPREAD,
        1.4,
        SPREAD,
        1.2,
        1.5,
        0.0,
        (),
        (),
        (),
        time=TimeCost(share=0.3, lowest=0.2, highest=0.31, rounds=3),
    )
    text = " ".join(words(msgspec.structs.replace(ANSWER, plan=plan)).split())
    assert "in turn with the run as it is, it saves 30.0% (20.0% to 31.0%) of the time in parallel regions" in text


def test_no_gain_and_no_replay_are_answers() -> None:
    nothing = msgspec.structs.replace(ANSWER, regions=(region(9, 10.0, BASE, ONCE),))
    assert f"no region gains from another mapping: {BASELINE} is right for all of them" in words(nothing)
    failed = Gain(BASELINE, None, None, problem="it makes the system call write, whose effects would be seen outside")
    refused = msgspec.structs.replace(ANSWER, regions=(region(9, 10.0, failed),))
    assert "it makes the system call write" in words(refused)
    assert f"nothing could be replayed: the baseline {BASELINE} stays" in words(refused)
    empty = msgspec.structs.replace(ANSWER, regions=(), disturbed="other programs used 1.0 of its 2 PUs")
    assert words(empty) == "regions: no OpenMP parallel region began"


def test_an_interrupted_first_run_has_the_regions_times_and_none_of_the_program() -> None:
    regions = (region(5, 6.0, problem="the first run was interrupted"),)
    text = words(msgspec.structs.replace(ANSWER, regions=regions, plain_s=0.0, wall_s=0.0, replay_s=0.0))
    assert text.splitlines()[0] == "regions: 0% of the time in regions was replayed: 0 regions of 1"
    assert "app.c:5, 60% (6.00 s in 10 instances): not replayed, the first run was interrupted" in text


def test_a_region_without_a_line_has_its_module_and_offset() -> None:
    unknown = msgspec.structs.replace(ANSWER.regions[0], name="", place=None, module=str(Path("/lib/libsolve.so")))
    assert "libsolve.so+0x10" in words(msgspec.structs.replace(ANSWER, regions=(unknown,)))


def test_beside_a_load_the_load_comes_first_and_nothing_is_claimed() -> None:
    busy = msgspec.structs.replace(ANSWER, disturbed="other programs used 1.0 of its 2 PUs")
    first, *others = " ".join(words(busy).split()).split(" regions: ")
    assert first == (
        "this computer was busy, other programs used 1.0 of its 2 PUs: no gain can be told; measure again when it is "
        "quiet"
    )
    assert "fastest meanwhile" in others[0]
    for claim in ("best mapping", "gain ", "as fast", "numapredict run"):
        assert claim not in others[0]
        assert claim in words(ANSWER) or claim == "numapredict run"
    assert not busy.is_worth_it
    assert busy.whole_program is None
