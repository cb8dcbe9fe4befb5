import math
from pathlib import Path

import msgspec
import numpy as np
import pyarrow.parquet as pq
import pytest

from numapredict.collect.data.dataset import Dataset, read_dataset, write_dataset
from numapredict.collect.data.measurement_fault import COUNTED
from numapredict.collect.data.measurement_table import from_parquet, to_parquet
from numapredict.collect.mapping import AnyMapping, mapping_named, parse_label
from numapredict.collect.measurement import (
    Counters,
    Measurement,
    NodeCounters,
    Repetition,
    bandwidth_GBps,
    rounded,
)
from numapredict.native.errors import InvalidInputError
from numapredict.predictor.learning.features import observe
from tests.planted import planted_dataset
from tests.samples import dataset_of, measurement_of, topology_of
from tests.unit.collect.data.test_dataset import change, replace_table, with_measurement

MAPPING_PARTS = (
    "threads",
    "thread_nodes",
    "thread_policy",
    "page_nodes",
    "page_policy",
    "threads_per_core",
    "thread_l3s",
)


def with_holes() -> Dataset:
    """Runs with counters, without, with sampled shares, a failed one, and one under somebody else's mapping."""
    dataset = dataset_of()
    mapping = dataset.measurements[0].mapping
    bare = measurement_of("p0", mapping, topology_of(), counted=False)
    sampled = msgspec.structs.replace(bare.repetitions[0], sampled_share=0.25)
    bare = msgspec.structs.replace(bare, repetitions=(bare.repetitions[1], sampled))
    foreign = msgspec.structs.replace(bare, mapping=mapping_named("numactl -i all"))
    return msgspec.structs.replace(dataset, measurements=(bare, *dataset.measurements[1:], foreign))


def reported(value: object) -> object:
    return math.nan if value is None else value


def test_a_frame_has_one_row_a_repetition_with_the_measurement_s_own_figures() -> None:
    dataset = with_holes()
    assert isinstance(dataset.measurements[-1].mapping, AnyMapping)
    frame = dataset.frame()
    rows = iter(frame.astype(object).where(frame.notna(), math.nan).to_dict("records"))
    for m in dataset.measurements:
        for index, repetition in enumerate(m.repetitions or (None,)):
            counters = repetition and repetition.counters
            expected = {
                **{"machine": dataset.machine, "program": m.program, "mapping": m.mapping.label},
                **{part: reported(getattr(m.mapping, part, None)) for part in MAPPING_PARTS},
                **{"status": m.status, "message": m.message, "repetition": index if repetition else math.nan},
                **{name: reported(getattr(repetition, name, None)) for name in ("time_s", "region_time_s")},
                **{name: reported(getattr(counters, name, None)) for name in COUNTED},
                **{"modelled": m.modelled, "sampled_share": reported(getattr(repetition, "sampled_share", None))},
            }
            np.testing.assert_equal(next(rows), expected)
    assert next(rows, None) is None
    assert list(frame.columns) == list(expected)


def test_a_column_s_type_does_not_depend_on_what_is_missing() -> None:
    whole, holes = planted_dataset(3).frame(), with_holes().frame()
    assert dict(whole.dtypes).keys() == dict(holes.dtypes).keys()
    for name in ("threads", "repetition", "time_s", "local_accesses", "sampled_share", "modelled"):
        assert whole[name].dtype == holes[name].dtype, name


def test_a_frame_gives_the_matrices_that_models_are_learned_from() -> None:
    dataset = planted_dataset(6)
    observations = observe(dataset)
    cells = dataset.frame().groupby(["program", "mapping"], observed=True, sort=False)
    for name in ("region_time_s" if observations.clock == "regions" else "time_s", "local_bandwidth_GBps"):
        table = cells[name].median().unstack().loc[list(observations.names), list(map(str, observations.mappings))]
        matrix = observations.local_bandwidth_GBps if name == "local_bandwidth_GBps" else observations.time_s
        assert matrix is not None
        np.testing.assert_allclose(table.to_numpy(), matrix, rtol=1e-12)


def test_a_dataset_without_measurements_has_a_frame_without_rows() -> None:
    none: tuple[Measurement, ...] = ()
    frame = msgspec.structs.replace(dataset_of(), measurements=none).frame()
    assert len(frame) == 0
    assert list(frame.columns) == list(dataset_of().frame().columns)


def test_bandwidths_that_follow_from_accesses_and_time_are_not_stored(tmp_path: Path) -> None:
    (nodes, line_bytes), region_s = (2, 64), rounded(0.3)
    accesses = [(1e6, 0.0), (rounded(1 / 3), 7e5)]
    follow = Counters(
        tuple(
            NodeCounters(*pair, *(bandwidth_GBps(lines, line_bytes, region_s) for lines in pair)) for pair in accesses
        )
    )
    good = measurement_of("p", parse_label("4x1-contiguous-bind"), topology_of())
    good = msgspec.structs.replace(good, repetitions=(Repetition(rounded(0.7), region_s, follow),))
    write_dataset(with_measurement(good), tmp_path)
    names = pq.read_table(tmp_path / "measurements.parquet").column_names
    assert not [name for name in names if name.endswith("bandwidth_GBps")]
    assert read_dataset(tmp_path).measurements == (good,)
    data, _ = to_parquet([good], nodes, line_bytes)
    with pytest.raises(ValueError, match="node_local_bandwidth_GBps and node_remote_bandwidth_GBps are missing"):
        from_parquet(data, good.machine, nodes)
    more = msgspec.structs.replace(follow.nodes[1], remote_bandwidth_GBps=2.0)
    other = Repetition(rounded(0.7), region_s, Counters((follow.nodes[0], more)))
    measured = msgspec.structs.replace(good, repetitions=(*good.repetitions, other))
    write_dataset(with_measurement(measured), tmp_path)
    assert read_dataset(tmp_path).measurements == (measured,)


def test_a_table_of_version_3_has_one_thread_a_core(tmp_path: Path) -> None:
    write_dataset(dataset_of(), tmp_path)
    table = pq.read_table(tmp_path / "measurements.parquet")
    replace_table(tmp_path, table.drop_columns(["threads_per_core"]))
    change(tmp_path, lambda d: d.update(schema=3))
    assert read_dataset(tmp_path) == dataset_of()


def test_two_threads_a_core_are_in_the_label_and_in_a_column(tmp_path: Path) -> None:
    good = measurement_of("p", parse_label("8x2-scatter-balance@1-smt2"), topology_of())
    write_dataset(with_measurement(good), tmp_path)
    table = pq.read_table(tmp_path / "measurements.parquet")
    assert table.column("mapping").to_pylist() == ["8x2-scatter-balance@1-smt2"] * 2
    assert table.column("threads_per_core").to_pylist() == [2, 2]
    assert read_dataset(tmp_path).measurements == (good,)
    replace_table(tmp_path, table.drop_columns(["threads_per_core"]))
    with pytest.raises(InvalidInputError, match="column threads_per_core is None where mapping is '8x2-scatter"):
        read_dataset(tmp_path)
