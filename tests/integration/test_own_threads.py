"""Programs that set their own number of threads: mappings of that number compete, and the answer says so first."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from numapredict.collect.campaign.machine_choice import modelled_machine
from numapredict.collect.mapping import Mapping, from_label, parse_label
from numapredict.collect.measuring.hardware import HardwareMachine
from numapredict.collect.placing.teams import Team, teams_of
from numapredict.collect.space import full_space
from numapredict.collect.topology import Core, Node, Topology
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.own_threads import own_team
from numapredict.predictor.advising.unknown import Unknown
from numapredict.predictor.command_line.commands import commands
from tests.openmp import CAN_TRACE, program_of

pytestmark = [pytest.mark.native, pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed")]
MACHINE = "sandybridge-4x8"


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = str(tmp_path_factory.mktemp("cache"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMAPREDICT_CACHE", folder)
        patch.setenv("NUMAPREDICT_DATA", str(tmp_path_factory.mktemp("data")))  # without models of other tests
        yield folder


def answer(program: Path, *arguments: str) -> tuple[Advice, str]:
    """Return the answer of `predict`, and what went to standard error."""
    done = CliRunner().invoke(commands, ["predict", "--machine", MACHINE, "--json", str(program), *arguments])
    assert done.exit_code == 0, done.output
    return msgspec.json.decode(done.stdout, type=Advice, dec_hook=from_label), done.stderr


@pytest.mark.parametrize("how", ["call", "clause"])
def test_only_mappings_of_that_number_compete_and_the_best_of_them_is_found(foreign: Path, how: str) -> None:
    advice, said = answer(foreign, how, "8")
    assert "sets its own number of threads: 8, whatever" in advice.own_threads
    assert "sets its own number of threads: 8, whatever" in said
    assert {run.mapping.threads for run in advice.runs[1:] if isinstance(run.mapping, Mapping)} == {8}
    machine = modelled_machine(MACHINE)
    program = program_of(foreign, how, 8)
    times = {
        mapping: machine.run(program, mapping).region_time_s or 0.0
        for mapping in full_space(machine.topology)
        if mapping.threads == 8
    }
    assert len(times) > 50
    assert isinstance(advice.mapping, Mapping)
    assert times[advice.mapping] <= 1.03 * min(times.values())
    assert advice.computed > 50


def test_the_answer_begins_with_it(foreign: Path) -> None:
    done = CliRunner().invoke(commands, ["predict", "--explain", "--machine", MACHINE, str(foreign), "call", "8"])
    title, blank, first, *_ = done.stdout.splitlines()
    assert title.endswith("(modelled)")
    assert not blank
    assert "its own threads" in first
    assert "sets its own number of threads: 8" in first


def test_regions_of_different_numbers_are_distinguished_by_their_time(foreign: Path) -> None:
    advice, _ = answer(foreign, "both", "8", "4")
    assert "its own number of threads: 8, whatever OMP_NUM_THREADS says, in " in advice.own_threads
    assert "and 4 in other regions" in advice.own_threads


def test_a_program_that_does_as_it_is_asked_has_no_number_of_its_own(foreign: Path) -> None:
    measured = modelled_machine(MACHINE).run(program_of(foreign, "exit", 0), parse_label("8x1-contiguous-bind"))
    assert teams_of(measured) == (Team(8, 1.0),)
    assert own_team(measured) is None


def test_a_clock_sees_it_too(foreign: Path, tmp_path: Path) -> None:
    pu = min(os.sched_getaffinity(0))
    topology = Topology("here", (Node(0, 0, (Core(0, (pu,)),), 1 << 30),), (), ((10.0,),))
    measured = HardwareMachine(topology, repetitions=1).run(
        program_of(foreign, "call", 3), parse_label("1x1-contiguous-bind")
    )
    assert own_team(measured) == Team(3, 1.0)
    launcher = tmp_path / "mpirun"  # of each rank's threads it does not say how many the job asks for
    launcher.write_text('#!/bin/sh\nOMPI_COMM_WORLD_LOCAL_SIZE=1 OMPI_COMM_WORLD_LOCAL_RANK=0 "$@"\n')
    launcher.chmod(0o755)
    job = program_of(launcher, foreign, "call", 3)
    assert own_team(HardwareMachine(topology, repetitions=1).run(job, parse_label("1x1-contiguous-bind"))) is None
    nested = program_of(foreign, "call", 3, OMP_MAX_ACTIVE_LEVELS="2")  # the report does not tell inner teams
    assert own_team(HardwareMachine(topology, repetitions=1).run(nested, parse_label("1x1-contiguous-bind"))) is None


def test_half_of_what_is_asked_for_is_no_number_of_its_own(foreign: Path) -> None:
    advice, _ = answer(foreign, "half")
    assert advice.own_threads == "its number of threads depends on OMP_NUM_THREADS: all mappings are considered"


def test_all_mappings_compete_where_a_third_follows(
    foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shares are of a native run's time, which other load changes: once of five they are as on a quiet computer."""
    for turn in range(5):
        monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path / str(turn)))
        advice, _ = answer(foreign, "mixed", "8", "12")
        said = [text for text in advice.warnings if "set their own number" in text]
        told = [[f"{threads} in " in text for threads in (8, 12, 32)] for text in said]
        if not advice.own_threads and told == [[True, True, False]]:
            break
    assert not advice.own_threads
    assert told == [[True, True, False]], said


# ---- too little seen ----


def test_a_region_with_most_of_the_time_that_no_trace_reaches_makes_the_answer_unknown(foreign: Path) -> None:
    command = ["predict", "--machine", MACHINE, "--json", "--cpu-seconds", "20", str(foreign), "late", "1000"]
    done = CliRunner().invoke(commands, command)
    assert done.exit_code == 0, done.output
    found = msgspec.json.decode(done.stdout, type=Unknown)
    assert found.trace_share is not None
    assert found.trace_share < 0.1
