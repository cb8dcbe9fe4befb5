"""Tell whoever wants to know how far a campaign is; plain lines for people (a terminal's bar: `terminal/bars.py`)."""

import time
from collections.abc import Callable
from typing import Protocol, TextIO

import msgspec

from numapredict.collect.measurement import Measurement
from numapredict.collect.terminal.estimated_time import in_words
from numapredict.collect.terminal.printable import counted, name_cell, printable

_LINE_EVERY_S = 10.0


class CampaignProgress(msgspec.Struct, frozen=True):
    """How far a campaign is, in runs; ``left_s`` is None while nothing tells how long a run takes."""

    done: int
    total: int
    failed: int
    left_s: float | None = None


class Observer(Protocol):
    """Whoever wants to know how a campaign goes; none of the calls may raise."""

    def started(self, progress: CampaignProgress) -> None:
        """Take notice that the runs begin, ``progress.done`` of them finished earlier."""
        ...

    def finished(self, measurement: Measurement, progress: CampaignProgress) -> None:
        """Take notice of a run that is now in the journal."""
        ...

    def refused(self, program: str, reason: str) -> None:
        """Take notice that the machine cannot run a program, and that its other runs are left out."""
        ...

    def ended(self) -> None:
        """Take notice that there will be no more runs: all are done, or the campaign was interrupted."""
        ...


class Silence:
    """An observer that says nothing."""

    def started(self, progress: CampaignProgress) -> None:
        """Say nothing."""

    def finished(self, measurement: Measurement, progress: CampaignProgress) -> None:
        """Say nothing."""

    def refused(self, program: str, reason: str) -> None:
        """Say nothing."""

    def ended(self) -> None:
        """Say nothing."""


class PlainLines:
    """A line now and then: at the start and the end, at each failure, and else one in ``every_s`` seconds."""

    def __init__(
        self, stream: TextIO, *, every_s: float = _LINE_EVERY_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream
        self._every_s = every_s
        self._clock = clock
        self._last_s = 0.0

    def started(self, progress: CampaignProgress) -> None:
        """Write how many runs there are."""
        earlier = f", {progress.done} of them finished earlier" if progress.done else ""
        self._write(f"{counted(progress.total, 'run')}{earlier}")

    def finished(self, measurement: Measurement, progress: CampaignProgress) -> None:
        """Write how far it is, if the run failed, was the last, or the last line is long ago."""
        if measurement.status != "ok":
            self._write(failure_in_words(measurement))
        elif progress.done == progress.total or self._clock() - self._last_s >= self._every_s:
            self._write(f"{progress_in_words(progress)}: {run_in_words(measurement)}")

    def refused(self, program: str, reason: str) -> None:
        """Write why a program is left out."""
        self._write(refusal_in_words(program, reason))

    def ended(self) -> None:
        """Write nothing; the last line has said it."""

    def _write(self, text: str) -> None:
        print(text, file=self._stream, flush=True)
        self._last_s = self._clock()


class FailuresOnly(PlainLines):
    """Lines about failures and refusals, and nothing else: what is left when a person wants quiet."""

    def started(self, progress: CampaignProgress) -> None:
        """Write nothing."""

    def finished(self, measurement: Measurement, progress: CampaignProgress) -> None:
        """Write how a run failed."""
        if measurement.status != "ok":
            super().finished(measurement, progress)


def progress_in_words(progress: CampaignProgress) -> str:
    """Return how far it is: ``120 of 2400 runs, 5 %, 3 failed, about 4 min left``."""
    share = 100 * progress.done // max(progress.total, 1)
    words = progress_words(progress)
    return f"{progress.done} of {counted(progress.total, 'run')}, {share} %{', ' * bool(words)}{words}"


def progress_words(progress: CampaignProgress) -> str:
    """Return failures and the time left, as far as there are any: ``3 failed, about 4 min left``."""
    parts = [f"{progress.failed} failed"] if progress.failed else []
    if progress.left_s is not None and progress.done < progress.total:
        parts.append(f"about {in_words(progress.left_s)} left")
    return ", ".join(parts)


def run_in_words(measurement: Measurement) -> str:
    """Return which program ran under which mapping."""
    return f"{name_cell(measurement.program)} {measurement.mapping.label}"


def failure_in_words(measurement: Measurement) -> str:
    """Return how a run failed."""
    return f"{run_in_words(measurement)} {measurement.status}: {printable(measurement.message)}"


def refusal_in_words(program: str, reason: str) -> str:
    """Return why a program is left out."""
    return printable(f"{program} left out: {reason}")
