from collections.abc import Callable

import msgspec
import numpy as np
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import mapping_named
from numapredict.collect.measurement import Measurement
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning.features import (
    clustering_rows,
    normalise_across_programs,
    normalise_by_default,
    observe,
)
from tests.planted import planted_dataset


def failed(measurement: Measurement) -> Measurement:
    return msgspec.structs.replace(measurement, repetitions=(), status="crashed", message="signal 11")


def with_failures(dataset: Dataset, fails: Callable[[str, str], bool]) -> Dataset:
    """Return the dataset with the measurements failed that ``fails(program, label)`` names."""
    return msgspec.structs.replace(
        dataset,
        measurements=tuple(failed(m) if fails(m.program, m.mapping.label) else m for m in dataset.measurements),
    )


def test_normalising_by_the_default_divides_each_row() -> None:
    times = np.array([[2.0, 4.0, 1.0], [30.0, 15.0, 60.0]])
    assert normalise_by_default(times, 0).tolist() == [[1.0, 2.0, 0.5], [1.0, 0.5, 2.0]]


def test_normalising_across_programs_divides_each_column() -> None:
    values = np.array([[2.0, 0.0, 1.0], [8.0, 0.0, 4.0]])
    assert normalise_across_programs(values).tolist() == [[0.25, 0.0, 0.25], [1.0, 0.0, 1.0]]


def test_the_log_scale_treats_slower_and_faster_alike() -> None:
    times = np.array([[2.0, 8.0, 0.5]])
    assert clustering_rows(times, 0, "linear").tolist() == [[1.0, 4.0, 0.25]]
    assert clustering_rows(times, 0, "log").tolist() == [[0.0, 2.0, -2.0]]


def test_every_measurement_lands_in_its_cell() -> None:
    dataset = planted_dataset(3)
    observations = observe(dataset)
    assert observations.time_s.shape == (3, 23)
    for m in dataset.measurements:
        cell = observations.names.index(m.program), observations.column(m.mapping)
        assert observations.time_s[cell] == m.time_s
        assert observations.local_bandwidth_GBps[cell] == m.counters.local_bandwidth_GBps


def test_columns_do_not_depend_on_the_order_of_measurements() -> None:
    dataset = planted_dataset(2)
    turned = msgspec.structs.replace(dataset, measurements=dataset.measurements[::-1])
    assert observe(turned).mappings == observe(dataset).mappings
    assert np.array_equal(observe(turned).time_s, observe(dataset).time_s)


def test_a_program_with_little_data_goes_and_is_named() -> None:
    dataset = with_failures(planted_dataset(4), lambda p, label: p == "stream-0" and label != "8x1-contiguous-bind")
    observations = observe(dataset)
    assert observations.dropped_programs == ("stream-0",)
    assert observations.dropped_mappings == ()
    assert observations.time_s.shape == (3, 23)
    assert np.isfinite(observations.time_s).all()


def test_a_mapping_that_few_programs_survive_goes_and_is_named() -> None:
    dataset = with_failures(planted_dataset(4), lambda p, label: label == "8x1-contiguous-remote" and p != "stream-0")
    observations = observe(dataset)
    assert observations.dropped_programs == ()
    assert observations.dropped_mappings == (mapping_named("8x1-contiguous-remote"),)


def test_the_default_stays_and_programs_without_it_go() -> None:
    kept = mapping_named("32x4-contiguous-first-touch")
    dataset = with_failures(planted_dataset(4), lambda p, where: where == kept.label and p != "stream-0")
    assert kept in observe(dataset, keep=kept).mappings
    assert observe(dataset, keep=kept).names == ("stream-0",)
    assert kept in observe(dataset).dropped_mappings


def test_one_run_without_counters_means_no_bandwidth_matrix() -> None:
    dataset = planted_dataset(2)
    first, *rest = dataset.measurements
    repetition = msgspec.structs.replace(first.repetitions[0], counters=None)
    bare = msgspec.structs.replace(first, repetitions=(repetition,))
    observations = observe(msgspec.structs.replace(dataset, measurements=(bare, *rest)))
    assert observations.local_bandwidth_GBps is None
    assert observations.time_s.shape == (2, 23)


def test_programs_without_a_group_are_their_own() -> None:
    dataset = planted_dataset(2)
    bare = msgspec.structs.replace(dataset.programs[0], group="")
    dataset = msgspec.structs.replace(dataset, programs=(bare, dataset.programs[1]))
    assert observe(dataset).groups == (bare.name, dataset.programs[1].group)


def test_nothing_measured_is_said() -> None:
    with pytest.raises(InsufficientDataError, match="collect some first"):
        observe(with_failures(planted_dataset(2), lambda _p, _label: True))


def test_an_unmeasured_default_is_named() -> None:
    with pytest.raises(InsufficientDataError, match="3x1-contiguous-bind"):
        observe(planted_dataset(2)).column(mapping_named("3x1-contiguous-bind"))


def test_rows_selects_programs() -> None:
    observations = observe(planted_dataset(4))
    part = observations.rows([2, 0])
    assert part.names == (observations.names[2], observations.names[0])
    assert np.array_equal(part.time_s, observations.time_s[[2, 0]])
    assert np.array_equal(part.local_bandwidth_GBps, observations.local_bandwidth_GBps[[2, 0]])


def with_region_times(dataset: Dataset, share: float) -> Dataset:
    """Return a dataset whose runs also tell the time in their regions, ``share`` of the whole."""
    measurements = tuple(
        msgspec.structs.replace(
            m,
            repetitions=tuple(msgspec.structs.replace(r, region_time_s=r.time_s * share) for r in m.repetitions),
        )
        for m in dataset.measurements
    )
    return msgspec.structs.replace(dataset, measurements=measurements)


def test_times_are_those_of_the_regions_where_all_runs_tell_them() -> None:
    whole = planted_dataset(5)
    regions = with_region_times(whole, 0.25)
    assert (observe(whole).clock, observe(regions).clock) == ("process", "regions")
    np.testing.assert_allclose(observe(regions).time_s, observe(whole).time_s * 0.25)
    mixed = msgspec.structs.replace(regions, measurements=(whole.measurements[0], *regions.measurements[1:]))
    assert observe(mixed).clock == "process"
    np.testing.assert_allclose(observe(mixed).time_s, observe(whole).time_s)
