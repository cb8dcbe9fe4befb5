import hashlib
import json
import math
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.data.dataset import Dataset, read_dataset, same_command, write_dataset
from numapredict.collect.data.measurement_table import SCHEMA, from_parquet, to_parquet
from numapredict.collect.measurement import Counters, Measurement, NodeCounters, Repetition
from numapredict.collect.program import Program
from numapredict.collect.space import full_space
from numapredict.native.errors import InvalidInputError, UnwritableError
from tests.samples import dataset_of, failed_of, measurement_of, programs_of, topology_of

POSITIVE = st.floats(min_value=1e-12, max_value=1e9, allow_subnormal=False)
FROM_ZERO = st.one_of(st.just(0.0), POSITIVE)
COUNTERS = st.builds(
    Counters, st.tuples(*[st.builds(NodeCounters, FROM_ZERO, FROM_ZERO, FROM_ZERO, FROM_ZERO) for _ in range(2)])
)
REPETITION = st.builds(
    Repetition, POSITIVE, st.none() | FROM_ZERO, st.none() | COUNTERS, st.just(()), st.none() | st.floats(0, 1)
)
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    write_dataset(dataset_of(), tmp_path / "d")
    return tmp_path / "d"


def one_line(error: pytest.ExceptionInfo[BaseException]) -> str:
    text = str(error.value)
    assert text
    assert "\n" not in text
    return text


def test_what_is_written_is_read(tmp_path: Path) -> None:
    dataset = dataset_of()
    write_dataset(dataset, tmp_path / "new" / "folder")
    assert read_dataset(tmp_path / "new" / "folder") == dataset
    assert sorted(os.listdir(tmp_path / "new" / "folder")) == ["dataset.json", "measurements.parquet"]


def test_an_empty_dataset_is_read_too(tmp_path: Path) -> None:
    empty = msgspec.structs.replace(dataset_of(), measurements=())
    write_dataset(empty, tmp_path)
    assert read_dataset(tmp_path) == empty


def test_the_table_is_tidy(written: Path) -> None:
    table = pq.read_table(written / "measurements.parquet")
    assert table.column_names == SCHEMA.names
    assert table.num_rows == 17 * 2 + 1  # a row a repetition, and one for the failed run
    row = table.to_pylist()[0]
    assert row["mapping"].startswith(f"{row['threads']}x{row['thread_nodes']}-{row['thread_policy']}")
    assert len(row["node_local_accesses"]) == len(row["node_local_bandwidth_GBps"])
    assert json.loads(row["provenance"]) == [["source", "sample"], ["share", "0.5"]]
    failed = table.to_pylist()[-1]
    assert (failed["status"], failed["repetition"], failed["time_s"]) == ("crashed", None, None)


def test_the_description_is_for_people_too(written: Path) -> None:
    text = (written / "dataset.json").read_text()
    assert '\n  "schema": 5,' in text
    description = json.loads(text)
    assert description["units"]["local_bandwidth_GBps"] == "1e9 bytes a second"
    assert description["made_by"] == "numapredict collect run --machine sample"
    assert description["rows"] == 35


@given(st.lists(REPETITION, min_size=1, max_size=3), TEXT, st.lists(st.tuples(TEXT, TEXT), max_size=2))
def test_any_measurement_survives_the_table(
    repetitions: list[Repetition], message: str, notes: list[tuple[str, str]]
) -> None:
    topology = topology_of()
    measurement = Measurement(
        program="p",
        mapping=full_space(topology)[-1],
        machine="m",
        modelled=False,
        repetitions=tuple(repetitions),
        message=message,
        provenance=tuple(notes),
    )
    data, rows = to_parquet([measurement], 2)
    assert rows == len(repetitions)
    assert from_parquet(data, "m", 2) == (measurement,)


def test_another_tool_may_sort_the_rows_and_write_plain_text(written: Path) -> None:
    table = pq.read_table(written / "measurements.parquet").sort_by([("time_s", "descending")])
    plain = pa.table({name: table.column(name).cast(_plain(SCHEMA.field(name).type)) for name in table.column_names})
    replace_table(written, plain)
    assert set(read_dataset(written).measurements) == set(dataset_of().measurements)


