"""A dataset: what programs took under many mappings of one machine, as pandas frames."""

import os
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from numapredict.collect.data.dataset import Dataset as Record
from numapredict.collect.mapping import AnyMapping, order_of
from numapredict.predictor.api.html import table
from numapredict.predictor.api.quiet import called
from numapredict.predictor.learning.datasets import open_dataset, shipped_datasets


class TrainingTable(NamedTuple):
    """Programs as rows: ``readings`` of two probe runs, and ``gains`` under every mapping, for `GainRegressor`.

    ``readings``: `time_ratio`, log2 of the first probe's time over the second's; where counters were read,
    `local_bandwidth_1` and `local_bandwidth_2`, log2 of 1e9 bytes a second from the threads' own nodes; where accesses
    were sampled instead, `local_share_1` and `local_share_2`, 0 to 1 of them local.
    ``gains``: a column a mapping, by label; log2 of the time under ``default`` over that under the mapping.
    ``groups``: the code that each program is a variant of, for folds. ``probes`` are the two labels.
    """

    readings: pd.DataFrame
    gains: pd.DataFrame
    groups: tuple[str, ...]
    probes: tuple[str, str]
    default: str


@dataclass(frozen=True)
class Dataset:
    """Measurements of programs under mappings on one machine; ``record`` is all of it.

    >>> dataset = Dataset.load("broadwell-2x10")
    >>> dataset.machine, dataset.modelled, len(dataset.programs), len(dataset.mappings)
    ('broadwell-2x10', True, 128, 101)
    """

    record: Record

    @staticmethod
    def shipped() -> tuple[str, ...]:
        """Return the names of the shipped datasets.

        >>> "lpdquad" in Dataset.shipped()
        True
        """
        return shipped_datasets()

    @classmethod
    def load(cls, name: str | os.PathLike[str]) -> "Dataset":
        """Return a shipped dataset by its name, or the one in a folder; NumapredictError for neither."""
        with called(progress=False):
            return cls(open_dataset(os.fspath(name)))

    @property
    def machine(self) -> str:
        """The machine's name."""
        return self.record.machine

    @property
    def modelled(self) -> bool:
        """Whether its times are modelled."""
        return self.record.modelled

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs' names."""
        return tuple(program.name for program in self.record.programs)

    @property
    def mappings(self) -> tuple[AnyMapping, ...]:
        """The mappings that programs ran under, by their choices; those of an imported dataset may be labels alone."""
        return tuple(sorted({measurement.mapping for measurement in self.record.measurements}, key=order_of))

    def frame(self) -> pd.DataFrame:
        """Return the measurements as a tidy frame, one row a repetition.

        `machine`, `program`, `mapping` (its label) and the mapping's choices: `threads`, `thread_nodes`,
        `thread_policy`, `page_nodes`, `page_policy`, `threads_per_core`; `status`, `message`, `repetition` (from 0);
        `time_s` and `region_time_s` in seconds, of the whole run and in its parallel regions; `local_accesses` and
        `remote_accesses` in cache lines; `local_bandwidth_GBps` and `remote_bandwidth_GBps` in 1e9 bytes a second,
        all four as sums over the nodes; `modelled`; `sampled_share`, 0 to 1 of page touches. What was not measured is
        missing.

        >>> frame = Dataset.load("broadwell-2x10").frame()
        >>> bool((frame.time_s > 0).all())
        True
        """
        return self.record.frame()

    def training_table(self) -> TrainingTable:
        """Return readings and gains to learn from; the probes are those that `numapredict train` would choose first.

        >>> Dataset.load("broadwell-2x10").training_table().gains.shape
        (128, 101)
        """
        from numapredict.predictor.learning.features import gains_of, observe
        from numapredict.predictor.learning.options import TrainingOptions
        from numapredict.predictor.learning.probe_search import readings_at, search_probes
        from numapredict.predictor.learning.train import default_of

        default = default_of(self.record, TrainingOptions())
        seen = observe(self.record, default)
        column = seen.column(default)
        pair = search_probes(seen, column, ())
        _, readings, _ = readings_at(seen, (pair.first, pair.second))
        extra = "local_share" if seen.reads[0] == "share" else "local_bandwidth"
        names = ["time_ratio", f"{extra}_1", f"{extra}_2"][: readings.shape[1]]
        rows = pd.Index(seen.names, name="program")
        return TrainingTable(
            pd.DataFrame(readings, index=rows, columns=names),
            pd.DataFrame(gains_of(seen.time_s, column), index=rows, columns=[each.label for each in seen.mappings]),
            seen.groups,
            (seen.mappings[pair.first].label, seen.mappings[pair.second].label),
            default.label,
        )

    def _repr_html_(self) -> str:
        found = self.record
        return table(
            f"dataset of {found.machine}{' (modelled)' if found.modelled else ''}",
            [
                ("programs", f"{len(found.programs)}"),
                ("mappings", f"{len(self.mappings)}"),
                ("measurements", f"{len(found.measurements)}"),
                ("created", found.created),
            ],
            ("made by", found.made_by),
        )
