import io
import re

import msgspec
import pytest

from numapredict.collect.measurement import Measurement
from numapredict.collect.progress import Bar, Observer, PlainLines, Silence, Standing, observer_for, standing_in_words
from tests.samples import dataset_of

OK, *_, FAILED = dataset_of().measurements


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_terminal_gets_a_bar_and_anything_else_lines() -> None:
    assert isinstance(observer_for(Terminal()), Bar)
    assert isinstance(observer_for(io.StringIO()), PlainLines)


def test_lines_come_at_the_start_now_and_then_and_at_the_end() -> None:
    stream, clock = io.StringIO(), Clock()
    lines = PlainLines(stream, every_s=10.0, clock=clock)
    lines.started(Standing(2, 5, 0))
    for done in (3, 4, 5):
        lines.finished(OK, Standing(done, 5, 0, 60.0 * (5 - done)))
        clock.now_s += 10.0 if done == 3 else 1.0
    lines.ended()
    assert stream.getvalue().splitlines() == [
        "5 runs, 2 of them finished earlier",
        f"4 of 5 runs, 80 %, about 60 s left: p0 {OK.mapping.label}",
        f"5 of 5 runs, 100 %: p0 {OK.mapping.label}",
    ]


def test_failures_and_refusals_get_a_line_each() -> None:
    stream = io.StringIO()
    lines = PlainLines(stream, clock=Clock())
    lines.started(Standing(0, 5, 0))
    lines.finished(FAILED, Standing(1, 5, 1))
    lines.refused("p9", "p9 is a folder; name the program in it")
    assert stream.getvalue().splitlines() == [
        "5 runs",
        f'p2 {FAILED.mapping.label} crashed: exit code 3: "it" broke',
        "p9 left out: p9 is a folder; name the program in it",
    ]


def test_lines_hold_no_terminal_codes() -> None:
    stream = io.StringIO()
    follow(PlainLines(stream))
    assert "\x1b" not in stream.getvalue()


def follow(observer: Observer) -> None:
    odd = msgspec.structs.replace(OK, program="[red]p[/red] :smile:")
    observer.started(Standing(1, 4, 0))
    observer.finished(odd, Standing(2, 4, 0, 300.0))
    observer.finished(FAILED, Standing(3, 4, 1, 60.0))
    observer.refused("p9", "missing")
    observer.ended()


def test_the_bar_shows_counts_time_left_program_and_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    bar = Bar(stream)
    bar.started(Standing(1, 4, 0))
    shown: list[str] = []
    for measurement, standing in (
        (msgspec.structs.replace(OK, program="[red]p[/red] :smile:"), Standing(2, 4, 0, 300.0)),
        (FAILED, Standing(3, 4, 1, 60.0)),
    ):
        bar.finished(measurement, standing)
        assert bar._progress is not None
        bar._progress.refresh()
        shown.append(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue()))
    assert "2/4" in shown[0]
    assert "about 5 min left" in shown[0]
    assert "[red]p[/red] :smile:" in shown[0]  # a name is shown as it is
    assert "1 failed, about 60 s left" in shown[1]
    assert f'{FAILED.mapping.label} crashed: exit code 3: "it" broke' in shown[1]
    bar.refused("p9", "missing")
    bar.ended()
    assert "p9 left out: missing" in stream.getvalue()
    assert stream.getvalue().rstrip().endswith("\x1b[?25h")  # the cursor is back


@pytest.mark.parametrize("observer", [Silence(), Bar(Terminal())])
def test_an_observer_takes_events_in_any_state(observer: Observer) -> None:
    measurement: Measurement = OK
    observer.finished(measurement, Standing(1, 1, 0))
    observer.refused("p", "r")
    observer.ended()
    follow(observer)
    observer.ended()


def test_standing_in_words() -> None:
    assert standing_in_words(Standing(120, 2400, 3, 240.0)) == "120 of 2400 runs, 5 %, 3 failed, about 4 min left"
    assert standing_in_words(Standing(0, 0, 0)) == "0 of 0 runs, 0 %"
