"""No gain is claimed from a busy computer: what others took is told first, and then what was measured."""

import pytest

from numapredict.collect.mapping import AnyMapping
from numapredict.collect.measuring.quiet import SHORT_S
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.advice_text import advice_in_words
from numapredict.predictor.advising.brief_text import advice_in_brief
from numapredict.predictor.advising.emitted_command import command_for_advice
from numapredict.reports.parts.advice_consistency import check_advice
from tests.searches import APP, LOCAL, Computer, answered, times

LOAD = "other programs used 1.0 of its 2 PUs"


def short(**others: float) -> dict[AnyMapping, float]:
    """Return the times of a program that is too short for the kernel's ticks."""
    return {mapping: SHORT_S / 16 * time_s for mapping, time_s in times(8.0, **others).items()}


def told(found: Advice) -> str:
    """Return the answer in brief, in one line."""
    return " ".join(advice_in_brief(found).split())


def test_a_quiet_computers_gain_is_claimed() -> None:
    found = answered(Computer(times(8.0, local=4.0)))
    assert (found.mapping, found.disturbed) == (LOCAL, "")
    assert "busy" not in advice_in_words(found)


@pytest.mark.parametrize("number", [0, 1, 2], ids=["as it is", "second", "third"])
def test_a_disturbed_run_ends_in_no_claim_and_nothing_is_confirmed(number: int) -> None:
    computer = Computer(times(8.0, local=4.0))
    computer.busy = {number: LOAD}
    found = answered(computer)
    assert (found.keep, found.mapping, found.speedup, found.disturbed) == (True, AS_IT_IS, 1.0, LOAD)
    assert found.confirmation is None
    assert len(computer.ran) == number + 1, "no answer can follow"
    meanwhile = f" measured meanwhile, which says little: 2.00x under {LOCAL}" if number else ""
    assert told(found).startswith(
        f"./app 'in put' on planted best mapping keep what you have: this computer was busy, {LOAD}: no gain can be "
        f"told; measure again when it is quiet{meanwhile} to apply it"
    )
    assert found.next is None
    assert "a further run" not in advice_in_words(found)
    check_advice(found, None)


def test_so_does_one_that_was_ended() -> None:
    computer = Computer(times(8.0, local=20.0))
    computer.busy = {1: LOAD}
    found = answered(computer)
    assert [run.outcome for run in found.runs] == ["done", "ended"]
    assert (found.keep, found.disturbed) == (True, LOAD)


def test_no_command_of_a_tool_says_that_nothing_was_faster(caplog: pytest.LogCaptureFixture) -> None:
    computer = Computer(times(8.0, local=4.0))
    computer.busy = {1: LOAD}
    assert command_for_advice("numactl", answered(computer), APP).strip() == "./app 'in put'"
    assert f"numapredict: this computer was busy, {LOAD}" in caplog.text
    assert "no mapping was faster" not in caplog.text


def test_a_disturbed_confirming_run_ends_the_confirmation() -> None:
    computer = Computer(times(8.0, local=4.0))
    computer.busy = {4: LOAD}
    found = answered(computer)
    assert (found.keep, found.disturbed) == (True, LOAD)
    assert found.confirmation is not None
    assert (found.confirmation.won, found.confirmation.speedup) == (False, None)
    assert len(computer.ran) == 5
    check_advice(found, None)


@pytest.mark.parametrize("looks", [[LOAD], ["", LOAD]], ids=["before", "after"])
def test_around_a_short_program_the_computer_is_looked_at(looks: list[str]) -> None:
    computer = Computer(short(local=4.0))
    computer.looks = list(looks)
    found = answered(computer)
    assert (found.keep, found.disturbed) == (True, LOAD)
    assert computer.looks == []
    check_advice(found, None)


def test_a_long_program_shows_by_itself_what_others_use() -> None:
    computer = Computer(times(8.0, local=4.0))
    computer.looks = [LOAD]
    assert answered(computer).mapping == LOCAL


def test_where_nothing_was_faster_no_second_look_is_taken() -> None:
    computer = Computer(short(local=16.0))
    computer.looks = ["", LOAD]
    found = answered(computer)
    assert (found.keep, found.disturbed) == (True, "")
    assert computer.looks == [LOAD]
