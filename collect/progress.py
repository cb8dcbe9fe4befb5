"""Tell a person how far a campaign is: a bar on a terminal, plain lines anywhere else."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TextIO

import msgspec

from numapredict.collect.measurement import Measurement
from numapredict.collect.pace import in_words

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_LINE_EVERY_S = 10.0


class Standing(msgspec.Struct, frozen=True):
    """How far a campaign is, in runs; ``left_s`` is None while nothing tells how long a run takes."""

    done: int
    total: int
    failed: int
    left_s: float | None = None


class Observer(Protocol):
    """Whoever wants to know how a campaign goes; none of the calls may raise."""

    def started(self, standing: Standing) -> None:
        """Take notice that the runs begin, ``standing.done`` of them finished earlier."""
        ...

    def finished(self, measurement: Measurement, standing: Standing) -> None:
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

    def started(self, standing: Standing) -> None:
        """Say nothing."""

    def finished(self, measurement: Measurement, standing: Standing) -> None:
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

    def started(self, standing: Standing) -> None:
        """Write how many runs there are."""
        earlier = f", {standing.done} of them finished earlier" if standing.done else ""
        self._write(f"{standing.total} runs{earlier}")

    def finished(self, measurement: Measurement, standing: Standing) -> None:
        """Write how far it is, if the run failed, was the last, or the last line is long ago."""
        if measurement.status != "ok":
            self._write(f"{_run(measurement)} {measurement.status}: {measurement.message}")
        elif standing.done == standing.total or self._clock() - self._last_s >= self._every_s:
            self._write(f"{standing_in_words(standing)}: {_run(measurement)}")

    def refused(self, program: str, reason: str) -> None:
        """Write why a program is left out."""
        self._write(f"{program} left out: {reason}")

    def ended(self) -> None:
        """Write nothing; the last line has said it."""

    def _write(self, text: str) -> None:
        print(text, file=self._stream, flush=True)
        self._last_s = self._clock()


class Bar:
    """A progress bar with the time left, the running program, and failures above it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def started(self, standing: Standing) -> None:
        """Show the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        # Without markup: a program's name may contain brackets.
        self._progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[words]}", markup=False),
            TextColumn("{task.description}", markup=False, style="dim"),
            console=Console(file=self._stream, highlight=False, markup=False, emoji=False),
        )
        self._progress.start()
        self._task = self._progress.add_task("", total=standing.total, completed=standing.done, words=_words(standing))

    def finished(self, measurement: Measurement, standing: Standing) -> None:
        """Move the bar, and print a failure above it."""
        if self._progress is None or self._task is None:
            return
        if measurement.status != "ok":
            self._progress.console.print(f"{_run(measurement)} {measurement.status}: {measurement.message}")
        self._progress.update(
            self._task, completed=standing.done, words=_words(standing), description=_run(measurement)
        )

    def refused(self, program: str, reason: str) -> None:
        """Print above the bar why a program is left out."""
        if self._progress is not None:
            self._progress.console.print(f"{program} left out: {reason}")

    def ended(self) -> None:
        """Leave the bar as it stands."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


def observer_for(stream: TextIO) -> Observer:
    """Return the bar if the stream is a terminal, plain lines otherwise."""
    return Bar(stream) if stream.isatty() else PlainLines(stream)


def standing_in_words(standing: Standing) -> str:
    """Return how far it is: ``120 of 2400 runs, 5 %, 3 failed, about 4 min left``."""
    share = 100 * standing.done // max(standing.total, 1)
    return f"{standing.done} of {standing.total} runs, {share} %{', ' * bool(_words(standing))}{_words(standing)}"


def _words(standing: Standing) -> str:
    parts = [f"{standing.failed} failed"] if standing.failed else []
    if standing.left_s is not None and standing.done < standing.total:
        parts.append(f"about {in_words(standing.left_s)} left")
    return ", ".join(parts)


def _run(measurement: Measurement) -> str:
    return f"{measurement.program} {measurement.mapping.label}"
