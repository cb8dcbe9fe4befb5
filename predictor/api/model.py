"""A model as an object."""

import os

from numapredict.collect.mapping import AnyMapping
from numapredict.predictor.api.notebook import notebook_table
from numapredict.predictor.api.quiet import called
from numapredict.predictor.learning.model import Model as Record


class Model:
    """What was learned of one machine: clusters of programs, the best mappings of each, and two probes.

    >>> import numapredict
    >>> model = numapredict.Model.load("broadwell-2x10")
    >>> len(model.probes), len(model.clusters) > 1
    (2, True)
    """

    def __init__(self, record: Record) -> None:
        self.record = record

    @classmethod
    def load(cls, name: str | os.PathLike[str]) -> "Model":
        """Return a shipped model by its machine's name, or the one in a file; raises NumapredictError for neither."""
        from numapredict.predictor.learning.model_choice import named_model

        with called(progress=False):
            return cls(named_model(os.fspath(name)).model)

    @property
    def machine(self) -> str:
        """Return the machine's name."""
        return self.record.machine

    @property
    def probes(self) -> tuple[AnyMapping, ...]:
        """Return the two mappings under which a new program is run."""
        return tuple(probe.mapping for probe in self.record.probes)

    @property
    def clusters(self) -> dict[int, tuple[str, ...]]:
        """Return the programs of each cluster, by its number."""
        return {cluster.id: tuple(member.name for member in cluster.members) for cluster in self.record.clusters}

    def best(self, cluster: int) -> AnyMapping:
        """Return the mapping that its members gain most by; raises KeyError for a number of no cluster."""
        found = {each.id: each.ranked[0].mapping for each in self.record.clusters}
        return found[cluster]

    def __repr__(self) -> str:
        return (
            f"<Model of {self.machine}: {len(self.record.programs)} programs in {len(self.record.clusters)} clusters>"
        )

    def _repr_html_(self) -> str:
        """Return the model as a table for a notebook."""
        rows = [("programs", str(len(self.record.programs))), ("probes", ", ".join(map(str, self.probes)))]
        for cluster in self.record.clusters:
            like = f"{len(cluster.members)} programs, as {cluster.centroid}: {cluster.ranked[0].mapping}"
            rows.append((f"cluster {cluster.id}", like))
        return notebook_table(f"model of {self.machine}", rows)
