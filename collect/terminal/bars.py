"""Bars and lines on a terminal that can draw over itself, by rich; loaded only where there is one."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, Progress, ProgressColumn, Task
from rich.table import Column
from rich.text import Text

from numapredict.collect.terminal.estimated_time import in_words
from numapredict.collect.terminal.printable import printable
from numapredict.collect.terminal.progress import Count, Trials
from numapredict.collect.terminal.trials_table import trials_table

NARROW = 70
"""Columns; in fewer a bar would leave no room for the text next to it."""

REDRAWN_HZ = 2.0
"""Low, so that redrawing does not disturb a concurrent measurement."""


class Words(ProgressColumn):
    """The steps done, the time left, and the current activity: in this order, as the end is cut where room is short.

    The time left is the task's latest estimate, or for a bounded one the rest of its seconds.
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
    def count(self, count: Count) -> Iterator[Callable[[], None]]:
        """Show a bar for counted steps; yield the function that redraws it."""
        what = "" if count.own_estimate else printable(count.what)
        with self._shown(transient=not count.own_estimate) as progress:
            task = progress.add_task(what, total=count.total, completed=count.done, words=count.words())
            yield lambda: progress.update(
                task,
                completed=count.done,
                total=count.total,
                words=count.words(),
                description=count.now or what,
            )

    @contextlib.contextmanager
    def wait(self, what: str, most_s: float | None) -> Iterator[None]:
        """Show an activity without counted steps, and what is left of so many seconds."""
        with self._shown(transient=True) as progress:
            task = progress.add_task(what, total=None, words="", most_s=most_s, began_s=time.monotonic())
            try:
                yield
            finally:
                progress.remove_task(task)

    @contextlib.contextmanager
    def trials(self, trials: Trials) -> Iterator[None]:
        """Show runs that are compared in a table, which stays."""
        with Live(
            get_renderable=lambda: trials_table(trials, time.monotonic()),
            console=self.console,
            refresh_per_second=REDRAWN_HZ,
            redirect_stdout=False,
            redirect_stderr=False,
        ) as live:
            trials.changed = live.refresh
            try:
                yield
            finally:
                trials.changed = lambda: None

    @contextlib.contextmanager
    def _shown(self, *, transient: bool) -> Iterator[Progress]:
        """Yield the bars on display, started now where there are none; ``transient`` ones are removed at the end."""
        if self._progress is not None:
            yield self._progress
            return
        room = self.console.width - NARROW  # next to the words
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
        try:
            yield self._progress
        finally:
            self._progress.stop()
            self._progress = None
