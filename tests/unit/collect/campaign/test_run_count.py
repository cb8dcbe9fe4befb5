"""What pipes, terminals and people who want quiet are told of a campaign: a replayed one, with a failure in it."""

import io
import re
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.campaign.campaign import Campaign
from numapredict.collect.campaign.run_count import RunCount
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program
from numapredict.collect.terminal.terminal import Terminal, Verbosity
from numapredict.native.errors import UnrunnableProgramError
from tests.samples import dataset_of
from tests.unit.collect.terminal.streams import TERM, Screen, shown

DATASET = dataset_of()
MAPPINGS = tuple(dict.fromkeys(m.mapping for m in DATASET.measurements))
WHOLE = msgspec.structs.replace(
    DATASET, programs=DATASET.programs[:1], measurements=tuple(m for m in DATASET.measurements if m.program == "p0")
)
"""One program, of which no run failed."""

FAILURE = f'p2 {MAPPINGS[-1].label} crashed: exit code 3: "it" broke'


class Refusing(RecordedMachine):
    """Refuses the first program."""

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        if program.name == "p0":
            raise UnrunnableProgramError("p0 is a folder; name the program in it")
        return super().run(program, mapping)


def reported(
    stream: io.StringIO, folder: Path, verbosity: Verbosity = Verbosity.NORMAL, **settings: object
) -> list[str]:
    """Run a campaign and return the lines that the stream was given."""
    machine = settings.get("machine", RecordedMachine(DATASET))
    assert isinstance(machine, RecordedMachine)
    dataset = machine.dataset
    mappings = tuple(dict.fromkeys(m.mapping for m in dataset.measurements))
    with Terminal(stream, verbosity, TERM).attached():
        Campaign(machine, folder, dataset.programs, mappings, "test").run()
    return re.split(r"[\r\n]+", shown(stream).strip())


def test_lines_come_at_the_start_and_the_end_and_at_each_failure(tmp_path: Path) -> None:
    Campaign(RecordedMachine(DATASET), tmp_path, DATASET.programs[:1], MAPPINGS, "test").run()
    stream = io.StringIO()
    lines = reported(stream, tmp_path)
    assert lines == ["18 runs, 6 of them finished earlier", FAILURE]
    assert "\x1b" not in stream.getvalue()
    lines = reported(io.StringIO(), tmp_path / "whole", machine=RecordedMachine(WHOLE))
    assert lines == ["6 runs", f"6 of 6 runs, 100 %: p0 {sorted(MAPPINGS, key=lambda m: m.threads)[-1].label}"]


def test_a_line_now_and_then_says_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(10_000))
    monkeypatch.setattr("numapredict.collect.terminal.terminal.time.monotonic", lambda: next(now) * 4.0)
    lines = reported(io.StringIO(), tmp_path, machine=RecordedMachine(WHOLE))
    assert [re.sub(r"left: .*", "left", line) for line in lines[1:-1]] == ["3 of 6 runs, 50 %, about 0 s left"]
    assert lines[-1].startswith("6 of 6 runs, 100 %: p0 ")


def test_quiet_leaves_failures_and_refusals(tmp_path: Path) -> None:
    for number, stream in enumerate((io.StringIO(), Screen())):
        lines = reported(stream, tmp_path / str(number), Verbosity.QUIET, machine=Refusing(DATASET))
        assert lines == ["p0 left out: p0 is a folder; name the program in it", FAILURE]


def test_a_terminal_shows_a_bar_that_stays_with_failures_above_it(tmp_path: Path) -> None:
    screen = Screen()
    lines = reported(screen, tmp_path, machine=Refusing(DATASET))
    assert "p0 left out: p0 is a folder; name the program in it" in lines
    assert FAILURE in [line.strip() for line in lines]
    assert re.search(r"12/12 1 failed p2 ", lines[-1])
    assert not [line for line in lines if "18 runs" in line]
    assert screen.getvalue().rstrip().endswith("\x1b[?25h")  # the cursor is back


def test_names_neither_steer_a_terminal_nor_make_lines(tmp_path: Path) -> None:
    wild = "a\x1b[31mb\x1b]0;pwn\x07\u202ec\nd\r"
    tame = "a\\x1b[31mb\\x1b]0;pwn\\x07\\u202ec\\nd\\r"
    renamed = {DATASET.programs[-1].name: wild}
    dataset = msgspec.structs.replace(
        DATASET,
        programs=tuple(msgspec.structs.replace(p, name=renamed.get(p.name, p.name)) for p in DATASET.programs),
        measurements=tuple(
            msgspec.structs.replace(m, program=renamed.get(m.program, m.program), message=wild if m.message else "")
            for m in DATASET.measurements
        ),
    )
    for number, stream in enumerate((io.StringIO(), Screen())):
        lines = reported(stream, tmp_path / str(number), machine=RecordedMachine(dataset))
        assert f"{tame} {MAPPINGS[-1].label} crashed: {tame}" in [line.strip() for line in lines]
        assert "\x1b]" not in stream.getvalue()
        assert "\u202e" not in stream.getvalue()


def count(done: int, total: int, failed: int, left_s: float | None = None) -> RunCount:
    made = RunCount(total, done, failed)
    made.left_s, made.now = left_s, "heat 8x2-scatter-mix"
    return made


def test_how_far_it_is_in_words() -> None:
    expected = "120 of 2400 runs, 5 %, 3 failed, about 4 min left: heat 8x2-scatter-mix"
    assert count(120, 2400, 3, 240.0).line() == expected
    assert count(0, 0, 0).line() == "0 of 0 runs, 0 %: heat 8x2-scatter-mix"
    assert count(1, 1, 0).line() == "1 of 1 run, 100 %: heat 8x2-scatter-mix"
    assert count(17, 17, 2, 0.0).words() == "2 failed"
    assert count(2, 5, 0).opening() == "5 runs, 2 of them finished earlier"
    assert count(0, 1, 0).opening() == "1 run"


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_bars_stay_within_the_width(columns: int) -> None:
    screen = Screen()
    made = RunCount(4000, 1233, 17)
    made.left_s = 7200.0
    with Terminal(screen, environment={**TERM, "COLUMNS": str(columns)}).count(made):
        made.step("a-program-with-a-long-name.medium.parallel 32x4-contiguous-first-touch")
    lines = shown(screen).replace("\r", "\n").split("\n")
    assert max(map(len, lines)) <= columns
    last = next(line for line in reversed(lines) if line.strip())
    assert "1234/4000" in last
    assert "17 failed, about 2 h" in last
    assert ("━" in shown(screen)) == (columns > 70)
