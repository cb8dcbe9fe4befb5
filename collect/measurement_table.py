"""The tidy table of measurements: one row a repetition, as Parquet.

A failed measurement is one row whose repetition and figures are null. The mapping stands there twice, as its label and
as five columns, so that other tools need no parser; a reader refuses rows where the two disagree. An opaque mapping
has its label alone. Totals are sums over the per-node lists. ``provenance`` is a JSON list of pairs, ``readings`` a map
from a foreign counter's name to its value, ``sampled_share`` the local one of sampled page touches.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, get_args

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from numapredict.collect.mapping import AnyMapping, OpaqueMapping, mapping_named
from numapredict.collect.measurement import Counters, Measurement, NodeCounters, Repetition, Status

_FIGURES = ("local_accesses", "remote_accesses", "local_bandwidth_GBps", "remote_bandwidth_GBps")
_WORD = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [
        pa.field("program", _WORD, nullable=False),
        pa.field("mapping", _WORD, nullable=False),
        pa.field("threads", pa.int32()),
        pa.field("thread_nodes", pa.int32()),
        pa.field("thread_policy", _WORD),
        pa.field("page_nodes", pa.int32()),
        pa.field("page_policy", _WORD),
        pa.field("status", _WORD, nullable=False),
        pa.field("message", _WORD, nullable=False),
        pa.field("repetition", pa.int32()),
        pa.field("time_s", pa.float64()),
        pa.field("region_time_s", pa.float64()),
        *(pa.field(name, pa.float64()) for name in _FIGURES),
        *(pa.field(f"node_{name}", pa.list_(pa.float64())) for name in _FIGURES),
        pa.field("modelled", pa.bool_(), nullable=False),
        pa.field("provenance", _WORD, nullable=False),
        pa.field("readings", pa.map_(pa.string(), pa.float64())),
        pa.field("sampled_share", pa.float64()),
    ]
)
# Datasets are shipped, so their size counts: with these a table takes a quarter less.
_LEVEL = 19
_FLOATS = (*("time_s", "region_time_s"), *_FIGURES, *(f"node_{name}.list.element" for name in _FIGURES))
_KEYS = ("program", "mapping", "status", "message", "modelled", "provenance")
_NEW = ("readings", "sampled_share")  # came with versions 2 and 3; a table of an older one has none
_PAIRS = msgspec.json.Decoder(tuple[tuple[str, str], ...])


def to_parquet(measurements: Iterable[Measurement], nodes: int | None) -> tuple[bytes, int]:
    """Return the Parquet file's bytes and its number of rows; raise ValueError for a measurement that breaks a rule."""
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    for m in measurements:
        fault = fault_of(m, nodes)
        if fault:
            raise ValueError(f"measurement of {m.program!r} under {m.mapping.label}: {fault}")
        for index, repetition in enumerate(m.repetitions) if m.repetitions else [(None, None)]:
            for name, value in zip(SCHEMA.names, _row(m, index, repetition), strict=True):
                columns[name].append(value)
    sink = pa.BufferOutputStream()
    pq.write_table(
        pa.table(columns, schema=SCHEMA),
        sink,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=[field.name for field in SCHEMA if field.type == _WORD],
        column_encoding=dict.fromkeys(_FLOATS, "BYTE_STREAM_SPLIT"),
    )
    return sink.getvalue().to_pybytes(), len(columns["program"])


def from_parquet(data: bytes, machine: str, nodes: int | None) -> tuple[Measurement, ...]:
    """Return the measurements in a Parquet file's bytes, in the order of their first rows.

    Raises ValueError, in one line that names the column, for a file that is not such a table.
    """
    try:
        # Not by read_table: its pool keeps a thread, and a process that ends while that runs may end by abort().
        table = pq.ParquetFile(pa.BufferReader(data), pre_buffer=False).read(use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"not a Parquet file ({str(error).splitlines()[0]})") from error
    groups: dict[tuple[Any, ...], list[tuple[int, Repetition | None]]] = {}
    columns = _columns(table)
    for key, index, repetition in zip(
        zip(*(columns[name] for name in _KEYS), strict=True),
        columns["repetition"],
        _repetitions(columns),
        strict=True,
    ):
        groups.setdefault(key, []).append((-1 if index is None else index, repetition))
    return _measurements(groups, _mappings(columns), machine, nodes)


