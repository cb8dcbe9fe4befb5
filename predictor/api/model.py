"""A model: what predictions for one machine rest on."""

import os
from dataclasses import dataclass

from numapredict.collect.mapping import AnyMapping
from numapredict.predictor.api.html import table
from numapredict.predictor.api.quiet import called
from numapredict.predictor.learning.model import Model as Record
from numapredict.predictor.learning.model_choice import named_model, shipped_models


@dataclass(frozen=True)
class Model:
    """A model of one machine; ``record`` is all of it, as `numapredict train` writes it.

    >>> model = Model.load("sandybridge-4x8")
    >>> len(model.programs), model.modelled, model.default.label, len(model.probes)
    (128, True, '32x4-contiguous-first-touch', 2)
    """

    record: Record

    @staticmethod
    def shipped() -> tuple[str, ...]:
        """Return the names of the shipped models."""
        return shipped_models()

    @classmethod
    def load(cls, name: str | os.PathLike[str]) -> "Model":
        """Return a shipped model by its name, or the one in a file; NumapredictError for neither."""
        with called(progress=False):
            return cls(named_model(os.fspath(name)).model)

    @property
    def machine(self) -> str:
        """The machine's name."""
        return self.record.machine

    @property
    def modelled(self) -> bool:
        """Whether it was learned from modelled times."""
        return self.record.modelled

    @property
    def default(self) -> AnyMapping:
        """The mapping that speedups are over: what programs get today."""
        return self.record.default

    @property
    def probes(self) -> tuple[AnyMapping, ...]:
        """The mappings that a program runs under before an answer."""
        return tuple(probe.mapping for probe in self.record.probes)

    @property
    def mappings(self) -> tuple[AnyMapping, ...]:
        """The mappings that it can advise."""
        return tuple(ranked.mapping for ranked in self.record.clusters[0].ranked)

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs that it was learned from."""
        return self.record.programs

    def _repr_html_(self) -> str:
        return table(
            f"model of {self.machine}{' (modelled)' if self.modelled else ''}",
            [
                ("programs", f"{len(self.programs)} in {len(self.record.clusters)} clusters"),
                ("mappings", f"{len(self.mappings)}"),
                ("default", f"{self.default}"),
                ("probes", ", ".join(map(str, self.probes))),
            ],
        )
