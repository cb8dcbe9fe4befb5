import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.campaign.merging import MergeSummary, merge_folders, merge_in_words
from numapredict.collect.campaign.shard import JournalName, Shard
from numapredict.collect.data.dataset import Dataset, read_dataset, write_dataset
from numapredict.collect.data.journal import Header, Journal, Record, create_journal
from numapredict.collect.data.machine_kind import kind_of
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.collect.program import Program
from numapredict.native.errors import InvalidInputError
from tests.samples import dataset_of, topology_of

DATASET = dataset_of(programs=4, mappings=5, modelled=False)
HEADER = Header(
    machine=DATASET.machine,
    modelled=False,
    made_by="numapredict collect campaign --into runs",
    created="2024-01-02T00:00:00+00:00",
    environment=(("numapredict", "1.0"), ("kernel", "Linux 6.1")),
    topology=topology_of(),
)
CONTROL = Program(name="control a", command=("c",), group="control")


def shard(
    folder: Path, number: int, node: str, header: Header = HEADER, control_s: float = 1.0, least: int = 0
) -> Path:
    """Write the journal of a shard with the program of its number, without its first runs."""
    folder.mkdir(exist_ok=True)
    path = folder / JournalName(Shard(number, 4), kind_of(header).fingerprint, node, "1").file
    with Journal(path, header, own=True) as journal:
        journal.introduce(CONTROL)
        first = DATASET.measurements[0]
        journal.finished(
            msgspec.structs.replace(first, program=CONTROL.name, repetitions=(Repetition(control_s),)), 1.0
        )
        journal.introduce(DATASET.programs[number])
        for measurement in DATASET.measurements[5 * number :][least:5]:
            journal.finished(measurement, 1.0)
    return path


def merge(into: Path, *folders: Path, fleet: bool = False, keep_nodes: bool = False) -> MergeSummary:
    return merge_folders(folders, into, fleet=fleet, keep_nodes=keep_nodes)


def pairs(measurements: Sequence[Measurement]) -> set[tuple[str, str]]:
    return {(m.program, m.mapping.label) for m in measurements}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for number in range(4):
        shard(tmp_path / "runs", number, f"n{number}")
    return tmp_path / "runs"


def test_folders_of_shards_campaigns_and_datasets_are_merged_alike(tmp_path: Path, said: list[str]) -> None:
    shard(tmp_path / "runs", 0, "n0")
    plain, done = tmp_path / "plain", tmp_path / "done"
    for folder, numbers in ((plain, (1, 2)), (done, (3,))):
        own = tuple(m for number in numbers for m in DATASET.measurements[5 * number :][:5])
        programs = tuple(DATASET.programs[number] for number in numbers)
        folder.mkdir()
        if folder == plain:
            create_journal(folder / "journal.jsonl", Record(HEADER, programs, own, (1.0,) * len(own)))
        else:
            write_dataset(dataset(programs, own), folder)
    summary = merge(tmp_path / "data", tmp_path / "runs", plain, done, plain)
    assert merge_in_words(summary) == f"{tmp_path}/data: 20 measurements of 4 programs"
    assert set(read_dataset(tmp_path / "data").measurements) == set(DATASET.measurements)
    assert summary.missing_shards == ("shard 1 of 4", "shard 2 of 4", "shard 3 of 4")
    assert said == ["of 4 shards nothing is here of 1, 2, 3: submit the campaign again"]


def dataset(programs: tuple[Program, ...], measurements: tuple[Measurement, ...]) -> Dataset:
    return Dataset(
        machine=HEADER.machine,
        modelled=False,
        topology=HEADER.topology,
        made_by=HEADER.made_by,
        created=HEADER.created,
        environment=HEADER.environment,
        programs=programs,
        measurements=measurements,
    )


def test_the_order_of_the_folders_makes_no_difference_in_any_byte(tmp_path: Path, runs: Path) -> None:
    halves = tmp_path / "half", tmp_path / "other"
    for half, numbers in zip(halves, ("02", "13"), strict=True):
        half.mkdir()
        for number in numbers:
            (path,) = runs.glob(f"{number}-of-4.*")
            shutil.copy(path, half)
    merge(tmp_path / "a", runs)
    merge(tmp_path / "b", *halves)
    merge(tmp_path / "c", halves[1], runs, halves[0])
    for file in ("dataset.json", "measurements.parquet"):
        assert len({(tmp_path / name / file).read_bytes() for name in "abc"}) == 1


