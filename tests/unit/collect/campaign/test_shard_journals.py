import errno
import fcntl
import os
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.campaign import shard_journals as module
from numapredict.collect.campaign.control import GROUP
from numapredict.collect.campaign.shard import Shard, journal_named
from numapredict.collect.campaign.shard_journals import joined, new_journal, shard_journals
from numapredict.collect.data.journal import Header, Record
from numapredict.collect.program import Program
from numapredict.native.errors import InvalidInputError, UnwritableError
from tests.samples import dataset_of, topology_of

DATASET = dataset_of(modelled=False)
HEADER = Header(machine=DATASET.machine, modelled=False, made_by="me", created="now", topology=topology_of())
CONTROL = Program(name="control a", command=("c",), group=GROUP)


@pytest.fixture(autouse=True)
def no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system that is mounted without flock(2)."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", refuse)
    monkeypatch.setattr(fcntl, "lockf", refuse)
    monkeypatch.setattr(fcntl, "fcntl", refuse)


def collect(folder: Path, shard: Shard, *names: str) -> Path:
    with new_journal(folder, shard, HEADER) as journal:
        journal.introduce(CONTROL)
        journal.finished(msgspec.structs.replace(DATASET.measurements[0], program=CONTROL.name), 1.0)
        for name in names:
            journal.introduce(DATASET.program(name))
            for measurement in DATASET.measurements:
                if measurement.program == name:
                    journal.finished(measurement, 2.0)
        return journal.path


def test_what_processes_wrote_side_by_side_is_read_together_without_the_control(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURMD_NODENAME", "n1")
    collect(tmp_path, Shard(0, 2), "p0", "p2")
    monkeypatch.setenv("SLURMD_NODENAME", "n2")
    collect(tmp_path, Shard(1, 2), "p1")
    (tmp_path / "slurm-1_0.out").write_text("1 run\n")
    found = shard_journals(tmp_path)
    assert [(source.name.shard.number, source.name.node) for source in found if source.name] == [(0, "n1"), (1, "n2")]
    assert [len(source.control) for source in found] == [1, 1]
    record = joined(found)
    assert {program.name for program in record.programs} == {"p0", "p1", "p2"}
    assert set(record.measurements) == set(DATASET.measurements)
    assert set(record.took_s) == {2.0}


def test_no_two_processes_write_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where they have the same number, on two computers that have one name."""
    path = collect(tmp_path, Shard(0, 1), "p0")
    before = path.read_bytes()
    monkeypatch.setattr(module, "JournalName", lambda *_: journal_named(path.name))
    with pytest.raises(UnwritableError, match="File exists"):
        new_journal(tmp_path, Shard(0, 1), HEADER)
    assert path.read_bytes() == before


@pytest.mark.parametrize("kept", [0, 5])
def test_what_a_kill_left_before_the_header_was_whole_is_nothing(tmp_path: Path, kept: int) -> None:
    path = collect(tmp_path, Shard(0, 1), "p0")
    path.write_bytes(path.read_bytes()[:kept])
    assert shard_journals(tmp_path) == ()


def test_a_torn_last_line_is_not_counted_and_not_cut_off(tmp_path: Path) -> None:
    path = collect(tmp_path, Shard(0, 1), "p0")
    torn = path.read_bytes()[:-20]
    path.write_bytes(torn)
    (source,) = shard_journals(tmp_path)
    assert len(source.record.measurements) == 5
    assert path.read_bytes() == torn  # it may be one that is being written


def test_a_journal_of_a_later_version_is_refused_by_its_name(tmp_path: Path) -> None:
    path = collect(tmp_path, Shard(0, 1), "p0")
    path.write_bytes(path.read_bytes().replace(b'"schema":1,', b'"schema":2,"fabric":"x",', 1))
    with pytest.raises(
        InvalidInputError, match=r"0-of-1.*line 1: schema is 2, .* reads up to 1; use a newer numapredict"
    ):
        shard_journals(tmp_path)


def test_a_folder_that_is_not_there_yet_holds_nothing(tmp_path: Path) -> None:
    assert shard_journals(tmp_path / "none") == ()
    assert joined(()) == Record()
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInputError, match=r"cannot read .*file: Not a directory"):
        shard_journals(tmp_path / "file")
