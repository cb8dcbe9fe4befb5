from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.data.dataset import write_dataset
from numapredict.collect.topology import Topology
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning.learning import options_of
from numapredict.predictor.learning.model_choice import ChosenModel, trained_model_path
from numapredict.predictor.learning.train import train
from numapredict.predictor.learning.training_dataset import by_thesis, dataset_of
from tests.planted import planted_dataset


@dataclass
class Trained:
    """A model as `numapredict train` keeps it beside its dataset, in a data folder of its own."""

    chosen: ChosenModel
    topology: Topology


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trained:
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path))
    dataset = planted_dataset(12)
    assert dataset.topology is not None
    write_dataset(dataset, tmp_path / "datasets" / trained_model_path("planted-4x8", dataset.topology).stem)
    return Trained(
        ChosenModel(train(dataset, options_of(None, None, dataset)), "the model trained here"), dataset.topology
    )


def test_the_thesis_gives_each_cluster_the_best_mapping_of_its_centroid(trained: Trained) -> None:
    model = by_thesis(trained.chosen, trained.topology).model
    assert (trained.chosen.model.options.method, model.options.method) == ("search", "thesis")
    assert [probe.mapping.label for probe in model.probes] == ["16x4-contiguous-balance", "16x2-contiguous-locality"]
    assert model.scales.kind == "thesis"
    assert model.default == trained.chosen.model.default
    for cluster in model.clusters:
        (centroid,) = (member for member in cluster.members if member.name == cluster.centroid)
        assert cluster.ranked[0].mapping == centroid.best


def test_a_model_of_the_thesis_stays_itself(trained: Trained) -> None:
    first = by_thesis(trained.chosen, trained.topology)
    assert by_thesis(first, trained.topology) is first


def test_another_campaigns_dataset_is_not_the_models(trained: Trained) -> None:
    model = msgspec.structs.replace(trained.chosen.model, dataset_created="2020-01-01T00:00:00+00:00")
    with pytest.raises(InsufficientDataError, match="is not here"):
        dataset_of(model, trained.topology)
    with pytest.raises(InsufficientDataError, match="is not here"):
        by_thesis(ChosenModel(model, "the model trained here"), trained.topology)
