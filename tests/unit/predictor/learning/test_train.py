import msgspec
import numpy as np
import pytest

from numapredict.collect.mapping import from_label, mapping_named
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning.features import observe
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import default_of, train
from tests.planted import planted_dataset

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
    options = TrainingOptions(default=mapping_named("16x2-contiguous-locality"), scale="log", ranking="pooled")
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


@pytest.mark.parametrize("wrong", [{"n_clusters": 0}, {"max_clusters": 0}, {"rules": ()}, {"feature_kinds": ()}])
def test_options_that_leave_nothing_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="at least"):
        msgspec.convert(wrong, TrainingOptions, dec_hook=from_label)


def test_the_options_default_wins_over_the_datasets_and_that_over_the_machines() -> None:
    asked, told = map(mapping_named, ("16x2-contiguous-locality", "8x1-contiguous-bind"))
    plain = planted_dataset(1)
    dataset = msgspec.structs.replace(plain, default=told)
    assert default_of(dataset, TrainingOptions(default=asked)) == asked
    assert default_of(dataset, TrainingOptions()) == told
    assert default_of(plain, TrainingOptions()) == DEFAULT