def _plain(kind: pa.DataType) -> pa.DataType:
    return pa.string() if pa.types.is_dictionary(kind) else kind


def replace_table(folder: Path, table: pa.Table) -> None:
    """Put another table into a dataset, with its digest."""
    pq.write_table(table, folder / "measurements.parquet")
    put_digest(folder)


def put_digest(folder: Path) -> None:
    """Make the description name the table that is there."""
    digest = hashlib.sha256((folder / "measurements.parquet").read_bytes()).hexdigest()
    change(folder, lambda d: d.update(measurements_sha256=digest))


def change(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    description = json.loads((folder / "dataset.json").read_text())
    edit(description)
    (folder / "dataset.json").write_text(json.dumps(description))


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda d: d.pop("machine"), "machine"),
        (lambda d: d.update(machine=4), "$.machine"),
        (lambda d: d.update(surprise=4), "surprise"),
        (lambda d: d.update(schema=6), "use a newer numapredict"),
        (lambda d: d.update(schema=0), "schema is 0"),
        (lambda d: d.update(schema="1"), "$.schema"),
        (lambda d: d["topology"].pop("nodes"), "nodes"),
        (lambda d: d["topology"].update(distances=[[10.0]]), "distances"),
        (lambda d: d["programs"][0].update(command=[]), "empty command"),
        (lambda d: d["programs"].pop(), "not in programs"),
        (lambda d: d["programs"].append(d["programs"][0]), "same name"),
        (lambda d: d.update(modelled=False), "modelled"),
        (lambda d: d.update(measurements_sha256="0" * 64), "measurements_sha256"),
    ],
)
def test_a_malformed_description_is_refused(
    written: Path, edit: Callable[[dict[str, Any]], object], expected: str
) -> None:
    change(written, edit)
    with pytest.raises(InvalidInputError) as error:
        read_dataset(written)
    text = one_line(error)
    assert expected in text
    assert str(written) in text


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b"null", b'{"schema": 1, "machine": "\xff"}'])
def test_a_description_that_is_no_json_object_is_refused(written: Path, data: bytes) -> None:
    (written / "dataset.json").write_bytes(data)
    with pytest.raises(InvalidInputError, match=r"dataset\.json"):
        read_dataset(written)


def set_cell(table: pa.Table, column: str, value: object, row: int = 0) -> pa.Table:
    values = table.column(column).to_pylist()
    values[row] = value
    return table.set_column(table.column_names.index(column), column, pa.array(values))


def set_column(table: pa.Table, column: str, value: object) -> pa.Table:
    return table.set_column(table.column_names.index(column), column, pa.array([value] * table.num_rows))


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda t: t.drop_columns(["time_s"]), "column time_s is missing"),
        (lambda t: set_cell(t, "mapping", "16x2"), "column mapping"),
        (lambda t: set_cell(t, "threads", 77), "column threads is 77"),
        (lambda t: set_cell(t, "status", "fine"), "column status is 'fine'"),
        (lambda t: set_cell(t, "status", None), "column status has empty cells"),
        (lambda t: set_cell(t, "time_s", None), "time_s"),
        (lambda t: set_cell(t, "time_s", -1.0), "time_s is -1.0"),
        (lambda t: set_cell(t, "time_s", float("inf")), "time_s is inf"),
        (lambda t: set_cell(t, "repetition", 1), "column repetition"),
        (lambda t: set_cell(t, "provenance", "{}"), "column provenance"),
        (lambda t: set_cell(t, "node_local_accesses", [1.0]), "unequal length"),
        (lambda t: set_cell(t, "node_local_accesses", None), "unequal length"),
        (lambda t: set_cell(t, "node_local_accesses", [1.0, -2.0]), "local_accesses is -2.0"),
        (lambda t: set_cell(t, "program", "stranger", -1), "stranger"),
        (lambda t: set_column(t, "program", 1), "column program is int64"),
        (lambda t: set_column(t, "time_s", "soon"), "column time_s is string"),
    ],
)
def test_a_malformed_table_is_refused(written: Path, edit: Callable[[pa.Table], pa.Table], expected: str) -> None:
    replace_table(written, edit(pq.read_table(written / "measurements.parquet")))
    with pytest.raises(InvalidInputError) as error:
        read_dataset(written)
    text = one_line(error)
    assert expected in text
    assert str(written) in text


