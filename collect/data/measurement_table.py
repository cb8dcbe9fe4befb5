"""The tidy table of measurements: one row a repetition, as Parquet.

A failed measurement is one row whose repetition and figures are null. The mapping stands there twice, as its label and
as six columns, so that other tools need no parser; a reader refuses rows where the two disagree. An opaque mapping
has its label alone. ``provenance`` is a JSON list of pairs, ``readings`` a map from a foreign counter's name to its
value, ``sampled_share`` the local one of sampled page touches. The bandwidths of the nodes are left out where all
follow from the accesses, the line's size and the time in regions.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from numapredict.collect.data.measurement_fault import COUNTED, counted_of, fault_of
from numapredict.collect.mapping import CHOICES, AnyMapping, Mapping, mapping_named
from numapredict.collect.measurement import (
    Counters,
    Measurement,
    NodeCounters,
    Repetition,
    Status,
    bandwidth_GBps,
)

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 1_000_000
MOST_VALUES = 32_000_000
"""Cells and entries of lists: a row on 8 nodes has about 50. Read, a value takes up to 40 bytes."""
MOST_TABLE_BYTES = 1 << 30
"""Of the columns without compression."""
MOST_LETTERS = 100_000
"""Of one text: names are short, and of a failed program's output its end is kept."""
_WORD = pa.dictionary(pa.int32(), pa.string())
_NODE_ACCESSES = ("node_local_accesses", "node_remote_accesses")
_NODE_BANDWIDTHS = ("node_local_bandwidth_GBps", "node_remote_bandwidth_GBps")
SCHEMA = pa.schema(
    [
        pa.field("program", _WORD, nullable=False),
        pa.field("mapping", _WORD, nullable=False),
        pa.field("threads", pa.int32()),
        pa.field("thread_nodes", pa.int32()),
        pa.field("thread_policy", _WORD),
        pa.field("page_nodes", pa.int32()),
        pa.field("page_policy", _WORD),
        pa.field("threads_per_core", pa.int32()),
        pa.field("thread_l3s", pa.int32()),
        pa.field("status", _WORD, nullable=False),
        pa.field("message", _WORD, nullable=False),
        pa.field("repetition", pa.int32()),
        pa.field("time_s", pa.float64()),
        pa.field("region_time_s", pa.float64()),
        *(pa.field(name, pa.list_(pa.float64())) for name in (*_NODE_ACCESSES, *_NODE_BANDWIDTHS)),
        pa.field("modelled", pa.bool_(), nullable=False),
        pa.field("provenance", _WORD, nullable=False),
        pa.field("readings", pa.map_(pa.string(), pa.float64())),
        pa.field("sampled_share", pa.float64()),
    ]
)
# Datasets are shipped, so their size counts: with these a table takes a quarter less.
_LEVEL = 19
_LISTS = tuple(f"{name}.list.element" for name in (*_NODE_ACCESSES, *_NODE_BANDWIDTHS))
_FLOATS = ("time_s", "region_time_s", *_LISTS)
_KEYS = ("program", "mapping", "status", "message", "modelled", "provenance")
# These came with versions 2 to 5, and the bandwidths may follow from others.
_MAY_LACK = ("readings", "sampled_share", "threads_per_core", "thread_l3s", *_NODE_BANDWIDTHS)
_BEFORE = {"threads_per_core": 1, "thread_l3s": 0}
_READINGS = "readings"
_READING = f"{_READINGS}.key_value.key"
_PAIRS = msgspec.json.Decoder(tuple[tuple[str, str], ...])


def to_parquet(
    measurements: Iterable[Measurement], nodes: int | None, line_bytes: int | None = None
) -> tuple[bytes, int]:
    """Return the Parquet file's bytes and its number of rows; raise ValueError for a measurement that breaks a rule.

    ``nodes`` and ``line_bytes`` are the machine's, where they are known.
    """
    listed = tuple(measurements)
    for m in listed:
        fault = fault_of(m, nodes)
        if fault:
            raise ValueError(f"measurement of {m.program!r} under {m.mapping.label}: {fault}")
    table = table_of(listed)
    if line_bytes is not None and all(_bandwidths_follow(r, line_bytes) for m in listed for r in m.repetitions):
        table = table.drop_columns(list(_NODE_BANDWIDTHS))
    figures = [name for name in _FLOATS if name.partition(".")[0] in table.column_names]
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=[field.name for field in SCHEMA if field.type == _WORD],
        column_encoding=dict.fromkeys(figures, "BYTE_STREAM_SPLIT"),
    )
    return sink.getvalue().to_pybytes(), table.num_rows


