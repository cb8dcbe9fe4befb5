import math
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.collect.mapping import AnyMapping, parse_label
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.collect.measuring.run_limit import UNLIMITED, RunLimit
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.program import program_of
from numapredict.predictor.advising.advice import Advice, advise
from numapredict.predictor.advising.advice_text import advice_in_words
from numapredict.predictor.advising.emitted_command import command_for_advice
from numapredict.predictor.advising.kept_runs import KeptRuns
from numapredict.predictor.advising.search import search
from numapredict.predictor.advising.search_options import SearchOptions
from numapredict.predictor.searching.known_gains import known_gains
from tests.searches import APP, DEFAULT, HALF, LOCAL, ONE, PRIOR, SPREAD, TOPOLOGY, Computer, Noisy, answered, times


def flat(found: Advice) -> str:
    """Return the answer in words, in one line."""
    return " ".join(advice_in_words(found).split())


def test_the_winner_and_the_baseline_run_again_in_turn_and_these_runs_are_the_claim() -> None:
    computer = Noisy(times(8.0, spread=7.0), {LOCAL: [3.0, 4.0, 4.0, 4.0], AS_IT_IS: [8.0, 8.0, 8.8, 8.4]})
    found = answered(computer)
    assert computer.ran[3:] == [AS_IT_IS, LOCAL, LOCAL, AS_IT_IS, AS_IT_IS, LOCAL]
    assert (found.mapping, found.keep, found.baseline, found.default) == (LOCAL, False, AS_IT_IS, DEFAULT)
    assert found.speedup == pytest.approx((2.0 * 2.2 * 2.1) ** (1 / 3))
    assert (found.low, found.high) == pytest.approx((2.0, 2.2))
    assert found.confirmation is not None
    assert found.confirmation.baseline_s == (8.0, 8.8, 8.4)
    assert found.command == "numapredict run --mapping 32x4-contiguous-locality -- ./app 'in put'"
    text = advice_in_words(found)
    assert "  best mapping      32x4-contiguous-locality\n" in text
    assert "  measured speedup  2.10x for the whole run, over the program as it is now\n" in text
    assert "(2.00x to 2.20x in 3 further runs of each, in turn)" in text
    assert "  run 1             as it is now: 8.00 s\n" in text
    assert "  run 2             32x4-contiguous-locality: 3.00 s, 2.67x\n" in text
    assert "  run 3             32x4-contiguous-interleave: ended after 3.10 s, slower than the best\n" in text
    assert "a further run, of " in text
    assert found.next is not None
    speedup = found.next.speedup
    assert speedup.low <= speedup.median <= speedup.high
    interval = f"{speedup.low:.2f}x to {speedup.high:.2f}x over it, 90% interval"
    said = f"({interval}, faster with a chance of {found.next.chance:.0%})"
    assert said in " ".join(text.split())
    assert "what 4 programs on planted gained" in text
    assert found.command in text


def test_a_gain_that_does_not_come_again_keeps_what_the_user_has() -> None:
    found = answered(Noisy(times(8.0), {LOCAL: [6.0, 8.1, 7.95]}))
    assert (found.mapping, found.keep, found.speedup, found.low, found.high) == (AS_IT_IS, True, 1.0, 1.0, 1.0)
    assert (found.command, found.alternative, found.alternatives) == ("./app 'in put'", None, ())
    text = flat(found)
    assert "keep what you have: no mapping that ran was significantly faster" in text
    assert "32x4-contiguous-locality was the fastest, but run again it gave 1.00x (0.99x to 1.01x" in text
    assert command_for_advice("numactl", found, APP) == "./app 'in put'"


# The first run of each, three rounds that leave a gain of 10% or so unsure, and two more that decide.
UNSURE = {AS_IT_IS: [8.0, 8.0, 8.0, 8.0], LOCAL: [7.0, 7.6, 6.6, 7.7]}


