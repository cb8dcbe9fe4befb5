"""A dataset as an object: what was measured, as pandas frames."""

import os
from typing import TYPE_CHECKING

from numapredict.collect.data.dataset import Dataset as Record
from numapredict.collect.mapping import AnyMapping, mapping_named
from numapredict.predictor.api.notebook import notebook_table
from numapredict.predictor.learning.datasets import open_dataset, shipped_datasets

if TYPE_CHECKING:
    import pandas as pd


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

    def frame(self) -> "pd.DataFrame":
        """Return all repetitions as a tidy frame, a row each: names and labels, times in seconds, accesses, GB/s."""
        return self.record.frame()

    def gains(self) -> "pd.DataFrame":
        """Return the speedups over the default, programs by mappings' labels: medians of times, 2.0 is twice as fast.

        Programs or mappings with missing or failed measurements are left out, the fewest that leave no hole.
        """
        import numpy as np
        import pandas as pd

        from numapredict.predictor.learning.features import gains_of, observe

        default = self.default
        seen = observe(self.record, default)
        gains = np.exp2(gains_of(seen.time_s, seen.column(default)))
        return pd.DataFrame(gains, index=list(seen.names), columns=[mapping.label for mapping in seen.mappings])

    def readings(self, first: AnyMapping | str | None = None, second: AnyMapping | str | None = None) -> "pd.DataFrame":
        """Return what two probe runs read of each program, the features of ``GainRegressor``: a row a program.

        ``time_ratio`` is log2 of the first probe's time over the second's; ``first`` and ``second`` are log2 of the
        local memory bandwidth in GB/s, without counters the share of local accesses, and missing without either. The
        probes are mappings of this dataset: the default and the mapping with most threads on one node if not given.
        """
        import pandas as pd

        from numapredict.predictor.learning.features import observe
        from numapredict.predictor.learning.probe_search import readings_at

        default = self.default
        seen = observe(self.record, default)
        pair = [seen.column(_named(each)) for each in (first or default, second or _one_node(seen.mappings, default))]
        _, readings, _ = readings_at(seen, (pair[0], pair[1]))
        names = ["time_ratio", "first", "second"][: readings.shape[1]]
        return pd.DataFrame(readings, index=list(seen.names), columns=names)

    @property
    def groups(self) -> tuple[str, ...]:
        """Return what each program of ``gains`` and ``readings`` is held out with in a fair comparison."""
        from numapredict.predictor.learning.features import observe

        return observe(self.record, self.default).groups

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


def _one_node(mappings: tuple[AnyMapping, ...], default: AnyMapping) -> AnyMapping:
    """Return the mapping with most threads on one node, first touch before others."""
    from numapredict.collect.mapping import Mapping

    ours = [m for m in mappings if isinstance(m, Mapping) and m.thread_nodes == 1 and m != default]
    if not ours:
        return next(mapping for mapping in mappings if mapping != default)
    return max(ours, key=lambda m: (m.threads, m.page_nodes == 1, m.page_policy in ("first-touch", "bind")))
