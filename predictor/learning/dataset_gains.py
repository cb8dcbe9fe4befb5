"""From a dataset to what its programs gained, as searches know it."""

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping
from numapredict.native.errors import NoModelError
from numapredict.predictor.learning.features import Observations, gains_of, observe
from numapredict.predictor.searching.gains_file import MachineGains, numbers_of


def machine_gains(dataset: Dataset, default: AnyMapping, observations: Observations | None = None) -> MachineGains:
    """Return the gains of a dataset's programs over its default; NoModelError where its mappings are foreign.

    ``observations``: what ``observe`` gives for both, where that was asked already.
    """
    if dataset.topology is None:
        raise NoModelError(f"the dataset of {dataset.machine} has foreign mappings, which no search can run")
    observations = observations or observe(dataset, default)
    return MachineGains(
        machine=dataset.machine,
        modelled=dataset.modelled,
        topology=dataset.topology,
        default=default.label,
        mappings=tuple(mapping.label for mapping in observations.mappings),
        groups=observations.groups,
        numbers=numbers_of(gains_of(observations.time_s, observations.column(default))),
    )
