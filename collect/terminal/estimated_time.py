"""The run times so far, by program, and an estimate of the remaining time from them."""

from collections import defaultdict
from collections.abc import Mapping


class TimeEstimate:
    """The mean time of a program's runs so far; a program without runs gets the mean of all."""

    def __init__(self) -> None:
        self._total_s: defaultdict[str, float] = defaultdict(float)
        self._runs: defaultdict[str, int] = defaultdict(int)

    def add(self, program: str, took_s: float) -> None:
        """Add a finished run that took ``took_s`` seconds."""
        self._total_s[program] += took_s
        self._runs[program] += 1

    def left_s(self, runs: Mapping[str, int]) -> float | None:
        """Return how many seconds so many runs of each program will take in sequence, None before the first run."""
        if not self._runs:
            return None
        average_s = sum(self._total_s.values()) / sum(self._runs.values())
        return sum(
            count * (self._total_s[program] / self._runs[program] if program in self._runs else average_s)
            for program, count in runs.items()
        )


def in_words(seconds: float) -> str:
    """Return a duration in words, rounded: ``45 s``, ``12 min``, ``3 h 20 min``, ``4 days``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{round(minutes / 1440)} days"


def seconds_in_words(time_s: float) -> str:
    """Return a time in a suitable unit."""
    if time_s >= 1:
        return f"{time_s:.2f} s"
    return f"{time_s * 1e3:.2f} ms" if time_s >= 1e-4 else f"{time_s * 1e6:.2f} us"
