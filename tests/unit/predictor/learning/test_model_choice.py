from pathlib import Path

import pytest

from numapredict.collect.modelled.description import load_description
from numapredict.native.errors import NoModelError
from numapredict.predictor.learning.model_choice import (
    choose_model,
    trained_model_path,
)
from numapredict.predictor.learning.store import write_model
from numapredict.predictor.learning.train import train
from tests.planted import four_by_eight, planted_dataset


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path))
    return tmp_path


def test_the_machine_that_ships_with_a_model_gets_it() -> None:
    description = load_description("sandybridge-4x8")
    chosen = choose_model(description.name, description.topology)
    assert chosen is not None
    assert chosen.model.machine == "sandybridge-4x8"
    assert chosen.model.topology.fingerprint == description.topology.fingerprint
    assert "shipped" in chosen.origin


def test_the_model_trained_here_goes_first() -> None:
    topology = four_by_eight()
    assert choose_model("a computer", topology) is None
    path = trained_model_path("a computer", topology)
    path.parent.mkdir(parents=True)
    write_model(train(planted_dataset(15)), path)
    chosen = choose_model("a computer", topology)
    assert chosen is not None
    assert chosen.origin == "the model trained here"


def test_a_name_that_is_no_model_is_said() -> None:
    with pytest.raises(NoModelError, match=r"unknown model 'nosuch'.*sandybridge-4x8"):
        choose_model("any", four_by_eight(), "nosuch")


def test_names_of_machines_make_no_other_folders(data: Path) -> None:
    path = trained_model_path("../../etc/AMD EPYC 7543", four_by_eight())
    assert path.parent == data / "models"
    assert path.name.startswith("-..-etc-AMD-EPYC-7543-")
