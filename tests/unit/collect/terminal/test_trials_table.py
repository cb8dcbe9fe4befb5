"""Runs that are compared, as a table that is drawn again on a terminal, and as lines anywhere else."""

import io
import logging

from numapredict.collect.terminal.progress import Trials, doing, trying
from numapredict.collect.terminal.terminal import Terminal, Verbosity
from tests.unit.collect.terminal.streams import TERM, Screen, shown

log = logging.getLogger("numapredict.tests")


def compared(stream: io.StringIO, verbosity: Verbosity = Verbosity.NORMAL, columns: int = 120) -> None:
    """Make three runs of at most four: the first an earlier command's, the last of which cannot be made."""
    trials = Trials("4", log)
    with Terminal(stream, verbosity, {**TERM, "COLUMNS": str(columns)}).attached(), trying(trials):
        trials.end("2.00 s, 1.00x", 0, "as it is now", " (kept)")
        trials.begin("8x1-contiguous-bind", "app under 8x1-contiguous-bind", expected="expected to add 5%", most_s=2.0)
        with doing("tracing app"):
            log.info("a line of its own")
        trials.end("1.00 s, 2.00x", 1)
        trials.begin("8x2-scatter-mix", "app under 8x2-scatter-mix")
        trials.leave()


LINES = [
    "run 1 of 4: 2.00 s, 1.00x (kept)",
    "run 2 of 4: app under 8x1-contiguous-bind",
    "a line of its own",
    "run 2 of 4: 1.00 s, 2.00x",
    "run 3 of 4: app under 8x2-scatter-mix",
]


def test_a_pipe_gets_a_line_at_the_beginning_and_the_end_of_each_run() -> None:
    pipe = io.StringIO()
    compared(pipe)
    assert pipe.getvalue().splitlines() == LINES


def test_without_a_display_the_lines_are_said_all_the_same() -> None:
    said: list[str] = []
    trials = Trials("2", log)
    trials.say = said.append
    with trying(trials):
        trials.begin("a", "app under a")
        trials.end("1.00 s", 0)
    assert said == ["run 1 of 2: app under a", "run 1 of 2: 1.00 s"]


def test_a_terminal_shows_what_is_tried_and_keeps_what_came_of_it() -> None:
    screen = Screen()
    compared(screen)
    text = shown(screen)
    assert "run 2 of 4 8x1-contiguous-bind running for 0 s of at most 2 s; expected to add 5%" in text
    assert "run 3 of 4 8x2-scatter-mix     running for 0 s" in text
    assert text.count("a line of its own\n") == 1
    assert not any(line in text for line in LINES if line.startswith("run"))
    last = [line.rstrip() for line in text.splitlines() if line.strip()][-2:]
    assert last == [
        "run 1 as it is now        2.00 s, 1.00x (kept)",
        "run 2 8x1-contiguous-bind 1.00 s, 2.00x, the best so far",
    ]


def test_a_narrow_terminal_cuts_names_and_not_results() -> None:
    screen = Screen()
    compared(screen, columns=40)
    rows = [line.rsplit("\r", 1)[-1].rstrip() for line in shown(screen).splitlines()]
    assert max(map(len, rows)) <= 40
    assert any("1.00 s" in row for row in rows)


def test_whoever_wants_quiet_gets_nothing() -> None:
    for stream in (io.StringIO(), Screen()):
        compared(stream, Verbosity.QUIET)
        assert stream.getvalue() == ""
