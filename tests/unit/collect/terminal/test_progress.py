import io

import msgspec
import pytest

from numapredict.collect.measurement import Measurement
from numapredict.collect.terminal.progress import (
    CampaignProgress,
    FailuresOnly,
    Observer,
    PlainLines,
    Silence,
    progress_in_words,
)
from tests.samples import dataset_of

OK, *_, FAILED = dataset_of().measurements


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_lines_come_at_the_start_now_and_then_and_at_the_end() -> None:
    stream, clock = io.StringIO(), Clock()
    lines = PlainLines(stream, every_s=10.0, clock=clock)
    lines.started(CampaignProgress(2, 5, 0))
    for done in (3, 4, 5):
        lines.finished(OK, CampaignProgress(done, 5, 0, 60.0 * (5 - done)))
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
    lines.started(CampaignProgress(0, 5, 0))
    lines.finished(FAILED, CampaignProgress(1, 5, 1))
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
    observer.started(CampaignProgress(1, 4, 0))
    observer.finished(odd, CampaignProgress(2, 4, 0, 300.0))
    observer.finished(FAILED, CampaignProgress(3, 4, 1, 60.0))
    observer.refused("p9", "missing")
    observer.ended()


@pytest.mark.parametrize("observer", [Silence(), FailuresOnly(io.StringIO())])
def test_an_observer_takes_events_in_any_state(observer: Observer) -> None:
    measurement: Measurement = OK
    observer.finished(measurement, CampaignProgress(1, 1, 0))
    observer.refused("p", "r")
    observer.ended()
    follow(observer)
    observer.ended()


def test_standing_in_words() -> None:
    assert (
        progress_in_words(CampaignProgress(120, 2400, 3, 240.0)) == "120 of 2400 runs, 5 %, 3 failed, about 4 min left"
    )
    assert progress_in_words(CampaignProgress(0, 0, 0)) == "0 of 0 runs, 0 %"


def test_quiet_leaves_failures() -> None:
    stream = io.StringIO()
    follow(FailuresOnly(stream))
    assert stream.getvalue().splitlines() == [
        f'p2 {FAILED.mapping.label} crashed: exit code 3: "it" broke',
        "p9 left out: missing",
    ]
