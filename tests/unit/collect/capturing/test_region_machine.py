"""Which placements an application's regions are replayed under for a campaign, and what becomes of the times."""

from collections.abc import Callable, Sequence

import pytest

from numapredict.collect.capturing import exchange, region_machine
from numapredict.collect.capturing.exchange import AskedRegion, Outcome
from numapredict.collect.capturing.instance_class import InstanceClass, RegionInstances
from numapredict.collect.capturing.region_machine import RegionMachine, place_of
from numapredict.collect.capturing.watcher import CapturedRegion, Replay
from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.hardware import HardwareMachine
from numapredict.collect.placement import resolve
from numapredict.collect.program import Program
from tests.shapes import shape

TOPOLOGY = shape([4, 4])
BASELINE = "8x2-contiguous-first-touch"
LABELS = (BASELINE, "4x1-contiguous-bind", "8x2-contiguous-locality")
ROUNDS = 2

APPLICATION = Program(name="app", command=("app", "1"))
FIRST, SECOND = (
    Program(name=f"app 1:{name}", command=("app", "1"), region=("/bin/app", offset), group="regions:app")
    for name, offset in (("first", 16), ("second", 32))
)


class Fake(HardwareMachine):
    """A computer of this topology that runs nothing."""

    def supports(self, mapping: object) -> bool:
        return True


def machine(slice_s: float = 1e9) -> RegionMachine:
    hardware = Fake(TOPOLOGY)
    found = RegionMachine(hardware, hardware, ROUNDS, slice_s)
    for program in (FIRST, SECOND):
        found.expect(program, tuple(map(parse_label, LABELS)))
    return found


def asked(offset: int, *, number: int = 0, mean_s: float = 1.0) -> AskedRegion:
    return AskedRegion(offset, "/other/app", offset, 99, 2, 8, mean_s, number)


def made(
    chosen: Callable[[AskedRegion], object], question: AskedRegion, times: Callable[[str, int], Outcome]
) -> tuple[CapturedRegion, object]:
    """Return what an instance was replayed under, where ``times`` says what comes of a mapping's n-th replay."""
    replays: list[Replay] = []
    choices = chosen(question)
    try:
        placement = next(choices)  # type: ignore[call-overload]
        while True:
            label = placement.mapping.label
            outcome = times(label, sum(each.mapping == label for each in replays))
            replays.append(Replay(label, outcome))
            placement = choices.send(outcome)  # type: ignore[attr-defined]
    except StopIteration as ended:
        return CapturedRegion(question, tuple(replays), 1.0), ended.value


def took(label: str, _: int = 0) -> Outcome:
    return Outcome(({"4x1-contiguous-bind": 2.0, "8x2-contiguous-locality": 0.5}.get(label, 1.0),) * 3, 8)


def labels(captured: CapturedRegion) -> list[str]:
    return [each.mapping for each in captured.replays]


def first_of(label: str, subject: RegionMachine) -> Callable[[AskedRegion], object]:
    return subject.replays(APPLICATION, place_of("/bin/app", 16), resolve(parse_label(label), TOPOLOGY))


@pytest.mark.parametrize("label", ["4x1-contiguous-bind", "8x2-contiguous-locality"])
def test_the_mapping_that_is_asked_for_comes_first_and_the_default_s_is_around_each(label: str) -> None:
    captured, another = made(first_of(label, machine()), asked(16), took)
    (other,) = {"4x1-contiguous-bind", "8x2-contiguous-locality"} - {label}
    assert labels(captured) == [BASELINE, *[label, BASELINE] * ROUNDS, *[other, BASELINE] * ROUNDS]
    assert another is False


def test_regions_that_no_program_stands_for_are_not_replayed() -> None:
    assert labels(made(first_of(LABELS[1], machine()), asked(48), took)[0]) == []


def test_the_region_that_is_asked_for_always_gets_its_first_mapping() -> None:
    chosen = first_of(LABELS[1], machine(slice_s=1e-9))
    assert labels(made(chosen, asked(32), took)[0])[1:2] != []
    assert labels(made(chosen, asked(32), took)[0]) == []  # the time for others is used up
    assert labels(made(chosen, asked(16), took)[0]) == [BASELINE, *[LABELS[1], BASELINE] * ROUNDS]


def test_an_instance_of_another_length_is_left_for_another_one() -> None:
    chosen = first_of(LABELS[1], machine())
    captured, another = made(chosen, asked(16, mean_s=9.0), took)
    assert (labels(captured), another) == ([BASELINE], True)
    assert cells([captured]) == {}  # nor has it times


def test_a_further_class_of_instances_has_the_mappings_of_the_first() -> None:
    chosen = first_of(LABELS[1], machine())
    first, _ = made(chosen, asked(16), took)
    further, _ = made(chosen, asked(16, number=1), took)
    assert labels(further) == labels(first)


def cells(
    tried: Sequence[CapturedRegion], *classes: InstanceClass, mean_s: float = 3.0
) -> dict[str, tuple[tuple[float, ...], str]]:
    """Return the cells of a region whose instances took so long in the first run."""
    known = classes or (InstanceClass(1.0, 4, 1.0, (2,)),)
    region = RegionInstances(7, "/bin/app", 16, 4, 4 * mean_s, 1.0, known)
    found = region_machine._cells(tried, region, ROUNDS)
    return {label: (cell.times_s, cell.problem) for label, cell in found.items()}


