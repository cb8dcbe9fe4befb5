"""Progress reaches a person only where a command shows it, and is silent in libraries, threads and processes."""

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator

from numapredict.collect.terminal.progress import Count, counting, doing, follow, lasting, shown_on
from numapredict.collect.terminal.terminal import Terminal, Verbosity
from tests.unit.collect.terminal.streams import TERM, Screen

LIBRARY = """
import logging
from numapredict.collect.campaign import request
from numapredict.collect.terminal.progress import Count, doing, follow, lasting
from numapredict.predictor.advising import search
with doing("reading"), lasting(request.log, "tracing", 40.0):
    list(follow(range(3), 3, "folds"))
for log in (request.log, search.log):
    log.warning("a warning")
    log.error("an error")
"""


def test_a_library_user_sees_nothing_without_configuring_logging() -> None:
    code = f"{LIBRARY}\nlogging.getLogger('test').error('now')\nlogging.basicConfig(level=logging.INFO)\n{LIBRARY}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "now",
        "INFO:numapredict.collect.campaign.request:tracing",
        "WARNING:numapredict.collect.campaign.request:a warning",
        "ERROR:numapredict.collect.campaign.request:an error",
        "WARNING:numapredict.predictor.advising.search:a warning",
        "ERROR:numapredict.predictor.advising.search:an error",
    ]


def test_other_threads_show_no_progress() -> None:
    screen = Screen()
    with Terminal(screen, environment=TERM).attached():
        other = threading.Thread(target=lambda: list(follow(range(3), 3, "folds")))
        other.start()
        other.join()
        assert screen.getvalue() == ""
        list(follow(range(3), 3, "folds"))
    assert screen.getvalue() != ""


def test_a_display_is_put_back() -> None:
    screen, inner = Screen(), Screen()
    with shown_on(Terminal(screen, environment=TERM)):
        with shown_on(Terminal(inner, environment=TERM)), doing("reading"):
            pass
        assert "reading" in inner.getvalue()
        assert screen.getvalue() == ""
        with doing("drawing"):
            pass
    assert "drawing" in screen.getvalue()


def test_a_loop_s_generator_is_closed_when_its_reader_leaves() -> None:
    closed = []

    def items() -> Iterator[int]:
        try:
            yield from range(3)
        finally:
            closed.append(True)

    source = items()  # held, or it would be closed for want of a reader
    following = follow(source, 3, "folds")
    next(following)
    following.close()
    assert closed == [True]


def test_a_muted_logger_shows_no_wait_either() -> None:
    screen = Screen()
    log = logging.getLogger("numapredict.tests")
    with Terminal(screen, Verbosity.VERBOSE, TERM).attached():
        log.setLevel(logging.WARNING)
        with lasting(log, "tracing", 40.0):
            pass
        assert screen.getvalue() == ""
        log.setLevel(logging.NOTSET)
        with lasting(log, "tracing", 40.0):
            pass
    assert "tracing\n" in screen.getvalue()


def test_a_count_says_how_long_the_others_take() -> None:
    with counting(10, "folds") as count:
        count.step()
        count.step()
    assert count.line() == "2 of 10 folds"
    count.left_s = 120.0
    assert count.line() == "2 of 10 folds, about 2 min left"
    count.done, count.left_s = 10, 0.0
    assert count.words() == ""


def test_steps_beyond_the_total_raise_it() -> None:
    count = Count(2, "runs")
    for _ in range(3):
        count.step()
    assert count.line() == "3 of 3 runs"
