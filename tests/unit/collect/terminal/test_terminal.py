"""What a terminal, a pipe and a person who wants quiet are told."""

import io
import logging
import re
import sys

import pytest

from numapredict.collect.terminal.progress import counting, doing, follow, lasting
from numapredict.collect.terminal.terminal import AmongOutput, Terminal, Verbosity
from tests.unit.collect.terminal.streams import TERM, Screen, shown

log = logging.getLogger("numapredict.tests")
STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    ("verbosity", "expected"),
    [
        (Verbosity.QUIET, ["careful", "numapredict: it broke"]),
        (Verbosity.NORMAL, ["going on", "careful", "numapredict: it broke"]),
        (Verbosity.VERBOSE, ["going on", "a detail", "careful", "numapredict: it broke"]),
    ],
)
def test_each_loudness_tells_more(verbosity: Verbosity, expected: list[str]) -> None:
    stream = io.StringIO()
    terminal = Terminal(stream, verbosity)
    with terminal.attached():
        log.info("going on")
        log.debug("a detail")
        log.warning("careful")
    terminal.error("it\n broke")
    assert stream.getvalue().splitlines() == expected


def test_lines_are_coloured_on_terminals_that_want_it_only() -> None:
    for stream, environment, coloured in (
        (Screen(), TERM, True),
        (Screen(), {**TERM, "NO_COLOR": "1"}, False),
        (Screen(), {**TERM, "NO_COLOR": ""}, True),
        (Screen(), {**TERM, "TERM": "dumb"}, False),
        (io.StringIO(), TERM, False),
    ):
        Terminal(stream, environment=environment).error("it broke")
        assert bool(STYLE.search(stream.getvalue())) == coloured, environment
        assert shown(stream) == "numapredict: it broke\n"


def test_lines_are_broken_to_a_terminal_s_width_and_nowhere_else() -> None:
    text = "word " * 30
    narrow, pipe = Screen(), io.StringIO()
    for stream in (narrow, pipe):
        with Terminal(stream, environment={**TERM, "COLUMNS": "40"}).attached():
            log.info(text)
    assert max(map(len, narrow.getvalue().splitlines())) <= 40
    assert pipe.getvalue() == text + "\n"


def test_a_name_with_brackets_is_shown_as_it_is() -> None:
    screen = Screen()
    with Terminal(screen, environment=TERM).attached():
        log.info("[red]p[/red] :smile: 100%s")
    assert "[red]p[/red] :smile: 100%s" in screen.getvalue()


def ticking(monkeypatch: pytest.MonkeyPatch, step_s: float) -> None:
    now = iter(range(10_000))
    monkeypatch.setattr("numapredict.collect.terminal.terminal.time.monotonic", lambda: next(now) * step_s)


def test_steps_are_lines_now_and_then_where_there_is_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    ticking(monkeypatch, 6.0)
    stream = io.StringIO()
    with Terminal(stream).attached():
        assert list(follow("abcd", 4, "folds")) == list("abcd")
    assert stream.getvalue().splitlines() == ["2 of 4 folds, about 12 s left", "4 of 4 folds"]


def test_no_color_asks_for_plain_lines_instead_of_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    ticking(monkeypatch, 6.0)
    screen = Screen()
    with Terminal(screen, environment={**TERM, "NO_COLOR": "1"}).attached():
        assert list(follow("abcd", 4, "folds")) == list("abcd")
        with doing("reading data"):
            pass
    assert screen.getvalue() == "2 of 4 folds, about 12 s left\n4 of 4 folds\n"


def test_short_steps_say_nothing() -> None:
    stream = io.StringIO()
    with Terminal(stream).attached():
        list(follow(range(3), 3, "folds"))
    assert stream.getvalue() == ""


def test_what_goes_on_is_shown_while_it_does() -> None:
    for columns in ("40", "200"):
        screen = Screen()
        with (
            Terminal(screen, environment={**TERM, "COLUMNS": columns}).attached(),
            doing("reading \x1b[31mdata"),
        ):
            assert "reading \\x1b[31mdata" in shown(screen)
        assert screen.getvalue().count("\x1b[?25l") == screen.getvalue().count("\x1b[?25h") == 1
    for stream, verbosity, expected in (
        (io.StringIO(), Verbosity.NORMAL, ""),
        (Screen(), Verbosity.QUIET, ""),
        (io.StringIO(), Verbosity.VERBOSE, "reading data took 0.0 s\n"),
    ):
        with Terminal(stream, verbosity, TERM).attached(), doing("reading data"):
            pass
        assert stream.getvalue() == expected


