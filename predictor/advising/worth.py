"""Whether a further run of a search is worth its time: what it costs, and what it should save in each later run."""

import math

import msgspec

_LEAST_SHARE = 1e-9  # of its cost: a saving below it is none, or the rounding of one


class Worth(msgspec.Struct, frozen=True):
    """What a run costs at most, ``confirming_s`` of it for the runs that confirm its gain, and saves a later run.

    ``confirming_s`` is 0 where another mapping than the baseline is the best so far: it will be confirmed in any case.
    """

    cost_s: float
    confirming_s: float
    saving_s: float

    @property
    def from_runs(self) -> int | None:
        """Return how often the program must run for the savings to reach the cost; None if it never pays."""
        return None if self.saving_s <= _LEAST_SHARE * self.cost_s else math.ceil(self.cost_s / self.saving_s)

    def pays_in(self, runs: int) -> bool:
        """Return whether it pays if the program runs so often."""
        return self.from_runs is not None and self.from_runs <= runs
