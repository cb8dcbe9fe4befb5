import math

import msgspec
import numpy as np

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.measurement_fault import COUNTED
from numapredict.collect.mapping import AnyMapping, mapping_named
from numapredict.collect.measurement import Measurement
from numapredict.predictor.learning.features import observe
from tests.planted import planted_dataset
from tests.samples import dataset_of, measurement_of, topology_of

MAPPING_PARTS = ("threads", "thread_nodes", "thread_policy", "page_nodes", "page_policy", "threads_per_core")


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