def test_names_neither_steer_a_terminal_nor_make_lines() -> None:
    wild = "a\x1b[31mb\x1b]0;pwn\x07\u202ec\nd\r"
    tame = "a\\x1b[31mb\\x1b]0;pwn\\x07\\u202ec\\nd\\r"
    for stream in (io.StringIO(), Screen()):
        with Terminal(stream, Verbosity.VERBOSE, {**TERM, "NO_COLOR": "1"}).attached():
            log.info(wild)
            log.warning(wild)
            log.debug(wild)
        assert re.split(r"[\r\n]+", shown(stream).strip()) == [tame] * 3
        assert "\x1b]" not in stream.getvalue()
        assert "\u202e" not in stream.getvalue()


def test_an_error_keeps_blanks_and_its_command_whole() -> None:
    command = "numapredict train " + "--program x " * 20
    for stream in (io.StringIO(), Screen()):
        Terminal(stream, environment={**TERM, "COLUMNS": "60", "NO_COLOR": "1"}).error("no  file\n  here", command)
        assert shown(stream) == f"numapredict: no  file here\n{command}\n"


@pytest.mark.parametrize("inside", [False, True])
def test_a_bounded_step_shows_what_is_left_of_its_time(inside: bool) -> None:
    screen = Screen()
    terminal = Terminal(screen, environment=TERM)

    def step() -> None:
        with lasting(log, "tracing, at most 40 s", 40.0):
            bars = terminal.bars()
            assert bars is not None
            assert bars._progress is not None
            bars._progress.refresh()

    with terminal.attached():
        if inside:
            with counting(5, "traces") as count:
                count.step()
                step()
            assert "1/5" in shown(screen)
        else:
            step()
    assert "tracing, at most 40 s" in shown(screen)
    assert "at most 40 s left" in shown(screen)
    assert screen.getvalue().count("\x1b[?25l") == screen.getvalue().count("\x1b[?25h") == 1


def test_quiet_shows_no_progress() -> None:
    screen = Screen()
    terminal = Terminal(screen, Verbosity.QUIET, TERM)
    with terminal.attached():
        list(follow(range(3), 3, "folds"))
        with lasting(log, "tracing", 40.0):
            pass
    assert screen.getvalue() == ""


def test_a_count_inside_what_is_shown_already_is_not_shown() -> None:
    """The runs of one measurement inside a campaign, the steps of one training inside an evaluation."""
    for outer in (lambda: counting(4, "folds"), lambda: doing("reading")):
        screen, pipe = Screen(), io.StringIO()
        for stream in (screen, pipe):
            with Terminal(stream, Verbosity.VERBOSE, TERM).attached():
                with outer():
                    list(follow(range(3), 3, "steps"))
                assert "steps" not in stream.getvalue()
                list(follow(range(3), 3, "steps"))
                assert "steps" in stream.getvalue()


def test_a_program_s_own_logging_is_as_before_afterwards() -> None:
    ours = logging.getLogger("numapredict")
    before = (ours.level, list(ours.handlers))

    def failing() -> None:
        with Terminal(Full(), Verbosity.VERBOSE).attached():
            assert (ours.level, len(ours.handlers)) == (logging.DEBUG, len(before[1]) + 1)
            log.info("what cannot be written")

    with pytest.raises(OSError, match="full"):
        failing()
    assert (ours.level, ours.handlers) == before


class Full(io.StringIO):
    """A stream on a full disk."""

    def write(self, _text: str) -> int:
        raise OSError("full")


def test_lines_among_a_programs_output_are_marked_and_none_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    with AmongOutput(stream).attached():
        log.info("the mapping decides")
    assert stream.getvalue() == "numapredict: the mapping decides\n"
    full = Full()
    monkeypatch.setattr("sys.stderr", full)
    with AmongOutput(full).attached():
        log.info("what cannot be written")
    assert sys.stderr is not full  # or the interpreter would fail to flush it at its end
