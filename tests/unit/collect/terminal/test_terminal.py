"""What a terminal, a pipe and a person who wants quiet are told."""

import io
import re
from collections.abc import Callable, Iterator

import msgspec
import pytest

from numapredict.collect.terminal.bars import CampaignBar
from numapredict.collect.terminal.progress import CampaignProgress, FailuresOnly, PlainLines
from numapredict.collect.terminal.terminal import Terminal, Verbosity, counting, detail, lasting, time_left
from tests.samples import dataset_of
from tests.unit.collect.terminal.streams import TERM, Screen

OK, *_, FAILED = dataset_of().measurements
STYLE = re.compile(r"\x1b\[[0-9;]*m")
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def shown(screen: io.StringIO) -> str:
    return CODES.sub("", screen.getvalue())


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
    terminal("going on")
    detail(terminal, "a detail")
    terminal.warn("careful")
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
    Terminal(narrow, environment={**TERM, "COLUMNS": "40"}).say(text)
    Terminal(pipe, environment={**TERM, "COLUMNS": "40"}).say(text)
    assert max(map(len, narrow.getvalue().splitlines())) <= 40
    assert pipe.getvalue() == text + "\n"


def test_a_name_with_brackets_is_shown_as_it_is() -> None:
    screen = Screen()
    Terminal(screen, environment=TERM).say("[red]p[/red] :smile:")
    assert "[red]p[/red] :smile:" in screen.getvalue()


def test_campaigns_are_told_by_what_the_stream_can_show() -> None:
    assert isinstance(Terminal(Screen(), environment=TERM).observer(), CampaignBar)
    assert isinstance(Terminal(io.StringIO(), environment=TERM).observer(), PlainLines)
    assert isinstance(Terminal(Screen(), environment={"TERM": "dumb"}).observer(), PlainLines)
    assert isinstance(Terminal(Screen(), Verbosity.QUIET, TERM).observer(), FailuresOnly)


def test_the_bar_shows_counts_time_left_program_and_failures() -> None:
    screen = Screen()
    bar = Terminal(screen, environment=TERM).observer()
    bar.started(CampaignProgress(1, 4, 0))
    odd = msgspec.structs.replace(OK, program="[red]p[/red] :smile:")
    told: list[str] = []
    for measurement, progress in ((odd, CampaignProgress(2, 4, 0, 300.0)), (FAILED, CampaignProgress(3, 4, 1, 60.0))):
        bar.finished(measurement, progress)
        assert isinstance(bar, CampaignBar)
        assert bar._progress is not None
        bar._progress.refresh()
        told.append(shown(screen))
    assert "2/4" in told[0]
    assert "about 5 min left" in told[0]
    assert "[red]p[/red] :smile:" in told[0]
    assert "1 failed, about 60 s left" in told[1]
    assert f'{FAILED.mapping.label} crashed: exit code 3: "it" broke' in told[1]
    bar.refused("p9", "missing")
    bar.ended()
    assert "p9 left out: missing" in shown(screen)
    assert screen.getvalue().rstrip().endswith("\x1b[?25h")  # the cursor is back


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_bars_stay_within_the_width(columns: int) -> None:
    screen = Screen()
    bar = Terminal(screen, environment={**TERM, "COLUMNS": str(columns)}).observer()
    bar.started(CampaignProgress(0, 4000, 0))
    long = msgspec.structs.replace(OK, program="a-program-with-a-long-name.medium.parallel")
    bar.finished(long, CampaignProgress(1234, 4000, 17, 7200.0))
    bar.ended()
    lines = shown(screen).replace("\r", "\n").split("\n")
    assert max(map(len, lines)) <= columns
    last = next(line for line in reversed(lines) if line.strip())
    assert "1234/4000" in last
    assert "17 failed, about 2 h" in last
    assert ("━" in shown(screen)) == (columns > 70)


