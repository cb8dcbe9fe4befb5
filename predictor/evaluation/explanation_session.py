"""Check explanations on datasets by name, each with its machine's model and controller bandwidths, if known."""

from collections.abc import Sequence

from numapredict.collect.modelled.description import load_description, machine_names
from numapredict.native.errors import InsufficientDataError, NoModelError
from numapredict.predictor.evaluation.explanation_check import RuleScore, check_explanations
from numapredict.predictor.learning.datasets import open_datasets
from numapredict.predictor.learning.model_choice import choose_model


def check_datasets(names: Sequence[str]) -> tuple[RuleScore, ...]:
    """Return the rules' scores on each dataset, in the order of the names; NoModelError where there is no model."""
    found: list[RuleScore] = []
    wanted = tuple(dict.fromkeys(names))
    for name, dataset in zip(wanted, open_datasets(wanted), strict=True):
        if dataset.topology is None:
            raise InsufficientDataError(f"dataset of {dataset.machine}: its machine is not described, nor its mappings")
        chosen = choose_model(dataset.machine, dataset.topology)
        if chosen is None:
            raise NoModelError(f"there is no model for {dataset.machine}: numapredict train --dataset {name} makes one")
        described = dataset.modelled and dataset.machine in machine_names()
        controllers = load_description(dataset.machine).controller_read_GBps if described else ()
        found += check_explanations(dataset, chosen.model, controllers)
    return tuple(found)
