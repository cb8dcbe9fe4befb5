"""The terminal of a command: shows log lines and progress on standard error, by the chosen verbosity.

rich's logging handler would break and fill lines in pipes, too, and load rich where there is no terminal.
"""

import contextlib
import enum
import io
import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TextIO

from numapredict.collect.terminal.estimated_time import in_words
from numapredict.collect.terminal.printable import printable
from numapredict.collect.terminal.progress import Count, Trials, shown_on

if TYPE_CHECKING:
    from numapredict.collect.terminal.bars import Bars

LINE_EVERY_S = 10.0
"""The interval of progress lines where there is no bar, in seconds."""

_DUMB = frozenset({"", "dumb", "unknown"})
ANSWER = logging.WARNING + 1
"""The level of an answer's lines where standard output is a program's: a quiet command has them, too."""
_STYLES = {logging.DEBUG: "dim", logging.INFO: "", logging.WARNING: "yellow", ANSWER: ""}

log = logging.getLogger(__name__)


class Verbosity(enum.IntEnum):
    """How much is logged: errors and warnings only, also progress, or also details."""

    QUIET = -1
    NORMAL = 0
    VERBOSE = 1


class Terminal(logging.Handler):
    """Shows lines and progress: bars and colours on a terminal that can show them, plain lines elsewhere.

    A failed write raises an OSError, as for any stream.
    """

    def __init__(
        self, stream: TextIO, verbosity: Verbosity = Verbosity.NORMAL, environment: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(logging.INFO - 10 * verbosity)  # WARNING, INFO or DEBUG
        self.stream = stream
        self._environment = os.environ if environment is None else environment
        self._bars: Bars | None = None
        self._shown = 0
        self._trying = False

    @contextlib.contextmanager
    def attached(self) -> Iterator[None]:
        """Show numapredict's log and progress until the context ends."""
        ours = logging.getLogger("numapredict")
        before = ours.level
        ours.addHandler(self)
        ours.setLevel(self.level)
        try:
            with shown_on(self):
                yield
        finally:
            ours.setLevel(before)
            ours.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        self._write(record.getMessage(), _STYLES.get(record.levelno, "bold red"))

    def error(self, text: str, command: str = "") -> None:
        """Write an error as one line, and below it, unbroken, the command that continues the work."""
        self._write(f"numapredict: {' '.join(map(str.strip, text.split(chr(10))))}", "bold red")
        if command:
            self._write(command, "green", broken=False)

    @contextlib.contextmanager
    def count(self, count: Count) -> Iterator[None]:
        """Show a count: in a bar, or in a line now and then; one inside another or inside a wait is not shown."""
        if self._shown or self.level > logging.INFO:
            yield
            return
        bars = self._moving_bars()
        began_s = last_s = time.monotonic()
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._showing())
            draw = None if bars is None else stack.enter_context(bars.count(count))
            if draw is None and count.opening():
                log.info(count.opening())

            def show() -> None:
                nonlocal last_s
                now_s = time.monotonic()
                if not count.own_estimate:
                    count.left_s = (now_s - began_s) / count.done * (count.total - count.done)
                if draw is not None:
                    draw()
                elif count.failed_last:  # a warning has said more
                    last_s = now_s
                elif now_s - last_s >= LINE_EVERY_S or (count.own_estimate and count.done == count.total):
                    log.info(count.line())
                    last_s = now_s

            count.show = show
            yield
        if not count.own_estimate:
            log.debug(f"{count.done} {count.what} in {in_words(time.monotonic() - began_s)}")

    @contextlib.contextmanager
    def wait(self, what: str, most_s: float | None) -> Iterator[None]:
        """Show an activity, or what is left of its bound: in a bar meanwhile, as a detail afterwards."""
        bars = None if self.level > logging.INFO or self._trying else self._moving_bars()
        began_s = time.monotonic()
        with self._showing(), contextlib.nullcontext() if bars is None else bars.wait(printable(what), most_s):
            yield
        log.debug(f"{what or 'that'} took {time.monotonic() - began_s:.1f} s")

    @contextlib.contextmanager
    def trials(self, trials: Trials) -> Iterator[None]:
        """Show runs that are compared: in a table that stays, or as the lines that they say."""
        bars = None if self.level > logging.INFO or self._shown else self._moving_bars()
        if bars is None:
            yield
            return
        trials.say = log.debug
        self._trying = True
        try:
            with self._showing(), bars.trials(trials):
                yield
        finally:
            self._trying = False

    @contextlib.contextmanager
    def _showing(self) -> Iterator[None]:
        self._shown += 1
        try:
            yield
        finally:
            self._shown -= 1

    def bars(self) -> "Bars | None":
        """Return the bars of this terminal, None where there is none that could show them."""
        if self._bars is None and is_animated(self.stream, self._environment):
            from numapredict.collect.terminal.bars import Bars

            self._bars = Bars(self.stream, self._environment, coloured=has_colours(self.stream, self._environment))
        return self._bars

    def _moving_bars(self) -> "Bars | None":
        """Return the bars for what is redrawn: not where NO_COLOR asks for plain text."""
        return self.bars() if has_colours(self.stream, self._environment) else None

    def _write(self, text: str, style: str = "", *, broken: bool = True) -> None:
        """Write a line; with ``broken`` false the terminal itself wraps it, so that it copies as one line."""
        text = printable(text)
        bars = self.bars()
        if bars is None:
            print(text, file=self.stream, flush=True)
        else:
            bars.write(text, style, broken=broken)


class AmongOutput(Terminal):
    """Shows lines among those of a running program: marked as ours, and left out where they cannot be written.

    A failed write must not affect the program.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, if that is possible."""
        try:
            self._write(f"numapredict: {record.getMessage()}", _STYLES.get(record.levelno, "bold red"))
            self.stream.flush()
        except OSError:  # a full disk, a closed channel, a broken pipe
            sys.stderr = io.StringIO()  # what is left in the buffer would fail once more at the end


def is_animated(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether the stream is a terminal that can redraw lines."""
    return stream.isatty() and environment.get("TERM", "") not in _DUMB


def has_colours(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether the stream may be given colours: not where NO_COLOR is set and not empty (no-color.org)."""
    return is_animated(stream, environment) and not environment.get("NO_COLOR")
