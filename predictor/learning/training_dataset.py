"""Finds the dataset that a model was learned from, and learns from it in the thesis's way."""

from pathlib import Path

from numapredict.collect.data.dataset import DESCRIPTION_FILE, Dataset
from numapredict.collect.topology import Topology
from numapredict.native.errors import InsufficientDataError, InvalidInputError
from numapredict.predictor.learning.datasets import open_dataset, shipped_datasets
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.model_choice import ChosenModel, data_folder, trained_model_path
from numapredict.predictor.learning.options import THESIS


def dataset_of(model: Model, topology: Topology) -> Dataset:
    """Return the dataset that a model was learned from, by its name or folder and creation time.

    InsufficientDataError if it is not here.
    """
    places = [model.machine] if model.machine in shipped_datasets() else []
    own = data_folder() / "datasets" / trained_model_path(model.machine, topology).stem
    places += [str(own)] if (Path(own) / DESCRIPTION_FILE).is_file() else []
    for place in places:
        try:
            found = open_dataset(place)
        except InvalidInputError:
            continue
        if found.created == model.dataset_created:
            return found
    raise InsufficientDataError(f"the dataset that the model of {model.machine} was learned from is not here")


def by_thesis(chosen: ChosenModel, topology: Topology) -> ChosenModel:
    """Return a model of the same dataset by which a program gets the best mapping of its cluster's centroid.

    InsufficientDataError if the dataset is not here.
    """
    model = chosen.model
    if model.options.method == "thesis":
        return chosen
    dataset = dataset_of(model, topology)
    from numapredict.predictor.learning.train import train  # SciPy's clusters take time to load, and are rarely needed

    made = train(dataset, THESIS.with_default(model.default))
    return ChosenModel(made, f"the thesis's method on the dataset of {chosen.origin}")