def table_of(measurements: Iterable[Measurement]) -> pa.Table:
    """Return the measurements as a table with the columns of ``SCHEMA``, one row a repetition, in their order."""
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    for m in measurements:
        for index, repetition in enumerate(m.repetitions) if m.repetitions else [(None, None)]:
            for name, value in zip(SCHEMA.names, _row(m, index, repetition), strict=True):
                columns[name].append(value)
    return pa.table(columns, schema=SCHEMA)


def frame_of(measurements: Iterable[Measurement]) -> "pd.DataFrame":
    """Return the columns with one value a row as a frame; what is missing is NaN, in columns of whole numbers <NA>."""
    import pandas as pd

    plain = [f.name for f in SCHEMA if not pa.types.is_nested(f.type) and f.name != "provenance"]
    kinds = {pa.int32(): pd.Int32Dtype()}
    # A thread of Arrow's pool would outlive this call: see from_parquet.
    listed = tuple(measurements)
    frame: pd.DataFrame = table_of(listed).select(plain).to_pandas(use_threads=False, types_mapper=kinds.get)
    counters = [r.counters if r else None for m in listed for r in m.repetitions or (None,)]
    at = list(frame.columns).index("region_time_s") + 1
    for name in reversed(COUNTED):
        totals = [getattr(one, name) if one else None for one in counters]
        frame.insert(at, name, pd.Series(totals, dtype="float64"))
    return frame


def from_parquet(
    data: bytes, machine: str, nodes: int | None, line_bytes: int | None = None
) -> tuple[Measurement, ...]:
    """Return the measurements in a Parquet file's bytes, in the order of their first rows.

    ``nodes`` and ``line_bytes`` are the machine's. Raises ValueError, in one line that names the column, for a file
    that is not such a table.
    """
    try:
        # Not by read_table: its pool keeps a thread, and a process that ends while that runs may end by abort().
        metadata = pq.read_metadata(pa.BufferReader(data))
        leaves = _check_size(metadata)
        # Text is read as a dictionary, so that one long text in every row is there once.
        file = pq.ParquetFile(pa.BufferReader(data), read_dictionary=leaves, pre_buffer=False)
        table = file.read(columns=[name for name in SCHEMA.names if name in file.schema_arrow.names], use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"not a Parquet file ({_first_line(error)})") from error
    groups: dict[tuple[Any, ...], list[tuple[int, Repetition | None]]] = {}
    columns = _columns(table)
    for key, index, repetition in zip(
        zip(*(columns[name] for name in _KEYS), strict=True),
        columns["repetition"],
        _repetitions(columns, line_bytes),
        strict=True,
    ):
        groups.setdefault(key, []).append((-1 if index is None else index, repetition))
    return _measurements(groups, _mappings(columns), machine, nodes)


def _check_size(metadata: pq.FileMetaData) -> list[str]:
    """Return the paths of the columns that hold text; raise ValueError for more than a dataset has.

    It relies on the sizes that the file states: they are known before anything is unpacked.
    """
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    for what, found, most in (
        ("rows", max(metadata.num_rows, sum(group.num_rows for group in groups)), MOST_ROWS),
        ("values", sum(chunk.num_values for chunk in chunks), MOST_VALUES),
        ("bytes when unpacked", sum(chunk.total_uncompressed_size for chunk in chunks), MOST_TABLE_BYTES),
    ):
        if found > most:
            raise ValueError(f"the table has {found} {what}, more than the {most} that are read")
    named = {field.name for field in SCHEMA if field.type == _WORD}
    text = (chunk for chunk in chunks if chunk.physical_type == "BYTE_ARRAY")
    return sorted({chunk.path_in_schema for chunk in text if chunk.path_in_schema in named | {_READING}})


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["no reason was given"])[0]


