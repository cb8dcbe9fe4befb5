import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.campaign.campaign import Campaign, Options
from numapredict.collect.campaign.run_count import RunCount
from numapredict.collect.data.dataset import Dataset, read_dataset
from numapredict.collect.data.journal import Journal, read_journal
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping, order_of
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.collect.program import Program
from numapredict.collect.terminal.progress import Count, shown_on
from numapredict.native.errors import (
    InvalidInputError,
    MissingNativePartError,
    UnrunnableProgramError,
    UnwritableError,
    UsageError,
)
from tests.samples import dataset_of, programs_of

DATASET = dataset_of()
MAPPINGS = tuple(dict.fromkeys(m.mapping for m in DATASET.measurements))


class CountingMachine(RecordedMachine):
    """Replays a dataset, counts the runs, and refuses what it is told to."""

    def __init__(self, dataset: Dataset = DATASET) -> None:
        super().__init__(dataset)
        self.runs: list[tuple[str, str]] = []
        self.errors: dict[str, Exception | type[BaseException]] = {}

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        self.runs.append((program.name, mapping.label))
        if program.name in self.errors:
            raise self.errors[program.name]
        return super().run(program, mapping)


class Notes:
    """A display that notes everything: done, total, failed and the time left, at the beginning and after each step."""

    def __init__(self) -> None:
        self.states: list[tuple[int, int, int, float | None]] = []
        self.ends = 0

    @contextlib.contextmanager
    def count(self, count: Count) -> Iterator[None]:
        def note() -> None:
            assert isinstance(count, RunCount)
            self.states.append((count.done, count.total, count.failed, count.left_s))

        count.show = note
        note()
        try:
            yield
        finally:
            self.ends += 1

    def wait(self, what: str, most_s: float | None) -> contextlib.AbstractContextManager[None]:
        raise AssertionError("a campaign waits for nothing")


def campaign_of(folder: Path, machine: RecordedMachine | None = None, **options: int) -> Campaign:
    return Campaign(
        machine or CountingMachine(),
        folder,
        DATASET.programs,
        MAPPINGS,
        "the command",
        msgspec.convert(options, Options),
    )


def test_a_campaign_makes_the_dataset_it_replays(tmp_path: Path) -> None:
    campaign, notes = campaign_of(tmp_path / "new" / "d"), Notes()
    with shown_on(notes):
        summary = campaign.run()
    assert (summary.finished, summary.failed, summary.unsupported, summary.refused) == (18, 1, 0, ())
    made = campaign.finish()
    assert made.measurements == tuple(sorted(DATASET.measurements, key=lambda m: (m.program, order_of(m.mapping))))
    assert (made.programs, made.topology, made.machine) == (DATASET.programs, DATASET.topology, DATASET.machine)
    assert made.made_by == "the command"
    assert {"kernel", "numapredict", "numa_balancing"} <= set(dict(made.environment))
    assert read_dataset(tmp_path / "new" / "d") == made


def test_an_infinite_time_is_a_failed_run_and_the_campaign_goes_on(tmp_path: Path) -> None:
    class Endless(CountingMachine):
        """Answers the first run with a time that no reader takes."""

        def run(self, program: Program, mapping: Mapping) -> Measurement:
            found = super().run(program, mapping)
            return msgspec.structs.replace(found, repetitions=(Repetition(math.inf),)) if len(self.runs) == 1 else found

    summary = campaign_of(tmp_path, Endless()).run()
    assert (summary.finished, summary.failed) == (18, 2)
    again = campaign_of(tmp_path)
    assert again.plan().finished == 18
    first = next(m for m in again.finish().measurements if "no sense" in m.message)
    assert (first.status, first.message) == (
        "crashed",
        "its figures make no sense: time_s is inf, not a time from 1e-12 to 1e+09",
    )
    assert read_dataset(tmp_path).measurements


def test_the_display_gets_everything(tmp_path: Path, said: list[str]) -> None:
    notes = Notes()
    with shown_on(notes):
        campaign_of(tmp_path).run()
    done, totals, failed, left_s = zip(*notes.states, strict=True)
    assert done == tuple(range(19))
    assert set(totals) == {18}
    assert left_s[0] is None
    assert all(seconds is not None and seconds >= 0 for seconds in left_s[1:])
    assert left_s[-1] == 0
    assert failed[-1] == 1
    assert said == [f'p2 {MAPPINGS[-1].label} crashed: exit code 3: "it" broke']
    assert notes.ends == 1


def test_planning_and_estimating_write_and_run_nothing(tmp_path: Path) -> None:
    machine = CountingMachine()
    campaign = campaign_of(tmp_path / "d", machine)
    assert campaign.plan().runs == 18
    assert campaign.estimate().runs == 18
    assert machine.runs == []
    assert not (tmp_path / "d").exists()