@pytest.mark.parametrize(("more", "keep"), [([7.2, 7.2], False), ([8.6, 8.0], True)])
def test_two_more_rounds_decide_where_three_leave_a_gain_unsure(more: list[float], keep: bool) -> None:
    computer = Noisy(times(8.0), {AS_IT_IS: [*UNSURE[AS_IT_IS], 8.0, 8.0], LOCAL: UNSURE[LOCAL] + more})
    found = answered(computer, runs=2)
    assert found.confirmation is not None
    assert found.confirmation.mapping_s == (7.6, 6.6, 7.7, *more)
    assert computer.ran[-4:] == [LOCAL, AS_IT_IS, AS_IT_IS, LOCAL]
    assert found.keep is keep
    assert "in 5 further runs of each, in turn" in flat(found)


def test_rounds_that_leave_a_loss_are_enough_and_so_are_those_whose_end_would_not_pay() -> None:
    lost = answered(Noisy(times(8.0), {AS_IT_IS: [8.0], LOCAL: [7.0, 8.6, 7.4, 8.8]}), runs=2)
    unsure = Noisy(times(8.0), {each: list(values) for each, values in UNSURE.items()})
    # Three rounds cost 45 s and five 75; a run saves 1 s.
    stated = answered(unsure, runs=2, expected_runs=60)
    for found in (lost, stated):
        assert found.confirmation is not None
        assert len(found.confirmation.mapping_s) == 3
        assert found.keep


def test_nothing_wins_and_nothing_runs_again() -> None:
    computer = Computer(times(8.0))
    found = answered(computer)
    assert len(computer.ran) == 3
    assert (found.keep, found.confirmation) == (True, None)
    assert "ended after 8.10 s" in advice_in_words(found)


def test_where_all_other_runs_failed_the_answer_says_that() -> None:
    text = flat(answered(Computer(times(8.0, local=-1.0, spread=-1.0))))
    assert f"keep what you have: all 2 other runs failed, the last one under {SPREAD}: it crashed" in text
    assert "significantly" not in text


def test_a_winner_that_then_fails_is_not_advised() -> None:
    found = answered(Noisy(times(8.0), {LOCAL: [4.0, -1.0]}))
    assert found.keep
    assert found.confirmation is not None
    assert found.confirmation.speedup is None
    assert "was the fastest, but the run under 32x4-contiguous-locality failed: it crashed" in flat(found)


def test_the_default_is_in_the_answer_where_it_ran_and_is_not_the_baseline() -> None:
    computer = Computer(times(16.0, default=8.0, local=-1.0, spread=-1.0, one=4.0))
    computer.baseline_teams = "16:1.0"
    found = answered(computer, runs=5)
    assert DEFAULT in computer.ran
    assert found.speedup_over_default == pytest.approx(2.0)
    assert "2.00x over 32x4-contiguous-first-touch, the default mapping" in advice_in_words(found)
    assert found.speedup == pytest.approx(4.0)


def test_no_choice_has_a_number_of_threads_that_the_program_never_takes() -> None:
    def numbers(computer: Computer) -> set[int]:
        found = answered(computer, runs=5, baseline=DEFAULT)
        assert found.mapping == ONE
        return {parse_label(str(each.mapping)).threads for each in found.explanation.choices}

    computer = Computer(times(8.0, default=8.0, one=2.0))
    assert HALF.threads in numbers(computer)
    computer.teams = f"{ONE.threads}:1.000"
    assert numbers(computer) <= {ONE.threads, DEFAULT.threads}


def test_what_a_model_gains_is_confirmed_however_seldom_the_program_runs() -> None:
    found = search(Computer(times(8.0, default=8.0, local=4.0)).runner(DEFAULT), PRIOR, TOPOLOGY, SearchOptions(runs=2))
    assert found.confirming_rounds(1) == (0, 0)
    modelled = [
        replace(each, measurement=msgspec.structs.replace(each.measurement, modelled=True)) for each in found.made
    ]
    assert replace(found, made=modelled).confirming_rounds(1) == (1, 0)