def _row(m: Measurement, index: int | None, repetition: Repetition | None) -> tuple[Any, ...]:
    mapping = m.mapping
    counters = repetition.counters if repetition else None
    lists: Sequence[Any] = (
        [list(v) for v in zip(*map(counted_of, counters.nodes), strict=True)] if counters else [None] * 4
    )
    return (
        *(m.program, mapping.label),
        *(mapping.choices if isinstance(mapping, Mapping) else [None] * len(CHOICES)),
        *(m.status, m.message, index),
        *(repetition.time_s if repetition else None, repetition.region_time_s if repetition else None),
        *lists,
        *(m.modelled, msgspec.json.encode(m.provenance).decode()),
        list(repetition.readings) if repetition and repetition.readings else None,
        repetition.sampled_share if repetition else None,
    )


def _columns(table: pa.Table) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for field in SCHEMA:
        if field.name not in table.column_names:
            if field.name in _MAY_LACK:
                columns[field.name] = [None] * table.num_rows
                continue
            raise ValueError(f"column {field.name} is missing")
        column = table.column(field.name)
        if not field.nullable and column.null_count:
            raise ValueError(f"column {field.name} has empty cells")
        try:
            columns[field.name] = _cells(column, field)
        except pa.ArrowException as error:
            raise ValueError(f"column {field.name} is {column.type}, not {field.type}") from error
    return columns


def _cells(column: pa.ChunkedArray, field: pa.Field) -> list[Any]:
    """Return a column's cells; ValueError or ArrowException where they are not what the schema has."""
    if pa.types.is_null(column.type):
        return [None] * len(column)
    if field.type == _WORD:
        if not _is_text(column.type):
            raise ValueError(f"column {field.name} is {column.type}, not text")
        return [text for chunk in column.chunks for text in _texts(chunk, field.name)]
    if field.name == _READINGS:
        if not (pa.types.is_map(column.type) and _is_text(column.type.key_type)):
            raise ValueError(f"column {field.name} is {column.type}, not {field.type}")
        return [pairs for chunk in column.chunks for pairs in _pairs(chunk)]
    cells: list[Any] = column.cast(field.type).to_pylist()
    return cells


def _is_text(kind: pa.DataType) -> bool:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(value) or pa.types.is_large_string(value))


def _texts(chunk: pa.Array, name: str) -> list[str | None]:
    """Return a text column's cells; equal ones are the same object, however many rows have them."""
    encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    longest = max((len(text) for text in texts if text is not None), default=0)
    if longest > MOST_LETTERS:
        raise ValueError(f"column {name} has a text of {longest} letters, more than the {MOST_LETTERS} that are read")
    return [None if index is None else texts[index] for index in encoded.indices.to_pylist()]


def _pairs(chunk: pa.MapArray) -> list[list[tuple[str | None, float | None]] | None]:
    """Return the cells of a map from text to a number, as `to_pylist` does, but with equal texts as one object."""
    pairs = list(zip(_texts(chunk.keys, _READINGS), chunk.items.cast(pa.float64()).to_pylist(), strict=True))
    starts, valid = chunk.offsets.to_pylist(), chunk.is_valid().to_pylist()
    return [pairs[starts[n] : starts[n + 1]] if valid[n] else None for n in range(len(chunk))]


def _bandwidths_follow(repetition: Repetition, line_bytes: int) -> bool:
    """Return whether the bandwidths of a run's nodes are what its accesses, its time and the line's size give."""
    if repetition.counters is None:
        return True
    if repetition.region_time_s is None:
        return False
    return repetition.counters == _with_bandwidths(
        [(node.local_accesses, node.remote_accesses) for node in repetition.counters.nodes],
        line_bytes,
        repetition.region_time_s,
    )


def _with_bandwidths(accesses: Iterable[tuple[float, float]], line_bytes: int, region_time_s: float) -> Counters:
    """Return counters of nodes with these (local, remote) accesses and the bandwidths that follow."""
    return Counters(
        tuple(
            NodeCounters(*pair, *(bandwidth_GBps(lines, line_bytes, region_time_s) for lines in pair))
            for pair in accesses
        )
    )