def test_a_truncated_table_is_refused(written: Path) -> None:
    data = (written / "measurements.parquet").read_bytes()
    for data_left in (b"", data[:-5], b"not parquet at all"):
        (written / "measurements.parquet").write_bytes(data_left)
        put_digest(written)
        with pytest.raises(InvalidInputError) as error:
            read_dataset(written)
        assert "not a Parquet file" in one_line(error)


def test_what_is_no_dataset_is_said(tmp_path: Path, written: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"is not a dataset: dataset\.json is missing"):
        read_dataset(tmp_path / "nowhere")
    with pytest.raises(InvalidInputError, match="Not a directory"):
        read_dataset(written / "dataset.json")
    (written / "measurements.parquet").unlink()
    with pytest.raises(InvalidInputError, match=r"measurements\.parquet is missing"):
        read_dataset(written)


def test_halves_of_two_datasets_are_not_one(tmp_path: Path) -> None:
    write_dataset(dataset_of(), tmp_path / "a")
    write_dataset(dataset_of(mappings=5), tmp_path / "b")
    os.replace(tmp_path / "a" / "measurements.parquet", tmp_path / "b" / "measurements.parquet")
    with pytest.raises(InvalidInputError, match="belongs to another file"):
        read_dataset(tmp_path / "b")


def with_measurement(measurement: Measurement) -> Dataset:
    return msgspec.structs.replace(dataset_of(), programs=programs_of("p"), measurements=(measurement,))


def test_measurements_that_do_not_belong_are_refused() -> None:
    topology = topology_of()
    mapping = full_space(topology)[0]
    good = measurement_of("p", mapping, topology)
    assert with_measurement(good).program("p").name == "p"
    for bad, expected in [
        (msgspec.structs.replace(good, program="q"), "not in programs"),
        (msgspec.structs.replace(good, machine="other"), "made on 'other'"),
        (msgspec.structs.replace(good, modelled=False), "modelled: False"),
    ]:
        with pytest.raises(ValueError, match=expected):
            with_measurement(bad)
    with pytest.raises(ValueError, match="there twice"):
        msgspec.structs.replace(dataset_of(), programs=programs_of("p"), measurements=(good, good))


def test_measurements_that_nobody_could_read_are_not_written(tmp_path: Path) -> None:
    topology = topology_of()
    mapping = full_space(topology)[0]
    good = measurement_of("p", mapping, topology)
    for bad, expected in [
        (msgspec.structs.replace(good, repetitions=(Repetition(float("nan")),)), "time_s is nan"),
        (msgspec.structs.replace(good, repetitions=(Repetition(1.0, -1.0),)), "region_time_s is -1.0"),
        (msgspec.structs.replace(good, repetitions=()), "0 repetitions"),
        (msgspec.structs.replace(failed_of("p", mapping, topology), repetitions=good.repetitions), "2 repetitions"),
        (measurement_of("p", mapping, topology_of((4, 4, 4), "sample-2x4")), "3 entries, the machine 2"),
    ]:
        with pytest.raises(InvalidInputError, match=expected):
            write_dataset(with_measurement(bad), tmp_path / "d")
    assert not (tmp_path / "d").exists()


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableError, match="choose another folder"):
        write_dataset(dataset_of(), tmp_path / "file" / "d")


