from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.campaign import sharded_campaign as module
from numapredict.collect.campaign.merging import merge_folders
from numapredict.collect.campaign.plan import Options
from numapredict.collect.campaign.shard import Shard
from numapredict.collect.campaign.shard_journals import shard_journals
from numapredict.collect.campaign.sharded_campaign import ShardedCampaign
from numapredict.collect.data.dataset import Dataset, read_dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.machine import Machine
from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program
from numapredict.collect.space import default_mapping
from numapredict.native.errors import InvalidInputError
from tests.samples import dataset_of, measurement_of, programs_of, topology_of

DATASET = dataset_of(programs=6, mappings=5)
MAPPINGS = tuple(dict.fromkeys(m.mapping for m in DATASET.measurements))
CONTROL = "control a"


class Replaying(RecordedMachine):
    """Replays a dataset and notes what it runs; the control is whatever it is asked for."""

    def __init__(self, dataset: Dataset = DATASET) -> None:
        super().__init__(dataset)
        self.ran: list[str] = []

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        self.ran.append(program.name)
        if program.name == CONTROL:
            assert mapping == default_mapping(self.topology)
            return measurement_of(CONTROL, mapping, self.topology)
        return super().run(program, mapping)


@pytest.fixture(autouse=True)
def control(monkeypatch: pytest.MonkeyPatch) -> None:
    def programs(_machine: Machine) -> tuple[Program, ...]:
        return (msgspec.structs.replace(programs_of(CONTROL)[0], group="control"),)

    monkeypatch.setattr(module, "control_programs", programs)


def run(
    folder: Path, number: int, count: int, machine: Replaying | None = None, programs: Sequence[Program] | None = None
) -> list[str]:
    """Run a shard and return what that ran."""
    shard, machine = Shard(number, count), machine or Replaying()
    own = shard.programs_of(DATASET.programs if programs is None else programs)
    campaign = ShardedCampaign(machine, folder, own, MAPPINGS, "the command", Options(), shard=shard)
    before = len(machine.ran)
    summary = campaign.run()
    found = campaign.finish()
    assert {program.name for program in found.programs} == {program.name for program in own}
    assert summary.finished == len(found.measurements), len(own) * len(MAPPINGS)
    return machine.ran[before:]


def merged(folder: Path, *sources: Path) -> Dataset:
    merge_folders(sources, folder, fleet=False, keep_nodes=False)
    return read_dataset(folder)


def test_shards_run_every_pair_once_and_the_control_each(tmp_path: Path) -> None:
    ran = [name for number in range(3) for name in run(tmp_path / "runs", number, 3)]
    assert ran.count(CONTROL) == 3
    assert sorted(name for name in ran if name != CONTROL) == sorted(m.program for m in DATASET.measurements)
    assert set(merged(tmp_path / "data", tmp_path / "runs").measurements) == set(DATASET.measurements)


def test_what_is_finished_is_not_run_again_whatever_shard_it_was_in(tmp_path: Path) -> None:
    run(tmp_path, 0, 3)
    run(tmp_path, 1, 3)
    assert run(tmp_path, 0, 3) == []
    left = [name for number in range(2) for name in run(tmp_path, number, 2)]
    third = [program.name for program in Shard(2, 3).programs_of(DATASET.programs)]
    assert sorted(name for name in left if name != CONTROL) == sorted(third * len(MAPPINGS))


def test_a_start_of_a_finished_shard_leaves_no_file(tmp_path: Path) -> None:
    run(tmp_path, 0, 1)
    before = sorted(tmp_path.iterdir())
    run(tmp_path, 0, 1)
    assert sorted(tmp_path.iterdir()) == before


def test_of_more_shards_than_programs_some_do_nothing_and_are_not_missed(tmp_path: Path, said: list[str]) -> None:
    ran = [run(tmp_path / "runs", number, 9) for number in range(9)]
    assert sum(not names for names in ran) == 3
    assert len(shard_journals(tmp_path / "runs")) == 9
    merged(tmp_path / "data", tmp_path / "runs")
    assert not [line for line in said if "nothing is here" in line]


def test_a_kill_loses_the_run_under_way_alone(tmp_path: Path) -> None:
    class Killed(Replaying):
        def run(self, program: Program, mapping: Mapping) -> Measurement:
            if len(self.ran) == 9:
                raise KeyboardInterrupt
            return super().run(program, mapping)

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, 0, 1, Killed())
    ran = run(tmp_path, 0, 1)
    assert len(ran) == 1 + len(DATASET.measurements) - 8  # the control runs at each start


def test_another_machine_in_the_same_folder_has_runs_of_its_own(tmp_path: Path) -> None:
    run(tmp_path, 0, 1)
    topology = topology_of(cores=(8, 8), name=DATASET.machine)
    bigger = Replaying(msgspec.structs.replace(DATASET, topology=topology))
    assert len(run(tmp_path, 0, 1, bigger)) == 1 + len(DATASET.measurements)
    with pytest.raises(InvalidInputError, match=r"cores of each NUMA node: (4 4 and 8 8|8 8 and 4 4)"):
        merged(tmp_path / "data", tmp_path)


def test_another_version_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    run(tmp_path, 0, 2)
    (journal,) = tmp_path.iterdir()
    journal.write_text(journal.read_text().replace('["numapredict","', '["numapredict","9.', 1))
    machine = Replaying()
    with pytest.raises(InvalidInputError, match=r"was made by numapredict 9\..*, this is .*; use one version"):
        run(tmp_path, 1, 2, machine)
    assert machine.ran == []


def test_a_machine_that_refuses_the_control_runs_the_rest(tmp_path: Path, said: list[str]) -> None:
    class Refusing(Replaying):
        def run(self, program: Program, mapping: Mapping) -> Measurement:
            return RecordedMachine.run(self, program, mapping)

    run(tmp_path, 0, 1, Refusing())
    assert [line for line in said if line.startswith("control a left out: ")]
    (source,) = shard_journals(tmp_path)
    assert (len(source.record.measurements), source.control) == (len(DATASET.measurements), ())


def test_the_longest_shard_is_longer_than_the_mean(tmp_path: Path) -> None:
    class Timed(Replaying):
        def estimate_s(self, program: Program, mappings: Sequence[Mapping]) -> float:  # type: ignore[override]
            return 100.0 if program.name == "p3" else 1.0

    whole = ShardedCampaign(Timed(), tmp_path, DATASET.programs, MAPPINGS, "c", Options(), shard=Shard(0, 1))
    assert whole.longest_shard_s(1) == 105.0
    assert whole.longest_shard_s(3) == 101.0
    assert not list(tmp_path.iterdir())
