"""Running a characterisation: it goes on where it was, and says in one line what cannot be."""

import io
import os
from pathlib import Path

import pytest

from numapredict.collect.campaign.characterisation.plan import CharacterisationPlan, plan_of
from numapredict.collect.campaign.characterisation.result import Characterisation
from numapredict.collect.campaign.characterisation.session import (
    RUNS_FOLDER,
    CharacterisationRequest,
    budget_of,
    campaign_of,
    characterise,
    characterise_command,
    check_unchanged,
    default_folder,
    forget,
)
from numapredict.collect.data.dataset import Dataset, read_dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.modelled.tracing import TraceBudget
from numapredict.collect.program import Program
from numapredict.collect.terminal.terminal import Terminal
from numapredict.native.errors import FailedRunsError, NumapredictError, UnrunnableProgramError, UsageError
from numapredict.predictor.learning.datasets import open_dataset
from tests.samples import failed_of

NAME = "stream-triad.medium.serial"


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return open_dataset("broadwell-2x10")


class Replay(RecordedMachine):
    """Replays a dataset, and stops, refuses or fails as it is told to."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset)
        self.ran: list[str] = []
        self.stop_after = -1
        self.refuses = False
        self.fails = False

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        if len(self.ran) == self.stop_after:
            raise KeyboardInterrupt
        if self.refuses:
            raise UnrunnableProgramError("it is static")
        self.ran.append(mapping.label)
        if self.fails:
            return failed_of(program.name, mapping, self.topology)
        return super().run(program, mapping)


def characterised(machine: Replay, folder: Path) -> Characterisation:
    plan = plan_of(machine.topology)
    campaign = campaign_of(machine.dataset.program(NAME), machine, plan, folder)
    return characterise(campaign, plan)


def test_an_interrupted_characterisation_goes_on_where_it_was(dataset: Dataset, tmp_path: Path) -> None:
    first, second = Replay(dataset), Replay(dataset)
    first.stop_after = 5
    with pytest.raises(KeyboardInterrupt):
        characterised(first, tmp_path)
    stream = io.StringIO()
    with Terminal(stream).attached():
        found = characterised(second, tmp_path)
    planned = {mapping.label for mapping in plan_of(first.topology).mappings}
    assert len(first.ran) == 5
    assert len(second.ran) == len(planned) - 5
    assert {*first.ran, *second.ran} == planned == {run.mapping for run in found.runs}
    assert "5 of them finished earlier" in stream.getvalue()
    assert found == characterised(Replay(dataset), tmp_path / "at-once")
    assert len(read_dataset(tmp_path / RUNS_FOLDER).measurements) == len(planned)


def test_a_wider_selection_keeps_the_runs_and_a_narrower_one_shows_its_own(dataset: Dataset, tmp_path: Path) -> None:
    machine = Replay(dataset)
    program = dataset.program(NAME)

    def shown(plan: CharacterisationPlan) -> set[str]:
        found = characterise(campaign_of(program, machine, plan, tmp_path), plan)
        return {run.mapping for run in found.runs}

    narrow, wide = plan_of(machine.topology, threads=[20]), plan_of(machine.topology)
    assert shown(narrow) == {mapping.label for mapping in narrow.mappings}
    assert shown(wide) == {mapping.label for mapping in wide.mappings}
    assert shown(narrow) == {mapping.label for mapping in narrow.mappings}
    assert len(machine.ran) == len(set(machine.ran)) == len({*narrow.mappings, *wide.mappings})
    forget(tmp_path)
    shown(narrow)
    assert len(machine.ran) == len({*narrow.mappings, *wide.mappings}) + len(narrow.mappings)


def test_a_program_that_the_machine_refuses_gets_its_reason(dataset: Dataset, tmp_path: Path) -> None:
    machine = Replay(dataset)
    machine.refuses = True
    with pytest.raises(UnrunnableProgramError, match=f"{NAME} cannot be characterised on broadwell-2x10: it is static"):
        characterised(machine, tmp_path)


def test_a_program_that_always_fails_says_how(dataset: Dataset, tmp_path: Path) -> None:
    machine = Replay(dataset)
    machine.fails = True
    with pytest.raises(FailedRunsError, match='all 28 runs failed, the first with: exit code 3: "it" broke'):
        characterised(machine, tmp_path)


def test_a_program_built_again_is_not_mixed_with_its_old_runs(dataset: Dataset, tmp_path: Path) -> None:
    program = tmp_path / "app"
    program.write_bytes(b"")
    check_unchanged(program, tmp_path)  # nothing was run yet
    characterised(Replay(dataset), tmp_path)
    check_unchanged(program, tmp_path)
    (tmp_path / RUNS_FOLDER / "journal.jsonl").unlink()
    later = program.stat().st_mtime + 60
    os.utime(program, (later, later))
    with pytest.raises(UsageError, match=r"is newer than its runs in .*--fresh runs all again"):
        check_unchanged(program, tmp_path)
    forget(tmp_path)
    check_unchanged(program, tmp_path)


def test_the_budget_is_shared_by_the_traces() -> None:
    assert budget_of(None, 6) == TraceBudget()
    budget = budget_of(60.0, 6)
    assert budget.census_s + 6 * budget.trace_s == pytest.approx(60)


def test_the_folder_is_named_after_the_program_and_the_machine() -> None:
    program = Program(name="my app", command=("my app",))
    assert default_folder(program, "AMD EPYC 7763 / 2x64") == Path("my-app-on-AMD-EPYC-7763-2x64")
    assert default_folder(Program(name="..", command=("..",)), "m") == Path("x-on-m")


@pytest.mark.parametrize(
    ("machine", "command", "message"),
    [
        (None, "./nosuch", "no such file"),
        ("sandybridge-4x8", "./nosuch", "no such file"),
        ("nosuch", "/bin/true", "unknown machine"),
    ],
)
def test_bad_input_gets_a_reason(machine: str | None, command: str, message: str, tmp_path: Path) -> None:
    request = CharacterisationRequest(command=(command,), machine=machine, folder=tmp_path / "out")
    with pytest.raises(NumapredictError, match=message):
        characterise_command(request)
    assert not (tmp_path / "out").exists()
