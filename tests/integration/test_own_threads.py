"""Programs that set their own number of threads: mappings of that number compete, and the answer says so first."""

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from numapredict.collect.campaign.machine_choice import modelled_machine
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import applicable, from_label, parse_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.hardware import HardwareMachine
from numapredict.collect.modelled.tracing import TraceBudget
from numapredict.collect.placing.teams import Team, teams_of
from numapredict.collect.space import full_space
from numapredict.collect.topology import Core, Node, Topology
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.advising.advice import Advice, advise
from numapredict.predictor.advising.own_threads import model_of_threads, own_team
from numapredict.predictor.advising.unknown import Unknown
from numapredict.predictor.command_line.commands import commands
from numapredict.predictor.learning.datasets import open_dataset
from numapredict.predictor.learning.model_choice import ChosenModel, named_model
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
    assert advice.own_threads is not None
    assert (advice.own_threads.threads, advice.own_threads.competing, advice.own_threads.learned_from) == (8, 8, 8)
    assert "sets its own number of threads: 8 threads" in said
    mappings = [advice.mapping, advice.default, *(probe.mapping for probe in advice.probes)]
    mappings += [each.mapping for each in (*advice.alternatives, *advice.explanation.close)]
    assert {applicable(mapping).threads for mapping in mappings} == {8}
    machine = modelled_machine(MACHINE)
    program = program_of(foreign, how, 8)
    times = {
        mapping: machine.run(program, mapping).region_time_s or 0.0
        for mapping in full_space(machine.topology)
        if mapping.threads == 8
    }
    assert len(times) > 50
    assert times[advice.mapping] <= 1.05 * min(times.values())


def test_the_answer_begins_with_it(foreign: Path) -> None:
    done = CliRunner().invoke(commands, ["predict", "--explain", "--machine", MACHINE, str(foreign), "call", "8"])
    title, blank, first, *_ = done.stdout.splitlines()
    assert title.endswith("(modelled)")
    assert not blank
    assert "its own threads" in first
    assert "sets its own number of threads: 8 threads" in first


def test_regions_of_different_numbers_are_distinguished_by_their_time(foreign: Path) -> None:
    advice, _ = answer(foreign, "both", "8", "4")
    assert advice.own_threads is not None
    assert (advice.own_threads.threads, advice.own_threads.others) == (8, (4,))
    assert 0.5 < advice.own_threads.share < 1
    assert "and 4 in other regions" in advice.own_threads.text


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
    machine = modelled_machine(MACHINE)
    found = advise(program_of(foreign, "half"), machine, ChosenModel(named_model(MACHINE).model, "a model"))
    assert isinstance(found, Unknown)
    assert found.reason == "its number of threads depends on OMP_NUM_THREADS: 16 of 32, 8 of 16"


def test_all_mappings_compete_where_a_third_follows(
    foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shares are of a native run's time, which other load changes: once of five they are as on a quiet computer."""
    for turn in range(5):
        monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path / str(turn)))
        advice, _ = answer(foreign, "mixed", "8", "12")
        said = [text for text in advice.warnings if "set their own number" in text]
        told = [[f"{threads} in " in text for threads in (8, 12, 32)] for text in said]
        if advice.own_threads is None and told == [[True, True, False]]:
            break
    assert advice.own_threads is None
    assert advice.default == named_model(MACHINE).model.default
    assert told == [[True, True, False]], said


# ---- the model of so many threads ----


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return open_dataset(MACHINE)


def shown(threads: int, mapping: str = "32x4-contiguous-first-touch") -> Measurement:
    return Measurement(
        program="app",
        mapping=parse_label(mapping),
        machine=MACHINE,
        modelled=True,
        provenance=(("teams", f"{threads}:1.000"),),
    )


@pytest.mark.parametrize(
    ("threads", "competing", "taught", "default", "words"),
    [
        (16, 16, 16, "16x4", "only mappings of 16"),
        (12, 12, 16, "12x4", "did with 16"),
        (64, 32, 32, "32x4", "no mapping of 64"),
        (3, 3, 4, "3x2", "did with 4"),
    ],
)
def test_a_number_that_the_dataset_lacks_is_judged_by_the_nearest(
    dataset: Dataset, threads: int, competing: int, taught: int, default: str, words: str
) -> None:
    assert dataset.topology is not None
    model, own = model_of_threads(named_model(MACHINE).model, shown(threads), dataset.topology)
    assert (own.competing, own.learned_from) == (competing, taught)
    assert words in own.text
    mappings = [applicable(ranked.mapping) for ranked in model.clusters[0].ranked]
    assert {mapping.threads for mapping in mappings} == {competing}
    assert model.default.label == f"{default}-contiguous-first-touch"  # on as many nodes as the dataset has of so many


def test_without_the_dataset_there_is_no_answer(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert dataset.topology is not None
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path))
    other = msgspec.structs.replace(named_model(MACHINE).model, dataset_created="another time")
    with pytest.raises(InsufficientDataError, match="is not here"):
        model_of_threads(other, shown(8), dataset.topology)


# ---- too little seen ----


def test_a_region_with_most_of_the_time_that_no_trace_reaches_makes_the_answer_unknown(foreign: Path) -> None:
    machine = modelled_machine(MACHINE, TraceBudget(census_s=60, trace_s=4))
    answer = advise(program_of(foreign, "late", 1000), machine, ChosenModel(named_model(MACHINE).model, "a model"))
    assert isinstance(answer, Unknown)
    assert answer.trace_share is not None
    assert answer.trace_share < 0.1
