"""The progress of a campaign in runs, and in words: what ran, what failed, what the machine refused."""

from numapredict.collect.measurement import Measurement
from numapredict.collect.terminal.printable import counted, name_cell, printable
from numapredict.collect.terminal.progress import Count


class RunCount(Count):
    """The runs of a campaign, ``done`` of them finished earlier; the campaign says how long the others will take."""

    own_estimate = True

    def __init__(self, total: int, done: int, failed: int) -> None:
        super().__init__(total, "runs", done)
        self.failed = failed

    def opening(self) -> str:
        """Return how many runs there are: ``5 runs, 2 of them finished earlier``."""
        return f"{counted(self.total, 'run')}{f', {self.done} of them finished earlier' if self.done else ''}"

    def line(self) -> str:
        """Return the progress: ``120 of 2400 runs, 5 %, 3 failed, about 4 min left: heat 8x2-scatter-interleave``."""
        words = self.words()
        share = 100 * self.done // max(self.total, 1)
        return f"{self.done} of {counted(self.total, 'run')}, {share} %{', ' * bool(words)}{words}: {self.now}"

    def words(self) -> str:
        """Return failures and the time left, where there are any: ``3 failed, about 4 min left``."""
        return ", ".join(filter(None, (f"{self.failed} failed" if self.failed else "", super().words())))


def run_in_words(measurement: Measurement) -> str:
    """Return which program ran under which mapping."""
    return f"{name_cell(measurement.program)} {measurement.mapping.label}"


def failure_in_words(measurement: Measurement) -> str:
    """Return how a run failed."""
    return f"{run_in_words(measurement)} {measurement.status}: {printable(measurement.message)}"
