"""Which evaluation of a file is a model's."""

from pathlib import Path

import msgspec
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import mapping_named, to_label
from numapredict.native.errors import InvalidInputError
from numapredict.predictor.evaluation.evaluate import Evaluation, evaluate_held_out, together
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from numapredict.reports.parts.held_out import held_out_data
from tests.planted import planted_dataset

OPTIONS = TrainingOptions(n_clusters=2)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return planted_dataset(4)


@pytest.fixture(scope="module")
def model(dataset: Dataset) -> Model:
    return train(dataset, OPTIONS)


@pytest.fixture(scope="module")
def evaluation(dataset: Dataset) -> Evaluation:
    return evaluate_held_out(dataset, OPTIONS)


def written(folder: Path, *evaluations: Evaluation) -> Path:
    path = folder / "evaluation.json"
    path.write_bytes(msgspec.json.encode(together(list(evaluations)), enc_hook=to_label))
    return path


OTHERS = {
    "machine": "another",
    "modelled": False,
    "default": mapping_named("32x4-contiguous-locality"),
    "mappings": 7,
    "options": TrainingOptions(n_clusters=3),
}


@pytest.mark.parametrize("field", list(OTHERS))
def test_an_evaluation_that_differs_in_one_of_these_is_not_the_models(
    tmp_path: Path, model: Model, evaluation: Evaluation, field: str
) -> None:
    other = msgspec.structs.replace(evaluation, **{field: OTHERS[field]})
    with pytest.raises(InvalidInputError, match=f"not of {model.machine} over {model.default}"):
        held_out_data(written(tmp_path, other), model)
    assert held_out_data(written(tmp_path, other, evaluation), model).evaluation == evaluation
