"""What a dataset of codelets has on one program beyond its two probes: explanations are checked against it."""

from numapredict.collect.mapping import AnyMapping, Mapping, applicable
from numapredict.collect.page_policy import FACTS
from numapredict.predictor.learning.features import Observations

SERIAL, PARALLEL = ".serial", ".parallel"
"""Endings of codelet names, by which threads write the data first."""


class GroundTruth:
    """One program's other runs; None: not measured."""

    def __init__(self, observations: Observations, row: int, default: AnyMapping) -> None:
        self._observations, self._row, self._default = observations, row, applicable(default)
        self._time_s = dict(zip(observations.mappings, map(float, observations.time_s[row]), strict=True))
        self._policies = [each for each in observations.mappings if self._only_places_differ(each)]

    @property
    def serial(self) -> bool:
        """Return whether one thread writes the program's data first."""
        return self._observations.names[self._row].endswith(SERIAL)

    @property
    def gain_of_pages(self) -> float:
        """Return the greatest speedup over the default by a page policy, on the same number of threads and nodes."""
        return self._time_s[self._default] / min(self._time_s[each] for each in self._policies)

    @property
    def range_of_pages(self) -> float:
        """Return the factor between the worst and the best page policy, on the same number of threads and nodes."""
        times = [self._time_s[each] for each in self._policies]
        return max(times) / min(times)

    @property
    def most_local(self) -> float | None:
        """Return the greatest share of local accesses by a page policy, on the same number of threads and nodes."""
        shares = self._observations.local_share
        if shares is None:
            return None
        return max(float(shares[self._row, self._observations.column(each)]) for each in self._policies)

    @property
    def half(self) -> float | None:
        """Return the time of half the threads over that of all, on the same number of nodes."""
        speedup = self._speedup(Mapping(self._default.threads // 2, *self._default.choices[1:]))
        return None if speedup is None else 1 / speedup

    @property
    def interleaved(self) -> float | None:
        """Return the speedup over the default by interleaving alone."""
        return self._speedup(self._default.replaced(page_policy="interleave"))

    @property
    def initialised_in_parallel(self) -> float | None:
        """Return the default's speedup over itself for the variant that initialises in parallel; 1 if this one does."""
        names = self._observations.names
        other = names[self._row].removesuffix(SERIAL) + PARALLEL
        if not self.serial:
            return 1.0
        if other not in names:
            return None
        column = self._observations.column(self._default)
        return self._time_s[self._default] / float(self._observations.time_s[names.index(other), column])

    def _speedup(self, mapping: Mapping) -> float | None:
        time_s = self._time_s.get(mapping)
        return None if time_s is None else self._time_s[self._default] / time_s

    def _only_places_differ(self, other: AnyMapping) -> bool:
        """Return whether a mapping has the same number of threads and nodes, and pages on all of them."""
        if not isinstance(other, Mapping):
            return False
        sizes = ((each.threads, each.thread_nodes, each.threads_per_core) for each in (self._default, other))
        same = len(set(sizes)) == 1
        spread = FACTS[other.page_policy].page_nodes != "one node" and other.page_nodes == other.thread_nodes
        return same and spread