def test_a_tool_gets_the_fastest_run_that_it_can_express_never_one_slower_than_the_baseline() -> None:
    found = answered(Computer(times(8.0, local=4.0, spread=4.05)))
    assert found.alternative is not None
    assert (found.alternative.mapping, found.alternative.exact) == (SPREAD, False)
    assert "--interleave" in found.alternative.command
    assert "--interleave" in command_for_advice("numactl", found, program_of(("./app",)))
    found = answered(Computer(times(8.0, local=4.0)))
    assert found.alternative is not None
    assert found.alternative.speedup is None


def test_no_tool_gets_a_command_for_a_job_of_ranks() -> None:
    job = program_of(("/usr/bin/mpirun", "-n", "4", "./app"))
    found = answered(Computer(times(8.0, local=4.0, spread=4.05)), program=job)
    assert (found.mapping, found.alternative, found.alternatives) == (LOCAL, None, ())
    assert found.command == f"numapredict run --mapping {LOCAL.label} -- /usr/bin/mpirun -n 4 ./app"
    assert found.command in advice_in_words(found)
    assert command_for_advice("numactl", found, job) == found.command


def test_on_a_described_machine_the_baseline_is_the_default_and_all_is_called_modelled() -> None:
    computer = Modelled(times(8.0, default=8.0, local=4.0))
    found = answered(computer, baseline=DEFAULT)
    assert (found.baseline, found.modelled, found.mapping) == (DEFAULT, True, LOCAL)
    assert computer.ran.count(LOCAL) == 2  # each run gives the same: one round
    text = advice_in_words(found)
    assert "on planted (modelled)" in text
    assert "modelled speedup  2.00x for the whole run, over 32x4-contiguous-first-touch" in text
    assert "measured" not in text
    kept = answered(Modelled(times(8.0, default=8.0)), baseline=DEFAULT)
    assert (kept.mapping, kept.keep) == (DEFAULT, True)
    assert kept.command.startswith("numapredict run --mapping 32x4-contiguous-first-touch")
    assert "was significantly faster than 32x4-contiguous-first-touch" in flat(kept)


class Modelled(Computer):
    """The same, described: runs are never ended."""

    modelled = True

    def run(self, mapping: AnyMapping, limit: RunLimit = UNLIMITED) -> Measurement:
        measured = super().run(mapping)
        return Measurement(
            program="app",
            mapping=mapping,
            machine="planted",
            modelled=True,
            repetitions=(Repetition(measured.time_s),),
        )


@pytest.mark.parametrize(
    ("later_s", "warned"),
    [
        ((8.0, 8.1, 7.9), False),
        ((9.0, 9.1, 8.9), True),
        ((7.0, 7.0, 7.0), True),
        ((8.3, 8.3, 8.3), False),
        ((7.0, 9.0, 10.0), False),  # their own spread is larger
    ],
)
def test_a_kept_baseline_that_the_confirming_runs_do_not_give_again_is_a_warning(
    later_s: tuple[float, ...], warned: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path))
    kept = KeptRuns(program_of(("/bin/true",)), TOPOLOGY)
    kept.add(Computer(times(8.0)).run(AS_IT_IS))
    kept.add(Computer(times(8.0, local=4.0)).run(LOCAL))
    computer = Noisy(times(8.0), {AS_IT_IS: list(later_s), LOCAL: [4.0]})
    machine: object = computer
    runner = replace(computer.runner(), kept=KeptRuns(program_of(("/bin/true",)), TOPOLOGY))
    found = advise(APP, machine, runner, PRIOR, SearchOptions(runs=2))  # type: ignore[arg-type]
    assert (found.kept_runs, found.kept_since[:2]) == (2, "20")
    assert computer.ran == [AS_IT_IS, LOCAL, LOCAL, AS_IT_IS, AS_IT_IS, LOCAL]  # only what confirms
    text = flat(found)
    assert "kept the first 2 runs, made from 20" in text
    assert (
        "the program as it is now took 8.00 s in the kept run and " in text and "(--fresh makes all anew)" in text
    ) == warned