def fault_of(measurement: Measurement, nodes: int | None) -> str:
    """Return what is wrong with a measurement on a machine of ``nodes`` nodes; an empty text where nothing is."""
    if not measurement.mapping.label:
        return "the mapping has no label"
    if (measurement.status == "ok") != bool(measurement.repetitions):
        return f"status is {measurement.status!r} with {len(measurement.repetitions)} repetitions"
    for repetition in measurement.repetitions:
        if not (math.isfinite(repetition.time_s) and repetition.time_s > 0):
            return f"time_s is {repetition.time_s}, not a positive number"
        region = repetition.region_time_s
        if region is not None and not (math.isfinite(region) and region >= 0):
            return f"region_time_s is {region}, not a number from 0"
        if any(not name or not math.isfinite(value) for name, value in repetition.readings):
            return "a reading has no name or no finite value"
        share = repetition.sampled_share
        if share is not None and not 0 <= share <= 1:
            return f"sampled_share is {share}, not a share"
        fault = _counters_fault(repetition.counters, nodes) if repetition.counters is not None else ""
        if fault:
            return fault
    return ""


def _counters_fault(counters: Counters, nodes: int | None) -> str:
    if nodes is None:
        return "counters of nodes, where the machine's nodes are not known"
    if len(counters.nodes) != nodes:
        return f"counters have {len(counters.nodes)} entries, the machine {nodes} nodes"
    for node in counters.nodes:
        for name, value in zip(_FIGURES, _figures(node), strict=True):
            if not (math.isfinite(value) and value >= 0):
                return f"{name} is {value}, not a number from 0"
    return ""


def _figures(node: NodeCounters) -> tuple[float, float, float, float]:
    return (node.local_accesses, node.remote_accesses, node.local_bandwidth_GBps, node.remote_bandwidth_GBps)


def _row(m: Measurement, index: int | None, repetition: Repetition | None) -> tuple[Any, ...]:
    mapping = m.mapping
    counters = repetition.counters if repetition else None
    lists: Sequence[Any] = (
        [list(v) for v in zip(*map(_figures, counters.nodes), strict=True)] if counters else [None] * 4
    )
    return (
        *(m.program, mapping.label),
        *([None] * 5 if isinstance(mapping, OpaqueMapping) else msgspec.structs.astuple(mapping)),
        *(m.status, m.message, index),
        *(repetition.time_s if repetition else None, repetition.region_time_s if repetition else None),
        *(math.fsum(values) if values is not None else None for values in lists),
        *lists,
        *(m.modelled, msgspec.json.encode(m.provenance).decode()),
        list(repetition.readings) if repetition and repetition.readings else None,
        repetition.sampled_share if repetition else None,
    )


def _columns(table: pa.Table) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for field in SCHEMA:
        if field.name not in table.column_names:
            if field.name in _NEW:
                columns[field.name] = [None] * table.num_rows
                continue
            raise ValueError(f"column {field.name} is missing")
        column = table.column(field.name)
        if not field.nullable and column.null_count:
            raise ValueError(f"column {field.name} has empty cells")
        text = field.type == _WORD
        try:
            if text and column.type not in (_WORD, pa.string(), pa.large_string()):
                raise ValueError(f"column {field.name} is {column.type}, not text")
            columns[field.name] = column.cast(pa.string() if text else field.type).to_pylist()
        except pa.ArrowException as error:
            raise ValueError(f"column {field.name} is {column.type}, not {field.type}") from error
    return columns


def _repetitions(columns: dict[str, list[Any]]) -> Iterable[Repetition | None]:
    lists = [columns[f"node_{name}"] for name in _FIGURES]
    for time_s, region, per_node, readings, share in zip(
        columns["time_s"],
        columns["region_time_s"],
        zip(*lists, strict=True),
        columns["readings"],
        columns["sampled_share"],
        strict=True,
    ):
        if time_s is None:
            yield None
            continue
        counters = None
        if any(values is not None for values in per_node):
            try:
                counters = Counters(tuple(NodeCounters(*v) for v in zip(*per_node, strict=True)))
            except (TypeError, ValueError) as error:
                raise ValueError(f"columns node_{' node_'.join(_FIGURES)} have lists of unequal length") from error
        yield Repetition(time_s, region, counters, tuple(readings or ()), share)


class _Row(NamedTuple):
    """The mapping of a row, by its five columns; all are empty for an opaque one."""

    threads: int | None
    thread_nodes: int | None
    thread_policy: str | None
    page_nodes: int | None
    page_policy: str | None


def _mappings(columns: dict[str, list[Any]]) -> dict[str, AnyMapping]:
    """Return the mapping of every label; raise ValueError where a label and the five columns disagree."""
    mappings: dict[str, AnyMapping] = {}
    for label, *values in set(zip(*(columns[name] for name in ("mapping", *_Row._fields)), strict=True)):
        mapping = mappings[label] = mapping_named(label)
        row = _Row(*values)
        if isinstance(mapping, OpaqueMapping) and any(value is not None for value in row):
            raise ValueError(f"column mapping: {label!r} is none of our labels, and yet its five columns are filled")
        for name in _Row._fields:
            if getattr(row, name) != getattr(mapping, name, None):
                raise ValueError(f"column {name} is {getattr(row, name)!r} where mapping is {label!r}")
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