def ticking(monkeypatch: pytest.MonkeyPatch, step_s: float) -> None:
    now = iter(range(10_000))
    monkeypatch.setattr("numapredict.collect.terminal.terminal.time.monotonic", lambda: next(now) * step_s)


def test_steps_are_lines_now_and_then_where_there_is_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    ticking(monkeypatch, 6.0)
    stream = io.StringIO()
    assert list(Terminal(stream).follow("abcd", 4, "folds")) == list("abcd")
    assert stream.getvalue().splitlines() == ["2 of 4 folds, about 12 s left", "4 of 4 folds"]


def test_short_steps_say_nothing() -> None:
    stream = io.StringIO()
    list(Terminal(stream).follow(range(3), 3, "folds"))
    assert stream.getvalue() == ""


def test_a_loop_s_generator_is_closed_when_its_reader_leaves() -> None:
    closed = []

    def items() -> Iterator[int]:
        try:
            yield from range(3)
        finally:
            closed.append(True)

    source = items()  # held, or it would be closed for want of a reader
    following = Terminal(io.StringIO()).follow(source, 3, "folds")
    next(following)
    following.close()
    assert closed == [True]


def test_what_goes_on_is_shown_while_it_does() -> None:
    for columns in ("40", "200"):
        screen = Screen()
        with Terminal(screen, environment={**TERM, "COLUMNS": columns}).doing("reading \x1b[31mdata"):
            assert "reading \\x1b[31mdata" in shown(screen)
        assert screen.getvalue().count("\x1b[?25l") == screen.getvalue().count("\x1b[?25h") == 1
    for stream, verbosity, expected in (
        (io.StringIO(), Verbosity.NORMAL, ""),
        (Screen(), Verbosity.QUIET, ""),
        (io.StringIO(), Verbosity.VERBOSE, "reading data took 0.0 s\n"),
    ):
        with Terminal(stream, verbosity, TERM).doing("reading data"):
            pass
        assert stream.getvalue() == expected


def test_names_neither_steer_a_terminal_nor_make_lines() -> None:
    wild = "a\x1b[31mb\x1b]0;pwn\x07\u202ec\nd\r"
    tame = "a\\x1b[31mb\\x1b]0;pwn\\x07\\u202ec\\nd\\r"
    for stream in (io.StringIO(), Screen()):
        terminal = Terminal(stream, Verbosity.VERBOSE, {**TERM, "NO_COLOR": "1"})
        terminal.say(wild)
        terminal.warn(wild)
        terminal.detail(wild)
        observer = terminal.observer()
        observer.started(CampaignProgress(0, 2, 0))
        observer.finished(msgspec.structs.replace(FAILED, program=wild, message=wild), CampaignProgress(1, 2, 1))
        observer.refused(wild, wild)
        observer.ended()
        lines = re.split(r"[\r\n]+", shown(stream))
        assert lines.count(tame) == 3
        assert f"{tame} {FAILED.mapping.label} crashed: {tame}" in lines
        assert f"{tame} left out: {tame}" in lines
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
        with lasting(terminal, "tracing, at most 40 s", 40.0):
            bars = terminal.bars()
            assert bars is not None
            assert bars._progress is not None
            bars._progress.refresh()

    if inside:
        with counting(terminal, 5, "traces") as advance:
            advance()
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
    list(terminal.follow(range(3), 3, "folds"))
    with lasting(terminal, "tracing", 40.0):
        pass
    assert screen.getvalue() == ""


def test_what_is_no_terminal_is_told_the_same_lines() -> None:
    said: list[str] = []
    announce: Callable[[str], None] = said.append
    with lasting(announce, "tracing", 40.0), counting(announce, 3, "runs") as advance:
        advance()
    detail(announce, "nobody asked")
    assert said == ["tracing"]


def test_time_left_is_told_by_the_pace_so_far() -> None:
    assert time_left(2, 10, 30.0) == "about 2 min left"
    assert time_left(10, 10, 30.0) == ""
    assert time_left(0, 10, 30.0) == ""
