"""The whole way on a computer with several nodes: search, learn, be killed, go on, advise, run as advised, verify."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from numapredict.collect.data.dataset import read_dataset
from tests.guest.end_to_end import MAPPINGS
from tests.guest.machine import Guest, python_environment
from tests.guest.shape import Shape
from tests.guest.sweep import SMALL_PAGES, SOURCES, built_subjects
from tests.openmp import CLANG, GCC

pytestmark = [
    pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed"),
    pytest.mark.usefixtures("guests"),
]
RUNS = 3 * len(MAPPINGS)  # two variants of a codelet, and a program


def test_a_search_then_training_killed_and_resumed_then_advice_then_a_verified_run(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    grid, _, static_arrays, *_ = built_subjects(programs)
    folder = tmp_path / "guest"
    folder.mkdir()
    environment = python_environment()
    spread = programs / "spread"
    subprocess.run([str(GCC), "-g", "-O1", "-fopenmp", "-o", spread, SOURCES / "spread.c", "-lnuma"], check=True)
    command = [sys.executable, "-m", "tests.guest.end_to_end", grid.command[0], static_arrays.command[0], str(spread)]
    result = Guest(Shape.parse("2x2"), SMALL_PAGES).run(command, folder, environment, 3600)
    said, errors = result.stdout.decode(), result.stderr.decode()
    assert result.exit_code == 0, said + errors
    assert "training left with -9" in said  # killed
    assert f"{RUNS} of {RUNS} runs, 100 %" in errors
    dataset = read_dataset(folder / "campaign")
    assert len(dataset.measurements) == RUNS  # nothing was lost, and nothing measured twice
    assert errors.count("its times mean nothing") == 4  # twice in training, once with each answer
    check_advice(json.loads((folder / "searched.json").read_text()))
    advice = json.loads((folder / "advice.json").read_text())
    assert not advice["modelled"]
    assert {run["mapping"] for run in advice["regions"]} <= {run["mapping"] for run in advice["runs"]}
    regions = [region for run in advice["regions"] for region in run["times"]["regions"]]
    assert all(region["time_s"] > 0 for region in regions)
    assert "threads were bound to their PU at each check" in errors
    assert "(100%) were" in errors or "(99." in errors
    run = json.loads((folder / "run.json").read_text())
    assert (run["placed_by"], run["exit_code"]) == ("library", 0)
    assert run["mapping"] == (MAPPINGS[0] if advice["keep"] else advice["mapping"])
    threads, pages = (run["placement"][what] for what in ("threads", "pages"))
    assert 0 < threads["right"] == threads["looked_at"]
    assert 0 < 0.99 * pages["looked_at"] <= pages["right"] <= pages["looked_at"] == sum(pages["nodes"].values())
    assert set(pages["nodes"]) <= {str(node) for node in pages["allowed"]} | {
        node for tallied in pages["astray"] for node in tallied["elsewhere"]
    }
    assert [len(process["regions"]) > 0 for process in run["processes"]] == [True]
    check_variables(json.loads((folder / "variables.json").read_text()))


def check_variables(answer: dict[str, Any]) -> None:
    """Check that variables were judged by runs in turn."""
    assert answer["severity"] == "measured time", answer["notes"]
    rounds = [one["time"]["rounds"] for one in answer["variables"] if one["time"] is not None]
    assert rounds  # of a busy computer's few samples, those of one of the two may not do
    assert set(rounds) <= {3, 5}  # further ones where a gain is not sure


def check_advice(answer: dict[str, Any]) -> None:
    """Check the answer that was given before there was a model; its command has run."""
    assert (answer["answer"], answer["baseline"], answer["modelled"]) == ("advised", "as-it-is", False)
    first, *others = answer["runs"]
    assert (first["mapping"], first["outcome"], first["speedup"]) == ("as-it-is", "done", 1.0)
    assert 0 < first["region_time_s"] <= first["time_s"]  # seen without placing the program
    assert all(run["outcome"] in {"done", "ended"} for run in others), others
    assert 1 < len({run["mapping"] for run in answer["runs"]}) == len(answer["runs"]) <= 3
    assert answer["keep"] == (answer["mapping"] == "as-it-is")
    assert answer["keep"] or answer["command"].startswith(f"numapredict run --mapping {answer['mapping']} -- ")
    times = {run["mapping"]: run["region_time_s"] for run in answer["runs"]}
    assert answer["regions"][0]["mapping"] == "as-it-is"
    for run in answer["regions"]:
        regions = run["times"]["regions"]
        assert sum(region["time_s"] for region in regions) == pytest.approx(times[run["mapping"]], rel=1e-3)
        assert not any(region["at_work"] for region in regions), "listing it would change the times"
