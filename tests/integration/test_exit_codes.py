"""Programs that end with an exit code other than 0: those whose regions ran have worked, and the answer says so."""

import os
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from numapredict.collect.campaign.machine_choice import modelled_machine
from numapredict.collect.mapping import parse_label
from numapredict.collect.measuring.hardware import HardwareMachine
from numapredict.collect.measuring.stopping_rule import StoppingRule
from numapredict.collect.modelled.trace import EXITED, parse_trace
from numapredict.collect.modelled.tracing import take_census, take_trace
from numapredict.collect.placing.exit_code import exit_code_of, exit_codes_in_words
from numapredict.collect.program import Program
from numapredict.collect.topology import Core, Node, Topology
from numapredict.native.errors import TracingError
from numapredict.predictor.command_line.commands import commands
from tests.openmp import BUDGET, CAN_TRACE, MACHINE, program_of
from tests.traces import census_of

pytestmark = [pytest.mark.native, pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed")]
PU = min(os.sched_getaffinity(0))
HERE = Topology("here", (Node(0, 0, (Core(0, (PU,)),), 1 << 30),), (), ((10.0,),))
ONE = parse_label("1x1-contiguous-bind")
MODELLED = parse_label("8x1-contiguous-bind")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path / "cache"))


def scripted(folder: Path, program: Path, line: str) -> Program:
    """Return a program that has regions and ends as a line of shell says."""
    script = folder / "app"
    script.write_text(f"#!/bin/sh\necho run >> {folder}/log\n{program} exit 0 >&2\n{line}\n")
    script.chmod(0o755)
    return Program(name="app", command=(str(script),))


# ---- on a modelled machine ----


def test_a_modelled_run_goes_on_and_says_the_code(foreign: Path) -> None:
    program = program_of(foreign, "exit", 26)
    for _ in range(2):  # the second from the cache
        found = modelled_machine("sandybridge-4x8").run(program, MODELLED)
        assert found.status == "ok"
        assert exit_code_of(found) == 26
    refused = modelled_machine("sandybridge-4x8", strict=True).run(program, MODELLED)
    assert refused.status == "crashed"
    assert "exit code 26, which --strict refuses" in refused.message
    plain = modelled_machine("sandybridge-4x8", strict=True).run(program_of(foreign, "exit", 0), MODELLED)
    assert (plain.status, exit_code_of(plain)) == ("ok", 0)


@pytest.mark.parametrize("code", [126, 127, 134, 139])
def test_codes_of_programs_that_did_not_start_or_were_killed_are_failures(foreign: Path, code: int) -> None:
    with pytest.raises(TracingError, match=f"failed when it ran here: exit code {code}"):
        take_census(program_of(foreign, "exit", code), BUDGET)


def test_another_code_with_another_number_of_threads_is_a_failure(foreign: Path) -> None:
    program = program_of(foreign, "exit", 26, 2)  # 0 with two threads
    more = census_of((1, 1, 1.0))  # a region that never comes: the trace goes on to the program's end
    trace = parse_trace(take_trace(program, 2, MACHINE, more, BUDGET), "x")
    assert (trace.end, trace.exit_code) == (EXITED, 0)
    with pytest.raises(TracingError, match=r"exit code 26, where it ended with 0 when it ran here.*THREADS=4"):
        take_trace(program, 4, MACHINE, more, BUDGET)


def test_the_answer_says_the_code(foreign: Path) -> None:
    asked = ["predict", "--machine", "sandybridge-4x8", "--json", str(foreign), "exit", "26"]
    done = CliRunner().invoke(commands, asked)
    assert done.exit_code == 0, done.output
    advice = msgspec.json.decode(done.stdout)
    assert advice["exit_code"] == 26
    assert any("exit code 26" in text for text in advice["warnings"])
    plain = CliRunner().invoke(commands, [word for word in asked if word != "--json"])
    assert " ".join(plain.stdout.split()).count("ends with exit code 26") == 1
    refused = CliRunner().invoke(commands, ["predict", "--strict", *asked[1:]])
    assert refused.exit_code != 0
    assert "--strict refuses" in str(refused.exception)