def test_a_full_disk_leaves_the_old_dataset(written: Path) -> None:
    code = (
        "import resource, sys; from pathlib import Path; from tests.samples import dataset_of;"
        "from numapredict.collect.data.dataset import write_dataset\n"
        "from numapredict.native.errors import UnwritableError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "try: write_dataset(dataset_of(programs=40), Path(sys.argv[1]))\n"
        "except UnwritableError as error: print(error)"
    )
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    done = subprocess.run(
        [sys.executable, "-c", code, str(written)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "File too large; free some space" in done.stdout
    assert read_dataset(written) == dataset_of()
    assert sorted(os.listdir(written)) == ["dataset.json", "measurements.parquet"]


def test_same_command_looks_past_the_folder() -> None:
    here = Program(name="p", command=("/usr/bin/p", "1"), environment=(("A", "1"), ("B", "2")))
    there = Program(name="q", command=("lib/p", "1"), environment=(("B", "2"), ("A", "1")), summary="s")
    assert same_command(here, there)
    assert not same_command(here, msgspec.structs.replace(there, command=("lib/p", "2")))
    assert not same_command(here, msgspec.structs.replace(there, command=("lib/q", "1")))
    assert not same_command(here, msgspec.structs.replace(there, environment=()))


def test_importing_loads_no_table_library() -> None:
    code = "import sys, numapredict.collect.data.journal; sys.exit('pyarrow' in sys.modules or 'pandas' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


def test_reading_leaves_no_thread_behind(tmp_path: Path) -> None:
    """A process that ends while a thread of Arrow's runs may end by abort(): "terminate called"."""
    write_dataset(dataset_of(), tmp_path)
    code = (
        "import os, sys, pyarrow.parquet; from pathlib import Path; "
        "from numapredict.collect.data.dataset import read_dataset; "
        "before = len(os.listdir('/proc/self/task')); read_dataset(Path(sys.argv[1])); "
        "print(len(os.listdir('/proc/self/task')) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


NUMBERS = (None, float("nan"), float("inf"), float("-inf"), -1.0, -5e-324, 1e308)
LISTS = (
    *(None, [], [1.0], [1.0, 2.0, 3.0], [None, 1.0], [1.0, None], [None, None]),
    *([1.0, value] for value in NUMBERS[1:]),
)
PAIRS = (None, [], [("misses", None)], [("misses", float("nan"))], [("", 1.0)])
KINDS = {
    "time_s": NUMBERS,
    "node_local_accesses": LISTS,
    "readings": PAIRS,
    "program": (None, "", "\x00", "x" * 1000),
    "threads": (None, 0, -1, 2**31 - 1),
}
"""All that may be odd in a column of each kind; in each other column one cell is."""
ODD = {str(SCHEMA.field(name).type): values[-1] for name, values in KINDS.items()}
HOSTILE = [
    *((name, value) for name, values in KINDS.items() for value in values),
    *((field.name, ODD.get(str(field.type))) for field in SCHEMA if field.name not in KINDS),
]


@pytest.mark.parametrize(("column", "value"), HOSTILE)
def test_any_cell_of_any_column_is_understood_or_refused_in_one_line(written: Path, column: str, value: object) -> None:
    table = pq.read_table(written / "measurements.parquet")
    values = table.column(column).to_pylist()
    values[0] = value
    kind = _plain(SCHEMA.field(column).type)
    changed = table.set_column(table.column_names.index(column), column, pa.array(values, kind))
    replace_table(written, changed)
    try:
        read = read_dataset(written)
    except InvalidInputError as error:
        text = str(error)
        assert "\n" not in text
        assert column.removeprefix("node_") in text or any(name in text for name in ("repetition", "not in programs"))
        assert str(written / "measurements.parquet") in text or "not in programs" in text
        return
    # What is read can be computed with.
    for measurement in read.measurements:
        figures = [measurement.time_s, measurement.region_time_s, measurement.local_share, measurement.spread]
        if measurement.counters is not None:
            figures += [measurement.counters.local_bandwidth_GBps, measurement.counters.remote_accesses]
        assert measurement.status != "ok" or all(math.isfinite(figure) for figure in figures if figure is not None)
    write_dataset(read, written)


def test_an_empty_cell_of_a_counter_is_named(written: Path) -> None:
    table = pq.read_table(written / "measurements.parquet")
    replace_table(written, set_cell(table, "node_local_accesses", [1.0, None]))
    with pytest.raises(InvalidInputError) as error:
        read_dataset(written)
    expected = "local_accesses is empty, not a number from 0 to 1e+30; restore the file or collect the dataset again"
    assert one_line(error).endswith(expected)
    assert "program 'p0', mapping" in str(error.value)