def _repetitions(columns: dict[str, list[Any]], line_bytes: int | None) -> Iterable[Repetition | None]:
    accesses, bandwidths = ([columns[name] for name in names] for names in (_NODE_ACCESSES, _NODE_BANDWIDTHS))
    follow = all(cell is None for column in bandwidths for cell in column)
    for time_s, region, per_node, readings, share in zip(
        columns["time_s"],
        columns["region_time_s"],
        zip(*(accesses if follow else (*accesses, *bandwidths)), strict=True),
        columns["readings"],
        columns["sampled_share"],
        strict=True,
    ):
        if time_s is None:
            yield None
            continue
        counters = None
        if any(values is not None for values in per_node):
            if follow and (line_bytes is None or region is None):
                raise ValueError(f"columns {' and '.join(_NODE_BANDWIDTHS)} are missing, and nothing gives them")
            try:
                values = list(zip(*per_node, strict=True))
                counters = (
                    _with_bandwidths(values, line_bytes or 0, region or 0.0)
                    if follow
                    else Counters(tuple(NodeCounters(*v) for v in values))
                )
            except (TypeError, ValueError) as error:
                raise ValueError(f"columns node_{' node_'.join(COUNTED)} have lists of unequal length") from error
        yield Repetition(time_s, region, counters, tuple(readings or ()), share)


def _mappings(columns: dict[str, list[Any]]) -> dict[str, AnyMapping]:
    """Return the mapping of every label; raise ValueError where a label and the seven columns disagree.

    The columns of an opaque mapping are empty, and so are those of threads a core and L3 caches in older versions.
    """
    mappings: dict[str, AnyMapping] = {}
    for label, *values in set(zip(*(columns[name] for name in ("mapping", *CHOICES)), strict=True)):
        mapping = mappings[label] = mapping_named(label)
        if not isinstance(mapping, Mapping) and any(value is not None for value in values):
            raise ValueError(f"column mapping: {label!r} is not a mapping's label, but its seven columns are filled")
        for name, value in zip(CHOICES, values, strict=True):
            expected = getattr(mapping, name, None)
            if value != expected and not (value is None and expected == _BEFORE.get(name)):
                raise ValueError(f"column {name} is {value!r} where mapping is {label!r}")
    return mappings


def _measurements(
    groups: dict[tuple[Any, ...], list[tuple[int, Repetition | None]]],
    mappings: dict[str, AnyMapping],
    machine: str,
    nodes: int | None,
) -> tuple[Measurement, ...]:
    measurements = []
    notes: dict[str, tuple[tuple[str, str], ...]] = {}
    for (program, label, status, message, modelled, provenance), rows in groups.items():
        where = f"program {program!r}, mapping {label!r}"
        if status not in get_args(Status):
            raise ValueError(f"{where}: column status is {status!r}, not one of {', '.join(get_args(Status))}")
        if provenance not in notes:
            try:
                notes[provenance] = _PAIRS.decode(provenance)
            except msgspec.DecodeError as error:
                raise ValueError(f"{where}: column provenance is not a JSON list of pairs ({error})") from error
        rows.sort(key=lambda row: row[0])
        repetitions = tuple(repetition for _, repetition in rows if repetition is not None)
        if [index for index, _ in rows] != (list(range(len(rows))) if repetitions else [-1]):
            raise ValueError(f"{where}: column repetition does not count 0, 1, 2, ... (empty for a failed one)")
        if repetitions and len(repetitions) != len(rows):
            raise ValueError(f"{where}: column time_s has empty cells")
        measurement = Measurement(
            program=program,
            mapping=mappings[label],
            machine=machine,
            modelled=modelled,
            status=status,
            repetitions=repetitions,
            message=message,
            provenance=notes[provenance],
        )
        fault = fault_of(measurement, nodes)
        if fault:
            raise ValueError(f"{where}: {fault}")
        measurements.append(measurement)
    return tuple(measurements)
