import msgspec
import numpy as np
import pytest

from numapredict.collect.mapping import mapping_named
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.evaluation.thesis import centroid_columns, feature_rows
from numapredict.predictor.learning.clustering import cut, ward_linkage
from numapredict.predictor.learning.features import gains_of, observe
from numapredict.predictor.learning.options import CLUSTERS, THESIS, TrainingOptions
from numapredict.predictor.learning.train import default_of, measured_probes, reference_probes, train
from numapredict.predictor.searching.known_gains import known_gains
from numapredict.predictor.searching.next_run import next_run
from tests.planted import four_by_eight, planted_dataset

DEFAULT = mapping_named("32x4-contiguous-first-touch")


def test_a_model_knows_its_machine_and_default() -> None:
    dataset = planted_dataset(10)
    model = train(dataset)
    assert (model.machine, model.modelled, model.default) == ("planted-4x8", True, DEFAULT)
    assert model.topology.fingerprint == dataset.topology.fingerprint
    assert model.topology.text == "4 nodes with 32 cores"
    assert model.dataset_created == dataset.created


def test_a_cluster_ranks_mappings_by_its_centroid() -> None:
    dataset = planted_dataset(15)
    observations = observe(dataset)
    for cluster in train(dataset).clusters:
        centroid = observations.time_s[observations.names.index(cluster.centroid)]
        ranked = [centroid[observations.column(r.mapping)] for r in cluster.ranked]
        assert ranked == sorted(centroid)


def test_expected_speedups_are_median_and_range_over_the_members() -> None:
    dataset = planted_dataset(15)
    observations = observe(dataset)
    default = observations.column(DEFAULT)
    for cluster in train(dataset).clusters:
        rows = [observations.names.index(member.name) for member in cluster.members]
        for ranked in cluster.ranked:
            column = observations.column(ranked.mapping)
            speedups = observations.time_s[rows, default] / observations.time_s[rows, column]
            expected = ranked.expected_speedup
            assert (expected.median, expected.low, expected.high) == pytest.approx(
                (np.median(speedups), speedups.min(), speedups.max())
            )


def test_kinds_end_in_clusters_of_their_own() -> None:
    model = train(planted_dataset(15), TrainingOptions(n_clusters=5))
    kinds = [{member.name.rsplit("-", 1)[0] for member in cluster.members} for cluster in model.clusters]
    assert all(len(kind) == 1 for kind in kinds)
    assert len(model.clusters) == 5


def test_members_know_their_own_best() -> None:
    dataset = planted_dataset(5)
    observations = observe(dataset)
    for member in (member for cluster in train(dataset).clusters for member in cluster.members):
        row = observations.time_s[observations.names.index(member.name)]
        assert member.best == observations.mappings[int(row.argmin())]
        assert member.best_speedup == pytest.approx(row[observations.column(DEFAULT)] / row.min())
        assert member.summary.startswith("made up")


def test_options_and_what_was_dropped_are_kept() -> None:
    dataset = planted_dataset(6)
    gone = dataset.programs[0].name
    dataset = msgspec.structs.replace(
        dataset,
        measurements=tuple(m for m in dataset.measurements if m.program != gone or m.mapping.threads == 8),
    )
    options = TrainingOptions(default=mapping_named("16x2-contiguous-locality"), n_clusters=2)
    model = train(dataset, options)
    assert model.options == options
    assert model.default == options.default
    assert model.dropped_programs == (gone,)
    assert gone not in model.programs


def test_training_is_reproducible() -> None:
    assert train(planted_dataset(8)) == train(planted_dataset(8))


def test_a_default_that_was_not_measured_is_named() -> None:
    with pytest.raises(InsufficientDataError, match="4x4-scatter-mix"):
        train(planted_dataset(3), TrainingOptions(default=mapping_named("4x4-scatter-mix")))


def test_options_that_leave_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="at least"):
        TrainingOptions(n_clusters=0)


def test_the_probes_are_the_first_two_runs_of_a_search() -> None:
    dataset = planted_dataset(15)
    observations = observe(dataset, DEFAULT)
    default = observations.column(DEFAULT)
    known = known_gains(gains_of(observations.time_s, default), observations.groups)
    found = next_run(known, [default], [0.0])
    assert found is not None
    assert [probe.mapping for probe in train(dataset).probes] == [DEFAULT, observations.mappings[found.column]]


def test_the_thesis_clusters_its_two_readings_and_its_centroid_chooses() -> None:
    """As in fig. 29: what the probes read, each divided by the largest, is what Ward's method clusters."""
    dataset = planted_dataset(15)
    observations = observe(dataset, DEFAULT)
    model = train(dataset, THESIS)
    probes = measured_probes(observations, dataset.topology)
    assert probes is not None
    assert [probe.mapping for probe in model.probes] == [observations.mappings[column] for column in probes]
    rows = feature_rows("two_probes", observations, 0, probes)
    labels = cut(ward_linkage(rows), CLUSTERS)
    chosen = centroid_columns(observations.time_s, rows, labels)
    for cluster in model.clusters:
        (number,) = {int(labels[observations.names.index(member.name)]) for member in cluster.members}
        assert cluster.ranked[0].mapping == observations.mappings[int(chosen[number])]


def test_without_the_thesis_s_probes_it_reads_a_search_s() -> None:
    dataset = planted_dataset(5)
    kept = tuple(m for m in dataset.measurements if m.mapping.label != "16x4-contiguous-balance")
    fewer = msgspec.structs.replace(dataset, measurements=kept)
    assert measured_probes(observe(fewer), dataset.topology) is None
    assert measured_probes(observe(dataset), None) is None
    assert train(fewer, THESIS).probes[0].mapping == DEFAULT
    assert [str(each) for each in reference_probes(four_by_eight())] == [
        "16x4-contiguous-balance",
        "16x2-contiguous-locality",
    ]


def test_the_options_default_wins_over_the_datasets_and_that_over_the_machines() -> None:
    asked, told = map(mapping_named, ("16x2-contiguous-locality", "8x1-contiguous-bind"))
    plain = planted_dataset(1)
    dataset = msgspec.structs.replace(plain, default=told)
    assert default_of(dataset, TrainingOptions(default=asked)) == asked
    assert default_of(dataset, TrainingOptions()) == told
    assert default_of(plain, TrainingOptions()) == DEFAULT
