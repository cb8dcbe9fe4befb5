"""Bars and lines on a terminal that can draw over itself, by rich; loaded only where there is one."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID
from rich.table import Column
from rich.text import Text

from numapredict.collect.measurement import Measurement
from numapredict.collect.terminal.estimated_time import in_words
from numapredict.collect.terminal.progress import (
    CampaignProgress,
    failure_in_words,
    progress_words,
    refusal_in_words,
    run_in_words,
)

NARROW = 70
"""Columns; in fewer a bar would leave no room for the words beside it."""

REDRAWN_HZ = 2.0
"""Seldom: what is measured meanwhile shall not be disturbed."""


class Words(ProgressColumn):
    """How many steps are done, the time left, and what goes on: in this order, for the end is cut where room lacks.

    The time left is what the task was told last, or for a bounded one what remains of its seconds.
    """

    max_refresh = 1 / REDRAWN_HZ

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True, overflow="ellipsis"))

    def render(self, task: Task) -> Text:
        """Return the words."""
        most_s = task.fields.get("most_s")
        words = task.fields.get("words", "")
        if most_s is not None:
            words = f"at most {in_words(max(most_s - (time.monotonic() - task.fields['began_s']), 0.0))} left"
        counted = "" if task.total is None else f"{task.completed:.0f}/{task.total:.0f}"
        text = Text(" ".join(filter(None, (counted, words))))
        return text.append(f"{' ' if text else ''}{task.description}", "dim") if task.description else text


class Bars:
    """The console of one terminal, and at most one display of bars on it at a time."""

    def __init__(self, stream: TextIO, environment: Mapping[str, str], *, coloured: bool) -> None:
        # Without markup and emoji: a program's name may contain brackets and colons.
        self.console = Console(
            file=stream,
            color_system="standard" if coloured else None,
            highlight=False,
            markup=False,
            emoji=False,
            _environ=environment,
        )
        self._progress: Progress | None = None

    def write(self, text: str, style: str = "", *, broken: bool = True) -> None:
        """Write a line, above the bars where there are some, broken between words unless the terminal is to do it."""
        self.console.print(Text(text, style=style), soft_wrap=not broken)

    @contextlib.contextmanager
    def steps(self, total: int, what: str) -> Iterator[Callable[[int, str], None]]:
        """Show a bar for counted steps; yield what moves it to a number of them and the time left."""
        with self._shown(transient=True) as progress:
            task = progress.add_task(what, total=total, words="")
            yield lambda done, words: progress.update(task, completed=done, total=max(total, done), words=words)

    @contextlib.contextmanager
    def activity(self, what: str) -> Iterator[None]:
        """Show that something goes on whose steps nobody counts."""
        with self._shown(transient=True) as progress:
            task = progress.add_task(what, total=None, words="")
            try:
                yield
            finally:
                progress.remove_task(task)

    @contextlib.contextmanager
    def countdown(self, most_s: float) -> Iterator[None]:
        """Show what is left of so many seconds."""
        with self._shown(transient=True) as progress:
            task = progress.add_task("", total=None, most_s=most_s, began_s=time.monotonic())
            try:
                yield
            finally:
                progress.remove_task(task)

    def campaign(self) -> "CampaignBar":
        """Return a bar for a campaign."""
        return CampaignBar(self)

    @contextlib.contextmanager
    def _shown(self, *, transient: bool) -> Iterator[Progress]:
        """Yield the bars that are shown, shown now where none are."""
        if self._progress is not None:
            yield self._progress
            return
        self._progress = self.started(transient=transient)
        try:
            yield self._progress
        finally:
            self.stopped()

    def started(self, *, transient: bool) -> Progress:
        """Return bars that are on the terminal until ``stopped``."""
        room = self.console.width - NARROW  # beside the words
        columns: list[ProgressColumn] = [BarColumn(min(max(room, 10), 40))] if room > 0 else []
        self._progress = Progress(
            *columns,
            Words(),
            console=self.console,
            transient=transient,
            refresh_per_second=REDRAWN_HZ,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._progress.start()
        return self._progress

    def stopped(self) -> None:
        """Take the bars away, or leave them as they stand, as they were started."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


class CampaignBar:
    """An observer of campaigns: a bar with the time left, the running program, and failures above it."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def started(self, progress: CampaignProgress) -> None:
        """Show the bar."""
        self._progress = self._bars.started(transient=False)
        self._task = self._progress.add_task(
            "", total=progress.total, completed=progress.done, words=progress_words(progress)
        )

    def finished(self, measurement: Measurement, progress: CampaignProgress) -> None:
        """Move the bar, and print a failure above it."""
        if self._progress is None or self._task is None:
            return
        if measurement.status != "ok":
            self._bars.write(failure_in_words(measurement), "yellow")
        self._progress.update(
            self._task,
            completed=progress.done,
            words=progress_words(progress),
            description=run_in_words(measurement),
        )

    def refused(self, program: str, reason: str) -> None:
        """Print above the bar why a program is left out."""
        if self._progress is not None:
            self._bars.write(refusal_in_words(program, reason), "yellow")

    def ended(self) -> None:
        """Leave the bar as it stands."""
        if self._progress is not None:
            self._bars.stopped()
            self._progress = None