def test_a_time_is_the_run_s_own_over_the_gain_of_each_round() -> None:
    def outcome(label: str, number: int) -> Outcome:
        slower = 1.0 if label == BASELINE else 1 + 0.1 * number  # in the second round
        return Outcome(tuple(each * slower for each in took(label).times_s), 8)

    captured, _ = made(first_of(LABELS[1], machine()), asked(16), outcome)
    found = cells([captured])
    assert found[BASELINE] == (pytest.approx((3.0, 3.0)), "")
    assert found["4x1-contiguous-bind"] == (pytest.approx((6.0, 6.6)), "")
    assert found["8x2-contiguous-locality"] == (pytest.approx((1.5, 1.65)), "")


def test_a_mapping_that_cannot_be_replayed_has_no_times_and_a_region_that_cannot_be_has_nothing() -> None:
    def outcome(label: str, _: int) -> Outcome:
        return Outcome((), problem="it ended by SIGSEGV") if label == LABELS[1] else took(label)

    captured, _ = made(first_of(LABELS[1], machine()), asked(16), outcome)
    found = cells([captured])
    assert found["4x1-contiguous-bind"] == ((), "it ended by SIGSEGV")
    assert found["8x2-contiguous-locality"][0] == pytest.approx((1.5, 1.5))
    captured, _ = made(first_of(LABELS[1], machine()), asked(16), lambda *_: Outcome((), problem="it took too long"))
    assert labels(captured) == [BASELINE]
    assert cells([captured]) == {}
    assert cells([]) == {}


def test_classes_of_instances_count_by_their_time() -> None:
    chosen, subject = first_of(LABELS[1], machine()), asked(16)

    def short(label: str, _: int) -> Outcome:
        return Outcome(({"4x1-contiguous-bind": 0.05}.get(label, 0.1),) * 3, 8)

    long, _ = made(chosen, subject, took)
    small, _ = made(chosen, asked(16, number=1, mean_s=0.1), short)
    # Two long ones of a second each, and ten short ones of a tenth each.
    classes = InstanceClass(1.0, 2, 2 / 3, (2,)), InstanceClass(0.1, 10, 1 / 3, (3,))
    slower = 2 / 3 * 2.0 + 1 / 3 * 0.5
    found = cells([long, small], *classes, mean_s=0.25)
    assert found["4x1-contiguous-bind"][0] == pytest.approx((0.25 * slower,) * ROUNDS)


def test_the_default_alone_is_replayed_as_often_as_there_are_rounds() -> None:
    subject = RegionMachine(Fake(TOPOLOGY), Fake(TOPOLOGY), ROUNDS)
    captured, _ = made(first_of(BASELINE, subject), asked(16), took)
    assert labels(captured) == [BASELINE] * ROUNDS
    assert cells([captured]) == {BASELINE: (pytest.approx((3.0, 3.0)), "")}


def test_what_is_not_expected_is_not_replayed_but_what_is_asked_for() -> None:
    subject = RegionMachine(Fake(TOPOLOGY), Fake(TOPOLOGY), ROUNDS)
    chosen = first_of(LABELS[1], subject)
    assert labels(made(chosen, asked(16), took)[0]) == [BASELINE, *[LABELS[1], BASELINE] * ROUNDS]
    assert labels(made(chosen, asked(32), took)[0]) == []


def test_the_default_s_times_are_as_far_apart_as_its_replays() -> None:
    times = iter((1.0, 1.0, 1.2, 1.0, 1.1))
    captured, _ = made(
        first_of(LABELS[1], RegionMachine(Fake(TOPOLOGY), Fake(TOPOLOGY), ROUNDS)),
        asked(16),
        lambda label, _: Outcome((next(times),) * 3, 8),
    )
    assert cells([captured])[BASELINE][0] == pytest.approx((3.0 / 1.1, 3.0 * 1.2 / 1.1))


class Failing(Fake):
    """Runs that crash, counted."""

    runs = 0

    def run(self, program: Program, mapping: object, limit: object = None) -> Measurement:
        Failing.runs += 1
        label = parse_label(BASELINE)
        return Measurement(
            program=program.name, mapping=label, machine="", modelled=False, status="timeout", message="9 s"
        )


def test_whole_runs_that_fail_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MOST_THREADS", 4)  # a replay of eight has no room
    subject = RegionMachine(Fake(TOPOLOGY), Failing(TOPOLOGY), ROUNDS)
    for program in (FIRST, SECOND):
        found = subject.run(program, parse_label("8x2-contiguous-dataset"))
        assert (found.program, found.status, found.message) == (program.name, "timeout", "9 s")
    assert Failing.runs == 1


def test_whole_programs_are_measured_as_without_regions() -> None:
    subject, ran = machine(), list[str]()

    def run(program: Program, mapping: object) -> Measurement:
        ran.append(program.name)
        return Measurement(program=program.name, mapping=parse_label(BASELINE), machine="", modelled=False)

    subject._hardware.run = run  # type: ignore[assignment,method-assign]
    subject.run(APPLICATION, parse_label(BASELINE))
    assert ran == ["app"]
