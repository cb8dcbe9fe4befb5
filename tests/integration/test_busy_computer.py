"""Beside a load on every PU no command claims a gain: what disturbed is the first thing that it says."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from numapredict.collect.measuring.quiet import others_at_work
from numapredict.predictor.advising import session
from numapredict.predictor.command_line.commands import commands
from tests.command import cold
from tests.integration.test_measuring_well import Load
from tests.openmp import GCC

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]
SHAPES = Path(__file__).parent / "capturing" / "shapes.c"
NODES = {"HWLOC_SYNTHETIC": "node:2 core:1 pu:1"}


@pytest.fixture(autouse=True)
def unwatched() -> None:
    """Look for disturbances."""


@pytest.fixture(autouse=True)
def load(own_folders: None) -> Iterator[None]:
    loads = [Load(pu) for pu in sorted(os.sched_getaffinity(0))]
    yield
    for each in loads:
        each.stop()


def test_an_answer_claims_nothing_and_keeps_no_run(foreign: Path, tmp_path: Path) -> None:
    words = ("predict", "--json", "--runs", "2", str(foreign), "exit", "0")
    for _ in range(2):
        done = cold(*words, cwd=tmp_path, **NODES)
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert answer["disturbed"].startswith("other programs used ")
        assert (answer["keep"], answer["mapping"], answer["speedup"]) == (True, "as-it-is", 1.0)
        assert answer["kept_runs"] == 0
        assert "going on from" not in done.stderr
    assert not list(tmp_path.rglob("*advice*")), "an earlier answer is worth more"
    brief = " ".join(cold(*(word for word in words if word != "--json"), cwd=tmp_path, **NODES).stdout.split())
    assert "best mapping keep what you have: this computer was busy, other programs used " in brief
    assert "no gain can be told; measure again when it is quiet" in brief


def test_a_disturbed_run_is_made_again_twice_and_then_no_other(
    foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of some length shows the load itself: the looks are away."""
    monkeypatch.setattr(session, "others_at_work", lambda _: "")
    monkeypatch.setenv("HWLOC_SYNTHETIC", NODES["HWLOC_SYNTHETIC"])
    app = tmp_path / "app"
    app.write_text(f"#!/bin/sh\necho run >> {tmp_path}/log\nsleep 0.8\nexec {foreign} exit 0\n")
    app.chmod(0o755)
    done = CliRunner().invoke(commands, ["predict", "--json", str(app)])
    answer = json.loads(done.stdout)
    assert answer["disturbed"].startswith("other programs used ")
    assert (len(answer["runs"]), (tmp_path / "log").read_text().count("run")) == (1, 3)


def test_a_program_too_short_to_show_it_is_answered_by_a_look(tmp_path: Path) -> None:
    assert others_at_work(sorted(os.sched_getaffinity(0))).startswith("other programs used ")
    answer = json.loads(cold("predict", "--json", "/bin/true", cwd=tmp_path, **NODES).stdout)
    assert answer["disturbed"].startswith("other programs used ")


def test_replays_claim_nothing_plan_nothing_and_keep_nothing(tmp_path: Path) -> None:
    shapes = tmp_path / "shapes"
    subprocess.run([str(GCC), "-g", "-O2", "-fopenmp", "-o", shapes, SHAPES], check=True)
    for _ in range(6):  # no replay may take as long as the instances it stands for
        done = cold("regions", "--keep", "--plan", "plan", "-o", "answer.json", str(shapes), "work", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        answer = json.loads((tmp_path / "answer.json").read_text())
        if answer["regions"][0]["gains"]:
            break
    assert answer["disturbed"].startswith("other programs used ")
    assert answer["regions"][0]["gains"]
    assert answer["plan"] is None
    assert not (tmp_path / "plan").exists()
    assert not list((tmp_path / "data").rglob("*.regions"))
    said = [line for line in done.stderr.splitlines() if not line.startswith("waiting")]
    assert said[0].startswith(f"this computer was busy, {answer['disturbed']}: no gain can be told; measure again")
    text = " ".join(done.stderr.split())
    assert "as fast" not in text
    assert "no plan was written to plan" in text
    assert "what the regions gained is not kept, since the computer was busy" in text
