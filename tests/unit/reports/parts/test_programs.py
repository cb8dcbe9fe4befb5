from collections import Counter

import pytest

from numapredict.collect.mapping import mapping_named
from numapredict.predictor.learning.features import observe
from numapredict.reports.parts.distribution import distribution_data
from numapredict.reports.parts.programs import programs_data
from numapredict.reports.program_order import order_programs
from tests.planted import planted_dataset

DEFAULT = mapping_named("32x4-contiguous-first-touch")
OTHER = mapping_named("16x2-contiguous-locality")


def test_each_row_has_the_best_mapping_and_what_the_probes_read() -> None:
    dataset = planted_dataset(10)
    observations = observe(dataset, DEFAULT)
    order = order_programs(observations, observations.column(DEFAULT))
    probes = (DEFAULT, OTHER, mapping_named("1x1-contiguous-mix"))
    data = programs_data(observations, observations.column(DEFAULT), order, probes)
    assert data.probes == (DEFAULT.label, OTHER.label), "what was not measured is left out"
    assert [row.place for row in data.rows] == list(range(10))
    for row in data.rows:
        runs = {m.mapping.label: m for m in dataset.measurements if m.program == row.name}
        best = min(runs.values(), key=lambda m: m.time_s)
        assert (row.best, row.best_s, row.default_s) == (best.mapping.label, best.time_s, runs[DEFAULT.label].time_s)
        assert row.speedup == runs[DEFAULT.label].time_s / best.time_s
        for probe, label in zip(row.probes, data.probes, strict=True):
            counters = runs[label].counters
            assert counters is not None
            assert (probe.time_s, probe.local_bandwidth_GBps) == (runs[label].time_s, counters.local_bandwidth_GBps)


def test_without_counters_the_probes_have_times_alone() -> None:
    observations = observe(planted_dataset(5, counters=False), DEFAULT)
    order = order_programs(observations, observations.column(DEFAULT))
    data = programs_data(observations, observations.column(DEFAULT), order, (OTHER,))
    assert {row.probes[0].local_bandwidth_GBps for row in data.rows} == {None}


def test_the_distribution_counts_every_program_once() -> None:
    observations = observe(planted_dataset(20), DEFAULT)
    column = observations.column(DEFAULT)
    data = distribution_data(observations, column)
    assert sum(each.best for each in data.bins) == sum(each.fixed for each in data.bins) == 20
    gains = observations.time_s[:, [column]] / observations.time_s
    for each in data.bins:
        assert each.best == sum(each.low * (1 - 1e-9) <= gain < each.high * (1 - 1e-9) for gain in gains.max(axis=1))
    fixed = gains[:, observations.column(mapping_named(data.fixed))].prod()
    assert fixed == gains.prod(axis=0).max()
    fastest = Counter(observations.mappings[column].label for column in observations.time_s.argmin(axis=1))
    assert {each.label: each.programs for each in data.favourites} == dict(fastest.most_common(8))
    counts = [each.programs for each in data.favourites]
    assert counts == sorted(counts, reverse=True)
    assert data.mappings == len(fastest) > 1
    assert data.best_speedup == pytest.approx(gains.max(axis=1).prod() ** (1 / 20))
    assert data.fixed_speedup == pytest.approx(fixed ** (1 / 20))


def test_no_gain_at_all_is_not_below_one() -> None:
    observations = observe(planted_dataset(6), DEFAULT)
    data = distribution_data(observations.columns([observations.column(DEFAULT)]), 0)
    assert [(each.low, each.best, each.fixed) for each in data.bins] == [(1.0, 6, 6)]