def test_a_campaign_under_way_is_merged_as_far_as_it_is_and_again_when_it_is_further(
    tmp_path: Path, said: list[str]
) -> None:
    runs, data = tmp_path / "runs", tmp_path / "data"
    shard(runs, 0, "n0")
    path = shard(runs, 1, "n1")
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    assert merge(data, runs).unfinished_programs == ("p1",)
    assert [line for line in said if line.startswith("runs that others have are missing (p1 1): ")]
    assert len(read_dataset(data).measurements) == 9
    path.write_bytes(whole)
    assert merge(data, runs).unfinished_programs == ()
    assert len(read_dataset(data).measurements) == 10


def test_a_folder_whose_runs_would_be_lost_is_refused_unless_it_is_merged_too(tmp_path: Path, runs: Path) -> None:
    merge(tmp_path / "data", runs)
    before = (tmp_path / "data" / "dataset.json").read_bytes()
    shard(tmp_path / "others", 0, "n0", least=1)
    with pytest.raises(
        InvalidInputError, match=r"data holds 16 runs that would be lost, the first of p0 under .*merge"
    ):
        merge(tmp_path / "data", tmp_path / "others")
    assert (tmp_path / "data" / "dataset.json").read_bytes() == before
    merge(tmp_path / "data", tmp_path / "others", tmp_path / "data")
    assert len(read_dataset(tmp_path / "data").measurements) == 20


def test_a_campaigns_own_folder_is_refused_as_the_result(tmp_path: Path, runs: Path) -> None:
    (tmp_path / "data").mkdir()
    create_journal(tmp_path / "data" / "journal.jsonl", Record(HEADER))
    with pytest.raises(InvalidInputError, match=r"data holds the journal of a campaign, .*name another folder"):
        merge(tmp_path / "data", runs)


def test_the_folder_of_the_shards_may_be_the_result(runs: Path) -> None:
    merge(runs, runs)
    merge(runs, runs)
    assert len(read_dataset(runs).measurements) == 20


def test_a_dataset_of_another_machine_is_not_replaced(tmp_path: Path, runs: Path) -> None:
    merge(tmp_path / "data", runs)
    other = msgspec.structs.replace(HEADER, environment=(("numapredict", "1.0"), ("kernel", "Linux 5.14")))
    for number in range(4):
        shard(tmp_path / "others", number, "n0", other)
    with pytest.raises(InvalidInputError, match=r"another machine \(kernel: Linux 6.1 and Linux 5.14\)"):
        merge(tmp_path / "data", tmp_path / "others")


def test_a_fleet_has_a_dataset_a_kind_of_machine_in_a_folder_of_its_own(tmp_path: Path, runs: Path) -> None:
    other = msgspec.structs.replace(HEADER, machine="../a b", topology=topology_of(cores=(2, 2)))
    path = shard(runs, 0, "n9", other)
    text = path.read_text()
    summary = merge(tmp_path / "fleet", runs, fleet=True)
    assert path.read_text() == text
    names = {one.machine: Path(one.folder) for one in summary.datasets}
    assert names[HEADER.machine].name == f"{HEADER.machine}-{kind_of(HEADER).fingerprint}"
    assert names["../a b"] == tmp_path / "fleet" / f"a-b-{kind_of(other).fingerprint}"
    assert [len(read_dataset(folder).measurements) for folder in names.values()].count(5) == 1
    merge(tmp_path / "fleet", runs, fleet=True)


def test_a_node_that_is_out_of_line_is_named_with_what_to_do(tmp_path: Path, said: list[str]) -> None:
    runs = tmp_path / "runs"
    for number in range(4):
        shard(runs, number, f"n{number}", control_s=1.5 if number == 2 else 1.0)
    summary = merge(tmp_path / "data", runs)
    assert [(each.node, each.ratio) for each in summary.left_out] == [("n2", 1.5)]
    assert said == [
        "node n2 is out of line: control a took 1.50 times the median of 3 others; left out. To measure its programs on"
        " other nodes, move *.n2.*.jsonl to another folder and submit the campaign again with --exclude=n2;"
        " --keep-nodes keeps them"
    ]
    assert len(read_dataset(tmp_path / "data").measurements) == 15
    assert merge(tmp_path / "kept", runs, keep_nodes=True).left_out == ()
    assert len(read_dataset(tmp_path / "kept").measurements) == 20


@pytest.mark.parametrize("content", ["nothing", "headers"])
def test_folders_with_nothing_are_refused(tmp_path: Path, content: str) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    if content == "headers":
        with Journal(folder / JournalName(Shard(0, 1), "00000000", "n1", "1").file, HEADER, own=True):
            pass
        with pytest.raises(InvalidInputError, match="no run has finished, so there is nothing to merge"):
            merge(tmp_path / "data", folder)
    else:
        with pytest.raises(
            InvalidInputError, match="runs holds no journal and no dataset; name the folder of a campaign"
        ):
            merge(tmp_path / "data", folder)
    assert not (tmp_path / "data").exists()
