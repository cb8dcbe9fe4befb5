"""A dataset with planted gains, a model trained on it, and advice by that."""

import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from tests.advised import advised_on
from tests.planted import planted_dataset

OPTIONS = TrainingOptions(n_clusters=5)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return planted_dataset(15)


@pytest.fixture(scope="module")
def model(dataset: Dataset) -> Model:
    return train(dataset, OPTIONS)


@pytest.fixture(scope="module")
def advice(dataset: Dataset, model: Model) -> Advice:
    return advised_on(dataset, dataset.programs[1], model)