def test_the_arithmetic_of_a_further_run_is_in_the_answer() -> None:
    found = answered(Computer(times(8.0, local=4.0)), runs=2)
    assert found.next is not None
    share = 1 - 1 / found.next.expected_speedup
    assert (found.next.cost_s, found.next.confirming_s) == (pytest.approx(4.1), 0.0)
    assert found.next.saving_s == pytest.approx(4.0 * share)
    assert found.next.worth_from_runs == math.ceil(4.1 / (4.0 * share))
    text = flat(found)
    assert "it costs 4.10 s at most and should save " in text
    assert f"which pays off after {found.next.worth_from_runs} runs of the program; --runs 3 makes it" in text
    assert found.expected_runs is None
    little = msgspec.structs.replace(found.next, expected_speedup=1.001, worth_from_runs=1026)
    assert "; --for 1026 makes it" in flat(msgspec.structs.replace(found, next=little))
    none = msgspec.structs.replace(found.next, expected_speedup=1.0004, worth_from_runs=652199)
    assert "is expected to add nothing" in flat(msgspec.structs.replace(found, next=none))
    assert "is expected to add nothing" in flat(answered(Computer(times(8.0, local=4.0)), runs=4))


def test_for_one_run_of_the_program_the_answer_is_to_keep_it_and_says_why() -> None:
    computer = Computer(times(8.0, local=0.1))
    found = answered(computer, expected_runs=1)
    assert computer.ran == [AS_IT_IS]
    assert (found.keep, found.confirmation, found.expected_runs) == (True, None, 1)
    text = flat(found)
    assert "keep what you have: no mapping was tried, for that would cost more than it should save in 1 run" in text
    assert "it costs 56.10 s at most with the runs that confirm it and should save " in text
    assert "runs of the program; you said 1" in text


def test_where_no_run_is_expected_to_add_enough_none_is_made_and_the_answer_says_so() -> None:
    computer = Computer(times(8.0))
    machine: object = computer
    losing = replace(PRIOR, known=known_gains(np.array([[0, -2.0, -2.0, -2.0, -2.0]] * 4), list("abcd")))
    found = advise(APP, machine, computer.runner(), losing, SearchOptions(runs=3))  # type: ignore[arg-type]
    assert (computer.ran, found.keep) == ([AS_IT_IS], True)
    assert "keep what you have: no mapping was tried, for none was expected to add 0.35%" in flat(found)


def test_what_is_not_worth_being_confirmed_is_not_advised() -> None:
    slow = Noisy(times(8.0), {AS_IT_IS: [8.0], LOCAL: [7.6]})
    found = answered(slow, runs=2, expected_runs=30)  # 46.8 s for 12 s
    assert slow.ran == [AS_IT_IS, LOCAL]
    assert (found.keep, found.confirmation, found.mapping) == (True, None, AS_IT_IS)
    assert (
        "32x4-contiguous-locality was the fastest (1.05x), but to confirm that would cost more than it saves in 30 runs"
        in flat(found)
    )
    assert not answered(slow, runs=2, expected_runs=200).keep


def test_a_run_that_the_number_of_runs_leaves_out_is_named() -> None:
    text = flat(answered(Computer(times(8.0, local=4.0)), runs=2, expected_runs=10**5))
    assert "of the program; --runs 3 makes it" in text


def test_the_arithmetic_on_a_described_machine_is_of_its_modelled_times() -> None:
    found = answered(Modelled(times(8.0, default=8.0)), baseline=DEFAULT, expected_runs=1)
    assert found.next is not None
    assert (found.next.cost_s, found.next.confirming_s) == pytest.approx((24.0, 16.0))


def test_where_the_baseline_is_kept_tools_get_its_command_and_no_faster_runs_that_was_not_confirmed() -> None:
    found = answered(Noisy(times(8.0), {DEFAULT: [8.0], SPREAD: [6.0, 9.0]}), baseline=DEFAULT)
    assert (found.mapping, found.keep) == (DEFAULT, True)
    assert max(run.speedup or 0.0 for run in found.runs) > 1
    assert {each.mapping for each in found.alternatives} == {DEFAULT}