@pytest.mark.parametrize("command", [("collect", "campaign", "--into"), ("train", "--into")])
def test_campaigns_say_the_code_or_refuse_it(
    foreign: Path, tmp_path: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path / "data"))  # a model trained here is no other test's
    asked = ["--machine", "sandybridge-4x8", "--program", f"{foreign} exit 26", "--mapping", MODELLED.label]
    done = CliRunner().invoke(commands, [*command, str(tmp_path / "taken"), *asked])
    assert done.stderr.count("ends with exit code 26") == 1
    refused = CliRunner().invoke(commands, [*command, str(tmp_path / "refused"), *asked, "--strict"])
    assert "exit code 26, which --strict refuses" in str(refused.exception)


def test_a_characterisation_says_the_code_or_refuses_it(foreign: Path, tmp_path: Path) -> None:
    asked = ["--machine", "sandybridge-4x8", "--threads", "8", "--json"]
    words = [str(foreign), "exit", "26"]
    done = CliRunner().invoke(commands, ["characterize", *asked, "--into", str(tmp_path / "a"), *words])
    assert msgspec.json.decode(done.stdout)["exit_code"] == 26
    assert done.stderr.count("ends with exit code 26") == 1
    refused = CliRunner().invoke(commands, ["characterize", "--strict", *asked, "--into", str(tmp_path / "b"), *words])
    assert "exit code 26, which --strict refuses" in str(refused.exception)


# ---- on a clock ----


def test_a_habit_is_no_failure_on_a_clock(foreign: Path, tmp_path: Path) -> None:
    program = scripted(tmp_path, foreign, "exit 26")
    machine = HardwareMachine(HERE, repetitions=2)
    for runs in (4, 7):  # the run without a mapping is made once
        found = machine.run(program, ONE)
        assert (found.status, len(found.repetitions), exit_code_of(found)) == ("ok", 2, 26)
        assert len((tmp_path / "log").read_text().split()) == runs
    assert exit_codes_in_words([found, found]) == (
        "app ends with exit code 26; its parallel regions ran, so it counts as having worked (--strict refuses it)",
    )
    refused = HardwareMachine(HERE, repetitions=StoppingRule(least=2, strict=True)).run(program, ONE)
    assert (refused.status, exit_code_of(refused)) == ("crashed", 0)
    assert "--strict refuses" in refused.message


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("test -z $OMP_PROC_BIND || exit 26", "without a mapping it does not end so"),
        ("exit 127", "exit code 127"),
        ("kill -SEGV $$", "killed by SIGSEGV"),
        ("test $(wc -l < {0}/log) -gt 2 || exit 26", "exit code 0 after runs that ended with 26"),
    ],
)
def test_codes_of_runs_that_fail_now_and_then_are_failures(
    foreign: Path, tmp_path: Path, line: str, reason: str
) -> None:
    found = HardwareMachine(HERE, repetitions=3).run(scripted(tmp_path, foreign, line.format(tmp_path)), ONE)
    assert found.status == "crashed"
    assert reason in found.message


def test_codes_that_differ_and_are_never_zero_are_a_habit(foreign: Path, tmp_path: Path) -> None:
    """A `main` without `return` may end with the length of what it printed last."""
    found = HardwareMachine(HERE, repetitions=3).run(
        scripted(tmp_path, foreign, f"exit $(wc -l < {tmp_path}/log)"), ONE
    )
    assert (found.status, len(found.repetitions)) == ("ok", 3)
    assert exit_codes_in_words([found])[0].startswith(f"app ends with exit code {exit_code_of(found)}; ")


def test_without_a_region_a_code_is_a_failure(tmp_path: Path) -> None:
    found = HardwareMachine(HERE, repetitions=1).run(scripted(tmp_path, Path("true"), "exit 26"), ONE)
    assert (found.status, found.message) == ("crashed", "exit code 26")
