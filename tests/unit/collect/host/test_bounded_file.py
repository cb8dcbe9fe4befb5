"""What is named as a file and is none, or never ends, is refused by every reader: without waiting, in little memory."""

import json
import os
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from numapredict.collect.data.dataset import write_dataset
from numapredict.collect.data.measurement_table import MOST_ROWS, MOST_VALUES, SCHEMA
from numapredict.collect.host.bounded_file import read_bounded
from tests.samples import dataset_of
from tests.unit.collect.data.test_dataset import put_digest

ROOM_BYTES = 400 << 20
READERS = {
    "a CSV file": "from numapredict.collect.data.foreign_table import read_rows as read",
    "groups": "from numapredict.collect.data.table_import import read_groups as read",
    "a machine description": "from numapredict.collect.modelled.description import load_description\n"
    "def read(path): load_description(str(path))",
    "an hwloc file": "from numapredict.collect.host.host import topology_from_file as read",
    "a model": "from numapredict.predictor.learning.store import read_model as read",
    "a prediction": "from numapredict.reports.parts.subject import open_subject\n"
    "def read(path): open_subject(str(path))",
    "an evaluation": "from numapredict.reports.parts.held_out import held_out_data\n"
    "def read(path): held_out_data(path, None)",
    "a profile": "from numapredict.collect.placing.profile_file import read_profile as read",
    "a journal": "from numapredict.collect.data.journal import read_journal as read",
    "counts": "from numapredict.collect.measuring.counters.perf.counts import read_counts as read",
    "dataset.json": "from numapredict.collect.data.dataset import read_dataset\n"
    "def read(path): put(path, FOLDER / 'data' / 'dataset.json'); read_dataset(FOLDER / 'data')",
    "measurements.parquet": "from numapredict.collect.data.dataset import read_dataset\n"
    "def read(path): put(path, FOLDER / 'data' / 'measurements.parquet'); read_dataset(FOLDER / 'data')",
    "cere.json": "from numapredict.collect.campaign.cere import Cere\n"
    "def read(path): os.environ['PATH'] = str(FOLDER); put(path, FOLDER / 'cere.json'); Cere(FOLDER)",
}
"""Code that defines ``read``, which takes a path; ``put`` moves it to a fixed name in FOLDER, the test's own."""

