"""A dataset as an object: what was measured, as pandas frames."""

import os
from functools import cached_property
from typing import TYPE_CHECKING

from numapredict.collect.data.dataset import Dataset as Record
from numapredict.collect.mapping import AnyMapping, mapping_named
from numapredict.predictor.api.notebook import notebook_table
from numapredict.predictor.api.quiet import called
from numapredict.predictor.learning.datasets import open_dataset, shipped_datasets

if TYPE_CHECKING:
    import pandas as pd

    from numapredict.predictor.learning.features import Observations


class Dataset:
    """The measurements of one machine: programs under mappings, each repeated; ``record`` has all of it.

    >>> import numapredict
    >>> dataset = numapredict.Dataset.load("sandybridge-4x8")
    >>> len(dataset.programs), dataset.modelled
    (128, True)
    >>> gains = dataset.gains()
    >>> bool(gains.loc["stream-copy.medium.parallel", "1x1-contiguous-bind"] < 1)
    True
    """

    def __init__(self, record: Record) -> None:
        self.record = record

    @classmethod
    def load(cls, name: str | os.PathLike[str]) -> "Dataset":
        """Return a shipped dataset by its name, or the one in a folder; raises InvalidInputError for neither."""
        with called(progress=False):
            return cls(open_dataset(os.fspath(name)))

    @staticmethod
    def shipped() -> tuple[str, ...]:
        """Return the names of the shipped datasets."""
        return shipped_datasets()

    @property
    def machine(self) -> str:
        """Return the machine's name."""
        return self.record.machine

    @property
    def modelled(self) -> bool:
        """Return whether the times are those of a described machine's model."""
        return self.record.modelled

    @property
    def programs(self) -> tuple[str, ...]:
        """Return the programs' names."""
        return tuple(program.name for program in self.record.programs)

    @property
    def default(self) -> AnyMapping:
        """Return the mapping that gains are over."""
        from numapredict.predictor.learning.options import TrainingOptions
        from numapredict.predictor.learning.train import default_of

        return default_of(self.record, TrainingOptions())

    @property
    def probes(self) -> tuple[AnyMapping, AnyMapping]:
        """Return the default, and the mapping that is most useful to try in addition: a search's first two runs."""
        from numapredict.predictor.learning.train import second_probe

        column = self._seen.column(self.default)
        return self._seen.mappings[column], self._seen.mappings[second_probe(self._seen, column)]

    def frame(self) -> "pd.DataFrame":
        """Return the measurements as a tidy frame, a row a repetition.

        `machine`, `program`, `mapping` (its label) and the mapping's choices: `threads`, `thread_nodes`,
        `thread_policy`, `page_nodes`, `page_policy`, `threads_per_core`, `thread_l3s`; `status`, `message`,
        `repetition` (from 0); `time_s` and `region_time_s` in seconds, of the whole run and in its parallel regions;
        `local_accesses` and `remote_accesses` in cache lines; `local_bandwidth_GBps` and `remote_bandwidth_GBps` in 1e9
        bytes a second, all four as sums over the nodes; `modelled`; `sampled_share`, 0 to 1 of page touches. What was
        not measured is missing.
        """
        return self.record.frame()

    def gains(self) -> "pd.DataFrame":
        """Return the speedups over the default, programs by mappings' labels: medians of times, 2.0 is twice as fast.

        Programs or mappings with missing or failed measurements are left out, the fewest that leave no hole.
        """
        import numpy as np
        import pandas as pd

        from numapredict.predictor.learning.features import gains_of

        seen = self._seen
        gains = np.exp2(gains_of(seen.time_s, seen.column(self.default)))
        return pd.DataFrame(gains, index=list(seen.names), columns=[mapping.label for mapping in seen.mappings])

    def readings(self, *runs: AnyMapping | str) -> "pd.DataFrame":
        """Return what runs under these mappings tell of each program, the features of ``GainRegressor``.

        The log2 gains over the default, a column a run, by their labels; the runs are those of ``probes`` if none are
        named. Raises InsufficientDataError for mappings that are not of this dataset.
        """
        import numpy as np

        columns = [self._seen.column(_named(run)) for run in runs or self.probes]
        return self.gains().iloc[:, columns].apply(np.log2)

    @property
    def groups(self) -> tuple[str, ...]:
        """Return what each program of ``gains`` and ``readings`` is held out with in a fair comparison."""
        return self._seen.groups

    @cached_property
    def _seen(self) -> "Observations":
        from numapredict.predictor.learning.features import observe

        return observe(self.record, self.default)

    def __len__(self) -> int:
        """Return the number of measurements."""
        return len(self.record.measurements)

    def __repr__(self) -> str:
        return f"<Dataset of {self.machine}: {len(self.programs)} programs, {len(self)} measurements>"

    def _repr_html_(self) -> str:
        """Return the dataset as a table for a notebook."""
        mappings = {measurement.mapping for measurement in self.record.measurements}
        rows = [
            ("programs", str(len(self.programs))),
            ("mappings", str(len(mappings))),
            ("measurements", f"{len(self)}, {'modelled' if self.modelled else 'measured'}"),
            ("created", self.record.created),
        ]
        return notebook_table(f"dataset of {self.machine}", rows)


def _named(mapping: AnyMapping | str) -> AnyMapping:
    return mapping_named(mapping) if isinstance(mapping, str) else mapping
