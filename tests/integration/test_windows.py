"""Programs that do not end, measured in a window: what they completed is counted, and nothing of them is left."""

import math
import os
import uuid
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from numapredict.collect.figure import STEP, VALUE, Figure
from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring import window
from numapredict.collect.measuring.hardware import HardwareMachine
from numapredict.collect.measuring.repetitions import EARLY
from numapredict.predictor.command_line.commands import commands
from tests.descendants import VARIABLE, wait_for_the_end_of
from tests.integration.test_interrupted_commands import Running
from tests.openmp import GCC, build, program_of
from tests.shapes import shape
from tests.unwatched import CODE, lead_here, look_away

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not GCC, reason="gcc is not installed"),
    pytest.mark.usefixtures("own_folders"),
]
MAPPING = parse_label("1x1-contiguous-first-touch")
PERIODIC = """#!/usr/bin/env python3
import itertools, time
for number in itertools.count(1):
    print("requests a second:", 100 + number % 2, flush=True)
    time.sleep(0.01)
"""


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)
    look_away(monkeypatch)
    return build("serving.c", tmp_path, GCC)


def measured(
    program: Path, kind: str, *words: object, figure: Figure | None = None, placed: bool = False
) -> tuple[Measurement, dict[str, float]]:
    """Return a run in a window of a second, and its readings; nothing of it is left."""
    machine, mark = HardwareMachine(shape([1]), repetitions=1, warm_up=0), uuid.uuid4().hex
    machine.compare_by(figure or Figure(seconds=1.0))
    started = program_of(program, kind, *words, **{VARIABLE: mark})
    found = machine.run(started, MAPPING) if placed else machine.run_as_it_is(started)
    assert wait_for_the_end_of(mark) == set()
    return found, dict(found.repetitions[0].readings) if found.repetitions else {}


@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("kind", ["plain", "slow", "deaf", "forking"])
def test_the_regions_of_a_window_are_counted_however_the_program_ends(serving: Path, kind: str, placed: bool) -> None:
    found, readings = measured(serving, kind, placed=placed)
    assert (found.status, found.message) == ("ok", "")
    completed = readings[VALUE] * found.time_s
    assert completed == pytest.approx(round(completed), abs=1e-6)
    assert 1 <= completed <= (2 if kind == "forking" else 1) * found.time_s / 0.01  # each takes 10 ms
    assert readings[STEP] == pytest.approx(readings[VALUE] / completed)
    assert found.region_time_s is None or 0 < found.region_time_s <= found.time_s


def test_what_a_program_prints_when_it_is_asked_to_end_is_read(serving: Path) -> None:
    metric = Figure(metric="rate ([0-9]+)", seconds=1.0)
    assert measured(serving, "slow", figure=metric)[1][VALUE] == 99
    assert measured(serving, "deaf", figure=metric)[1][VALUE] in (50, 51)


def test_a_program_that_ends_before_is_measured_by_what_it_did(serving: Path) -> None:
    found, readings = measured(serving, "ending", 5, figure=Figure(seconds=60.0))
    assert readings[VALUE] == pytest.approx(5 / found.time_s)
    assert dict(found.provenance)[EARLY] == f"{found.time_s:.3g} s"


def test_without_regions_or_with_too_many_processes_it_has_failed_and_says_what_to_do(
    serving: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = measured(serving, "silent")
    assert found.status == "crashed"
    assert found.message.startswith("it completed no parallel region in 1 s; name a number that it prints by --metric")
    found, _ = measured(serving, "silent", 1)
    assert found.message.startswith("it ended after 0.")
    assert ", before its window, and completed no parallel region: keep it in the foreground" in found.message
    monkeypatch.setattr(window, "MOST_PROCESSES", 2)
    found, _ = measured(serving, "forking")
    assert found.message.startswith("2 of its processes or more have parallel regions, and no more are counted; ")


def asked(*words: object) -> tuple[Any, str]:
    done = CliRunner().invoke(commands, ["predict", "--json", "--runs", "2", *map(str, words)])
    assert done.exit_code == 0, (done.output, done.exception)
    return msgspec.json.decode(done.stdout), " ".join(done.stderr.split())


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", "node:4 core:2 pu:1")


@pytest.mark.usefixtures("nodes")
def test_a_search_compares_regions_a_second(serving: Path) -> None:
    found, said = asked("--seconds", 1, serving, "ending", 30)
    assert found["figure"] == {"metric": "", "smaller": False, "seconds": 1.0}
    first, second = found["runs"]
    assert second["speedup"] == pytest.approx(second["figure"] / first["figure"])
    assert "regions/s in " in said
    early = "before its window of 1 s: it is compared by what it did until then"
    assert any(early in text for text in found["warnings"]) or first["time_s"] >= 1
    assert any("few regions complete in the window" in text for text in found["warnings"])
    page = CliRunner().invoke(commands, ["report", "-", "-o", "page.html"], input=msgspec.json.encode(found))
    assert page.exit_code == 0, page.output
    assert "regions a second, in a window of 1 s" in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("nodes", "serving")
def test_a_server_of_any_kind_is_compared_by_what_it_prints(tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(PERIODIC)
    server.chmod(0o755)
    found, _ = asked("--metric", "a second: ([0-9]+)", "--seconds", 1, server)
    assert {run["figure"] for run in found["runs"]} <= {100, 101}
    assert found["keep"]
    assert found["confirmation"] is None or not found["confirmation"]["won"]


def test_what_has_no_effect_on_a_window_is_refused(serving: Path) -> None:
    for words, said in (
        (("--for", "3"), "--for is for searches that compare run times, and has no effect with --seconds: "),
        (("--no-cut",), "--no-cut is for searches that compare run times"),
        (("--machine", "lpdquad"), "--seconds is for runs of this computer"),
    ):
        done = CliRunner().invoke(commands, ["predict", "--seconds", "1", *words, str(serving), "plain"])
        assert said in f"{done.stderr}{done.exception}"
    assert math.isnan(Figure(seconds=1.0).cost(measured(serving, "silent")[0]))


@pytest.mark.usefixtures("nodes")
@pytest.mark.parametrize("kind", ["plain", "deaf", "forking"])
def test_ctrl_c_leaves_nothing_running(
    serving: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    lead_here(monkeypatch)
    running = Running("predict", "--seconds", "600", str(serving), kind, cwd=tmp_path, code=CODE)
    running.when(lambda: any(str(serving) in line.split(" ")[0] for line in running._marked()))
    code, lines = running.interrupted()
    assert code == 130, lines
    assert running.left() == []
    assert not any("Traceback" in line for line in lines)


def test_its_children_are_asked_to_end_too_each_once(serving: Path, tmp_path: Path) -> None:
    """A child that notes each SIGTERM, in a session of its own."""
    log = tmp_path / "log"
    child = tmp_path / "child.py"
    child.write_text(
        "import os, signal, sys, time\n"
        "def note(*_):\n"
        f"    open({str(log)!r}, 'a').write('asked ')\n"
        "signal.signal(signal.SIGTERM, note)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "while True:\n"
        "    print('rate 5', flush=True)\n"
        "    time.sleep(0.05)\n"
    )
    script = tmp_path / "app"
    script.write_text(f"#!/bin/sh\nexec {os.environ.get('PYTHON', 'python3')} {child}\n")
    script.chmod(0o755)
    _, readings = measured(script, "any", figure=Figure(metric="rate ([0-9])", seconds=2.0))
    assert readings[VALUE] == 5
    assert log.read_text().split() == ["asked"] * 2