CHILD = """
import json, os, resource, sys, traceback
from pathlib import Path
import pyarrow.parquet
from numapredict.native.errors import NumapredictError
def put(path, name):
    name.unlink(missing_ok=True)
    path.rename(name)
def say(read, folder, names):
    used = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + {room}, used + {room}))
    for name in names:
        try:
            read(Path(folder, name))
        except NumapredictError as error:
            print(error, flush=True)
for number, (folder, reader, names) in enumerate(json.loads(sys.argv[2])):
    defined = dict(os=os, put=put, FOLDER=Path(folder))
    exec(reader, defined)
    if not (child := os.fork()):
        os.dup2(os.open(Path(sys.argv[1], str(number)), os.O_WRONLY | os.O_CREAT), 1)
        try:
            say(defined['read'], folder, names)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
NOT_REGULAR, TOO_LARGE = "it is no regular file", "MiB, which no such file has"


def in_little_room(*asked: tuple[Path, str, list[str]]) -> list[list[str]]:
    """Return what each reader says of files of its folder, in a fork that may take ROOM_BYTES more than it has."""
    with tempfile.TemporaryDirectory() as answers:
        words = [answers, json.dumps([(str(folder), reader, names) for folder, reader, names in asked])]
        done = subprocess.run(
            # The child of a process with threads only reads, and ends: Python's warning of a lock held does not matter.
            [sys.executable, "-W", "ignore:This process", "-c", CHILD.format(room=ROOM_BYTES), *words],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,  # a reader that waits for a pipe's writer would wait for ever
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr  # pytest cuts long ones outside CI
        return [Path(answers, str(number)).read_text().splitlines() for number in range(len(asked))]


def with_endless_files(folder: Path) -> Path:
    """Return a folder with a dataset, a tool named cere, and four names that a reader must refuse."""
    write_dataset(dataset_of(), folder / "data")
    (folder / "cere").write_text("#!/bin/sh\n")
    (folder / "cere").chmod(0o755)
    (folder / "endless.toml").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.toml")
    with (folder / "huge.toml").open("wb") as file:
        file.truncate(1 << 40)
    (folder / "folder.toml").mkdir()
    return folder


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    names = ["endless.toml", "pipe.toml", "huge.toml", "folder.toml"]
    asked = [(with_endless_files(tmp_path_factory.mktemp("few")), reader, names) for reader in READERS.values()]
    return dict(zip(READERS, in_little_room(*asked), strict=True))


@pytest.mark.thorough
@pytest.mark.parametrize("name", READERS)
def test_no_reader_waits_or_reads_without_end(said: dict[str, list[str]], name: str) -> None:
    # Of what does not begin as a profile no more than a header is read; a folder is asked about as a dataset.
    huge = "does not begin like a profile" if name == "a profile" else TOO_LARGE
    folder = "is not a dataset" if name == "a prediction" else "Is a directory"
    assert len(said[name]) == 4
    for text, expected in zip(said[name], (NOT_REGULAR, NOT_REGULAR, huge, folder), strict=True):
        assert expected in text


def test_a_file_that_grows_while_it_is_read_is_bounded_too() -> None:
    """Files of the kernel say that they have no bytes."""
    assert b"Name:" in read_bounded(Path("/proc/self/status"), 1 << 20)
    with pytest.raises(OSError, match="more than 0 MiB"):
        read_bounded(Path("/proc/self/status"), 10)


def table_of(rows: int, **columns: pa.Array) -> pa.Table:
    """Return a table of the schema in which every cell that is not given is the same."""
    cells = {
        "program": "p", "mapping": "m", "status": "ok", "message": "", "modelled": False, "provenance": "[]",
        "repetition": 0, "time_s": 1.0,
    }  # fmt: skip
    return pa.table(
        {
            field.name: columns.get(field.name, pa.repeat(pa.scalar(cells.get(field.name), _plain(field.type)), rows))
            for field in SCHEMA
        }
    )


def _plain(kind: pa.DataType) -> pa.DataType:
    return pa.string() if pa.types.is_dictionary(kind) else kind


def lists_of(rows: int, entries: int) -> pa.Array:
    """Return lists of zeros."""
    offsets = pa.array(range(0, rows * entries + 1, entries), pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.repeat(pa.scalar(0.0), rows * entries))


def keyed(rows: int, key: str) -> pa.Array:
    """Return readings that all have the same name."""
    offsets = pa.array(range(rows + 1), pa.int32())
    keys = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), [key])
    return pa.MapArray.from_arrays(offsets, keys, pa.repeat(pa.scalar(1.0), rows))


TABLES: dict[str, tuple[Callable[[], pa.Table], str]] = {
    "rows": (lambda: table_of(3 * MOST_ROWS), f"the table has {3 * MOST_ROWS} rows, more than the {MOST_ROWS}"),
    "lists": (
        lambda: table_of(5000, node_local_accesses=lists_of(5000, 8000)),
        f"values, more than the {MOST_VALUES} that are read",
    ),
    "names": (
        lambda: table_of(3000, program=pa.DictionaryArray.from_arrays([0] * 3000, ["x" * (1 << 20)])),
        "column program has a text of 1048576 letters",
    ),
    "keys": (
        lambda: table_of(3000, readings=keyed(3000, "x" * (1 << 20))),
        "column readings has a text of 1048576 letters",
    ),
}


def with_table(folder: Path, table: pa.Table) -> Path:
    """Return the folder of a dataset with that table."""
    write_dataset(dataset_of(), folder)
    file = folder / "measurements.parquet"
    pq.write_table(table, file, compression="zstd", row_group_size=10 * MOST_ROWS)
    assert file.stat().st_size < 1 << 20
    put_digest(folder)
    return folder


@pytest.mark.thorough
def test_a_small_table_that_unpacks_to_a_large_one_is_refused_unpacked(tmp_path: Path) -> None:
    reader = "from numapredict.collect.data.dataset import read_dataset as read"
    folders = [with_table(tmp_path / name, table()) for name, (table, _) in TABLES.items()]
    answers = in_little_room(*((folder.parent, reader, [folder.name]) for folder in folders))
    for (said,), (_, expected) in zip(answers, TABLES.values(), strict=True):
        assert expected in said
        assert len(said) < 400


def test_a_table_of_many_cells_is_refused_before_they_are_made(tmp_path: Path) -> None:
    (tmp_path / "many.csv").write_bytes(b"a\n" + b",\n" * 10_000_000)
    ((said,),) = in_little_room((tmp_path, READERS["a CSV file"], ["many.csv"]))
    assert "more than 8000000 cells; split the file" in said


def test_the_limit_in_these_tests_is_one(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="emoryError"):
        in_little_room((tmp_path, "def read(path): bytearray(1 << 30)", ["any"]))


def test_a_small_file_takes_little_memory_however_wide_the_bound(tmp_path: Path) -> None:
    file = tmp_path / "small"
    file.write_bytes(b"few")
    tracemalloc.start()
    try:
        assert read_bounded(file, 1 << 30) == b"few"
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    grown = Path("/proc/self/maps")  # it says that it is empty, and is not
    assert read_bounded(grown, 1 << 30).count(b"\n") > 10
