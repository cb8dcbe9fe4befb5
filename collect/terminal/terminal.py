"""The one way to talk to people while a command runs: lines and progress on standard error, by how much they want."""

import contextlib
import enum
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TextIO, TypeVar

from numapredict.collect.terminal.capability import has_colours, is_animated
from numapredict.collect.terminal.estimated_time import in_words
from numapredict.collect.terminal.printable import printable
from numapredict.collect.terminal.progress import FailuresOnly, Observer, PlainLines

if TYPE_CHECKING:
    from numapredict.collect.terminal.bars import Bars

LINE_EVERY_S = 10.0
"""Where there is no bar, a line so often says how far it is."""

T = TypeVar("T")


class Verbosity(enum.IntEnum):
    """How much is told: errors and warnings alone, what goes on, or also what it rests on."""

    QUIET = -1
    NORMAL = 0
    VERBOSE = 1


class Terminal:
    """Tells a person what goes on: bars and colours on a terminal that can show them, plain lines anywhere else.

    It is callable, as ``say``, so that it fits wherever an ``announce`` is asked for.
    """

    def __init__(
        self, stream: TextIO, verbosity: Verbosity = Verbosity.NORMAL, environment: Mapping[str, str] | None = None
    ) -> None:
        self.stream = stream
        self.verbosity = verbosity
        self._environment = os.environ if environment is None else environment
        self._bars: Bars | None = None

    def say(self, text: str) -> None:
        """Tell what goes on; nothing under `-q`."""
        if self.verbosity > Verbosity.QUIET:
            self._write(text)

    __call__ = say

    def detail(self, text: str) -> None:
        """Tell what only `-v` asks for."""
        if self.verbosity >= Verbosity.VERBOSE:
            self._write(text, "dim")

    def warn(self, text: str) -> None:
        """Tell what has to be known, also under `-q`."""
        self._write(text, "yellow")

    def error(self, text: str, command: str = "") -> None:
        """Tell why a command ends, in one line whatever the text holds, and below it unbroken the one that goes on."""
        self._write(f"numapredict: {' '.join(map(str.strip, text.split(chr(10))))}", "bold red")
        if command:
            self._write(command, "green", broken=False)

    def observer(self) -> Observer:
        """Return who is told how a campaign goes."""
        if self.verbosity <= Verbosity.QUIET:
            return FailuresOnly(self.stream)
        bars = self.bars()
        return PlainLines(self.stream) if bars is None else bars.campaign()

    def follow(self, items: Iterable[T], total: int, what: str) -> Generator[T, None, None]:
        """Yield the items, ``total`` of them, showing how many are done and how long the others will take.

        ``what`` is their plural, such as ``folds``. Close the generator where it is not read to its end.
        """
        with self.steps(total, what) as advance, contextlib.ExitStack() as stack:
            if isinstance(items, Generator):
                stack.callback(items.close)
            for item in items:
                advance()
                yield item

    @contextlib.contextmanager
    def steps(self, total: int, what: str) -> Iterator[Callable[[], None]]:
        """Show how many of ``total`` steps are done; yield what is to be called after each."""
        bars = None if self.verbosity <= Verbosity.QUIET else self.bars()
        began_s = last_s = time.monotonic()
        done = 0
        draw: Callable[[int, str], None] | None = None
        with contextlib.ExitStack() as stack:
            if bars is not None:
                draw = stack.enter_context(bars.steps(total, printable(what)))

            def advance() -> None:
                nonlocal done, last_s
                done += 1
                now_s = time.monotonic()
                left = time_left(done, total, now_s - began_s)
                if draw is not None:
                    draw(done, left)
                elif now_s - last_s >= LINE_EVERY_S:
                    self.say(f"{done} of {total} {what}{', ' * bool(left)}{left}")
                    last_s = now_s

            yield advance
            self.detail(f"{done} {what} in {in_words(time.monotonic() - began_s)}")

    @contextlib.contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Show what goes on, such as ``reading data``, for as long as it does: on a terminal alone, or afterwards."""
        bars = None if self.verbosity <= Verbosity.QUIET else self.bars()
        began_s = time.monotonic()
        with contextlib.nullcontext() if bars is None else bars.activity(printable(what)):
            yield
        self.detail(f"{what} took {time.monotonic() - began_s:.1f} s")

    @contextlib.contextmanager
    def at_most(self, text: str, most_s: float) -> Iterator[None]:
        """Say what begins, which takes at most so many seconds, and show what is left of them meanwhile."""
        self.say(text)
        bars = None if self.verbosity <= Verbosity.QUIET else self.bars()
        began_s = time.monotonic()
        with contextlib.nullcontext() if bars is None else bars.countdown(most_s):
            yield
        self.detail(f"that took {time.monotonic() - began_s:.1f} s")

    def bars(self) -> "Bars | None":
        """Return the bars of this terminal, None where there is none that could show them."""
        if self._bars is None and is_animated(self.stream, self._environment):
            from numapredict.collect.terminal.bars import Bars

            self._bars = Bars(self.stream, self._environment, coloured=has_colours(self.stream, self._environment))
        return self._bars

    def _write(self, text: str, style: str = "", *, broken: bool = True) -> None:
        """Write a line; one that is not to be broken goes on where the terminal breaks it, which copies as one."""
        text = printable(text)
        bars = self.bars()
        if bars is None:
            print(text, file=self.stream, flush=True)
        else:
            bars.write(text, style, broken=broken)


def time_left(done: int, total: int, took_s: float) -> str:
    """Return in words how long what is left will take, at the pace so far; an empty text where nothing is left."""
    return f"about {in_words(took_s / done * (total - done))} left" if 0 < done < total else ""


@contextlib.contextmanager
def lasting(announce: Callable[[str], None], text: str, most_s: float) -> Iterator[None]:
    """Announce what takes at most so many seconds; where a terminal is told, it also shows how many are left."""
    if isinstance(announce, Terminal):
        with announce.at_most(text, most_s):
            yield
    else:
        announce(text)
        yield


@contextlib.contextmanager
def doing(announce: Callable[[str], None], what: str) -> Iterator[None]:
    """Show a terminal what goes on meanwhile; anybody else is not told."""
    if isinstance(announce, Terminal):
        with announce.doing(what):
            yield
    else:
        yield


@contextlib.contextmanager
def counting(announce: Callable[[str], None], total: int, what: str) -> Iterator[Callable[[], None]]:
    """Yield what is to be called after each of ``total`` steps; a terminal shows their number and the time left."""
    if isinstance(announce, Terminal):
        with announce.steps(total, what) as advance:
            yield advance
    else:
        yield lambda: None


def say_nothing(_text: str) -> None:
    """Announce nothing: for callers whom nobody watches."""


def detail(announce: Callable[[str], None], text: str) -> None:
    """Tell a terminal what only `-v` asks for; anybody else is not told."""
    if isinstance(announce, Terminal):
        announce.detail(text)


def warn(announce: Callable[[str], None], text: str) -> None:
    """Tell a terminal what has to be known, also under `-q`; anybody else gets it as any line."""
    (announce.warn if isinstance(announce, Terminal) else announce)(text)