def test_an_interrupted_campaign_goes_on_where_it_was(tmp_path: Path) -> None:
    machine, notes = CountingMachine(), Notes()
    machine.errors["p1"] = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt), shown_on(notes):
        campaign_of(tmp_path, machine).run()
    assert notes.ends == 1
    assert len(read_journal(tmp_path / "journal.jsonl").measurements) == 6
    again = CountingMachine()
    estimate = campaign_of(tmp_path, again).estimate()
    assert (estimate.runs, estimate.finished) == (12, 6)
    assert campaign_of(tmp_path, again).run().finished == 18
    assert len(again.runs) == 12
    assert {name for name, _ in again.runs} == {"p1", "p2"}
    assert campaign_of(tmp_path).finish() == campaign_of(tmp_path).finish()


def test_a_finished_campaign_runs_nothing_more_but_failures_on_request(tmp_path: Path) -> None:
    campaign_of(tmp_path).run()
    machine = CountingMachine()
    assert campaign_of(tmp_path, machine).run().failed == 1
    assert machine.runs == []
    assert campaign_of(tmp_path, machine, retry_failed=True).run().failed == 1
    assert machine.runs == [("p2", MAPPINGS[-1].label)]


def test_a_finished_dataset_is_extended_without_its_journal(tmp_path: Path) -> None:
    first = Campaign(CountingMachine(), tmp_path, DATASET.programs[:1], MAPPINGS, "first")
    first.run()
    first.finish()
    (tmp_path / "journal.jsonl").unlink()
    machine = CountingMachine()
    second = campaign_of(tmp_path, machine)
    assert second.plan().finished == 6
    second.run()
    assert len(machine.runs) == 12
    made = second.finish()
    assert set(made.measurements) == set(DATASET.measurements)
    assert made.made_by == "first"


def test_another_machine_does_not_write_into_a_dataset(tmp_path: Path) -> None:
    campaign_of(tmp_path).run()
    campaign_of(tmp_path).finish()
    measured = CountingMachine(dataset_of(modelled=False))
    for journal in (True, False):
        if not journal:
            (tmp_path / "journal.jsonl").unlink()
        with pytest.raises(InvalidInputError, match="figures are modelled"):
            campaign_of(tmp_path, measured).run()
    assert measured.runs == []
    assert len(read_dataset(tmp_path).measurements) == 18


def test_a_refused_program_is_left_and_the_others_go_on(tmp_path: Path, said: list[str]) -> None:
    machine, notes = CountingMachine(), Notes()
    machine.errors["p0"] = UnrunnableProgramError("p0: no such file; build it")
    with shown_on(notes):
        summary = campaign_of(tmp_path, machine).run()
    assert summary.refused == (("p0", "p0: no such file; build it"),)
    assert said[0] == "{} left out: {}".format(*summary.refused[-1])
    assert summary.finished == 12
    assert notes.states[-1][1] == 12
    assert [name for name, _ in machine.runs].count("p0") == 1
    assert campaign_of(tmp_path).plan().runs == 6


def test_a_missing_part_ends_the_campaign(tmp_path: Path) -> None:
    machine = CountingMachine()
    machine.errors["p0"] = MissingNativePartError("numactl is not installed")
    with pytest.raises(MissingNativePartError):
        campaign_of(tmp_path, machine).run()
    assert len(machine.runs) == 1


def test_nothing_finished_makes_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no run has finished"):
        campaign_of(tmp_path).finish()
    assert os.listdir(tmp_path) == []


def test_a_campaign_in_use_is_left_alone(tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path)
    with Journal(campaign.journal_path, campaign._header()), pytest.raises(InvalidInputError, match="in use"):
        campaign.run()


def test_unwritable_folders_are_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "d", Path("/proc/self/d")):
        with pytest.raises(UnwritableError) as error:
            campaign_of(folder).run()
        assert str(error.value).startswith(f"cannot make the folder {folder}: ")
        assert "\n" not in str(error.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_folder_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UnwritableError, match="choose a folder that you may write to"):
        campaign_of(tmp_path).run()


def test_a_dataset_that_cannot_be_written_keeps_the_journal(tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path)
    campaign.run()
    (tmp_path / "measurements.parquet").mkdir()
    with pytest.raises(UnwritableError, match="cannot write the dataset"):
        campaign.finish()
    assert sorted(os.listdir(tmp_path)) == ["journal.jsonl", "measurements.parquet"]
    assert len(read_journal(campaign.journal_path).measurements) == 18


def test_another_program_of_the_same_name_is_refused(tmp_path: Path) -> None:
    campaign_of(tmp_path).run()
    other = msgspec.structs.replace(programs_of("p0")[0], command=("/bin/other",))
    with pytest.raises(UsageError, match="another command"):
        Campaign(CountingMachine(), tmp_path, [other], MAPPINGS, "x").run()
