"""Progress: counted steps, and waits. As with logging, the code that counts is independent of any display.

A command sets a display; without one, and in other threads and processes, nothing is shown.
"""

import contextlib
import logging
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextvars import ContextVar
from typing import Protocol, TypeVar

from numapredict.collect.terminal.estimated_time import in_words

T = TypeVar("T")


class Count:
    """Counted steps: ``done`` of ``total``, called ``what`` in the plural; ``show`` is called after each.

    ``left_s`` is how long the others will take, None while unknown. A display estimates it from the steps so far and
    removes its bar at the end, unless ``own_estimate`` is true: then the count gives ``left_s`` and its bar stays.
    Steps beyond ``total``, such as repetitions that a stopping rule adds, raise it.
    """

    own_estimate = False

    def __init__(self, total: int, what: str, done: int = 0) -> None:
        self.total = total
        self.what = what
        self.done = done
        self.now = ""
        self.failed_last = False
        self.left_s: float | None = None
        self.show: Callable[[], None] = lambda: None

    def step(self, now: str = "", *, failed: bool = False) -> None:
        """Count a step; ``now`` says in words what it was."""
        self.done += 1
        self.total = max(self.total, self.done)
        self.now, self.failed_last = now, failed
        self.show()

    def opening(self) -> str:
        """Return the line that comes first where there is no bar; empty for none."""
        return ""

    def line(self) -> str:
        """Return the progress as a line: ``2 of 4 folds, about 12 s left``."""
        words = self.words()
        return f"{self.done} of {self.total} {self.what}{', ' * bool(words)}{words}"

    def words(self) -> str:
        """Return the text next to a bar: the time left, empty where nothing is left."""
        return f"about {in_words(self.left_s)} left" if self.left_s is not None and self.done < self.total else ""


class Trials:
    """Runs made one after the other, each compared with the best so far: what came of them, and what is tried now.

    ``limit`` is how many there will be, in words. Each line goes to ``say`` where no display draws a table: ``changed``
    is called after each change.
    """

    def __init__(self, limit: str, log: logging.Logger) -> None:
        self.limit = limit
        self.ended: list[tuple[str, str, str]] = []  # its number, what it was, what came of it
        self.runs = 0
        self.best: int | None = None  # the number of the best, from 0
        self.now = ""
        self.expected = ""
        self.began_s = 0.0
        self.most_s: float | None = None
        self.say: Callable[[str], None] = log.info
        self.changed: Callable[[], None] = lambda: None

    def begin(self, what: str, line: str, *, expected: str = "", most_s: float | None = None) -> None:
        """Begin a run: in a few words and as a whole line, what it is expected to give, and its limit in seconds."""
        self.now, self.expected, self.most_s, self.began_s = what, expected, most_s, time.monotonic()
        self.say(f"run {self.runs + 1} of {self.limit}: {line}")
        self.changed()

    def end(self, outcome: str, best: int | None, what: str = "", remark: str = "") -> None:
        """Say what came of the run, or of an earlier one, and which of all is now the best."""
        self.runs += 1
        self.say(f"run {self.runs} of {self.limit}: {outcome}{remark}")
        self._enter(f"run {self.runs}", what or self.now, outcome + remark, best)

    def compute(self, outcome: str, best: int | None, what: str) -> None:
        """Say what came of something that was computed, and took no run."""
        self.say(f"computed: {what}, {outcome}")
        self._enter("computed", what, outcome, best)

    def _enter(self, number: str, what: str, outcome: str, best: int | None) -> None:
        self.ended.append((number, what, outcome))
        self.best, self.now = best, ""
        self.changed()

    def leave(self) -> None:
        """Forget the run that was begun: it could not be made."""
        self.now = ""
        self.changed()


class Display(Protocol):
    """What shows progress to a person."""

    def count(self, count: Count) -> contextlib.AbstractContextManager[None]:
        """Show a count until the context ends."""
        ...

    def wait(self, what: str, most_s: float | None) -> contextlib.AbstractContextManager[None]:
        """Show an activity until the context ends, and what is left of at most so many seconds."""
        ...

    def trials(self, trials: Trials) -> contextlib.AbstractContextManager[None]:
        """Show runs that are compared until the context ends."""
        ...


_display: ContextVar[Display | None] = ContextVar("numapredict.display", default=None)


@contextlib.contextmanager
def shown_on(display: Display) -> Iterator[None]:
    """Show all progress of this thread on a display until the context ends."""
    token = _display.set(display)
    try:
        yield
    finally:
        _display.reset(token)


@contextlib.contextmanager
def counting(total: int, what: str) -> Iterator[Count]:
    """Show counted steps, ``what`` in the plural: call ``step`` of what this yields after each."""
    count = Count(total, what)
    with showing(count):
        yield count


def showing(count: Count) -> contextlib.AbstractContextManager[None]:
    """Show a count of any subclass until the context ends."""
    display = _display.get()
    return contextlib.nullcontext() if display is None else display.count(count)


def trying(trials: Trials) -> contextlib.AbstractContextManager[None]:
    """Show runs that are compared until the context ends; without a display they say their lines."""
    display = _display.get()
    return contextlib.nullcontext() if display is None else display.trials(trials)


def follow(items: Iterable[T], total: int, what: str) -> Generator[T, None, None]:
    """Yield the items, ``total`` of them and ``what`` in the plural, showing how many came and how long is left.

    Close the generator where it is not read to its end.
    """
    with counting(total, what) as count, contextlib.ExitStack() as stack:
        if isinstance(items, Generator):
            stack.callback(items.close)
        for item in items:
            count.step()
            yield item


def doing(what: str) -> contextlib.AbstractContextManager[None]:
    """Show an activity, such as ``reading data``, until the context ends."""
    return _waiting(what, None)


@contextlib.contextmanager
def lasting(log: logging.Logger, text: str, most_s: float) -> Iterator[None]:
    """Log the start of an activity of at most so many seconds, and show what is left; nothing if ``log`` is muted."""
    log.info(text)
    with _waiting("", most_s) if log.isEnabledFor(logging.INFO) else contextlib.nullcontext():
        yield


def _waiting(what: str, most_s: float | None) -> contextlib.AbstractContextManager[None]:
    display = _display.get()
    return contextlib.nullcontext() if display is None else display.wait(what, most_s)
