"""Forked children with parallel regions in `numapredict run`: processes of their own in all that it reports."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.test_placed_run import placed
from tests.preloaded import GCC, built, built_by

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

COUNT_PAGES = 1024  # of a block of the program
LIBRARY = """
static double data[1 << 19];
double work(int times)
{
    for (int t = 0; t < times; t++)
        #pragma omp parallel for num_threads(1)
        for (long n = 0; n < 1 << 19; n++)
            data[n] += 1;
    return data[5];
}
"""
WORKERS = """
import ctypes, multiprocessing, sys
library = ctypes.CDLL(sys.argv[1])
for times in (2, 3):
    worker = multiprocessing.get_context("fork").Process(target=library.work, args=(times,))
    worker.start()
    worker.join()
    print(worker.exitcode)
"""


@pytest.fixture(scope="module", params=["gcc", "clang"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_by(request.param, "children.c", tmp_path_factory.mktemp("children"))


def reported(folder: Path, *command: str, said: str) -> tuple[dict[str, Any], str]:
    """Run a program that says these words, as it does alone, and return the record and what is said beside them."""
    record = folder / "record.json"
    options = ("--mapping", "1x1-contiguous-bind", "--verify", "--regions", "-o", str(record))
    done = placed("run", *options, "--", *command)
    assert (done.returncode, done.stdout.split()) == (0, said.split()), done.stderr
    found: dict[str, Any] = json.loads(record.read_text())
    return found, done.stderr


def counts(found: dict[str, Any]) -> list[list[int]]:
    return [[region["count"] for region in process["regions"]] for process in found["processes"]]


@pytest.mark.parametrize("end", ["exit", "_exit", "quick_exit"])
def test_each_child_is_a_process_of_its_own(program: Path, tmp_path: Path, end: str) -> None:
    found, said = reported(tmp_path, str(program), end, said="1 2 3 6")
    *children, parent = found["processes"]
    assert counts(found) == [[1], [2], [3], [5]]  # from zero on
    assert {child["forked_from"] for child in children} == {parent["process"]}
    assert parent["forked_from"] is None
    assert all(process["complete"] and process["wall_s"] < found["time_s"] for process in found["processes"])
    forked = found["placement"]["forked"]
    assert [(one["process"], one["forked_from"]) for one in forked] == [
        (child["process"], parent["process"]) for child in children
    ]
    for one in forked:  # pages of its own, without those that it shares with its parent
        assert one["threads"]["looked_at"] == one["threads"]["right"] == 1
        assert COUNT_PAGES <= one["pages"]["looked_at"] < 1.2 * COUNT_PAGES
    assert found["placement"]["threads"]["looked_at"] == 4
    assert "4 processes, 3 of them forked, had parallel regions" in said
    assert f"regions: 3 children of {program.name}, forked by {parent['process']}: " in said


def test_a_child_that_a_signal_ends_has_its_regions(program: Path, tmp_path: Path) -> None:
    found, said = reported(tmp_path, str(program), "kill", said="-9 6")
    assert counts(found) == [[3], [5]]
    assert [(process["complete"], process["regions"][0]["unfinished"]) for process in found["processes"]] == [
        (False, 1),
        (True, 0),
    ]
    assert [one["threads"]["looked_at"] for one in found["placement"]["forked"]] == [0]
    assert "nothing was checked of 1 that a signal ended" in said


def test_a_child_that_executes_a_program_goes_on_in_it(program: Path, tmp_path: Path) -> None:
    found, _ = reported(tmp_path, str(program), "exec", said="6 0 6")
    assert counts(found) == [[9], [5]]
    assert found["processes"][0]["forked_from"] == found["processes"][1]["process"]


def test_a_child_ends_in_a_signal_handler_as_it_does_alone(program: Path, tmp_path: Path) -> None:
    found, _ = reported(tmp_path, str(program), "handler", said="5 6")
    assert counts(found) == [[4], [5]]
    assert all(process["complete"] for process in found["processes"])


@pytest.mark.parametrize("way", ["vfork", "small"])
def test_a_child_of_a_child_and_a_small_stack_change_nothing(program: Path, tmp_path: Path, way: str) -> None:
    found, _ = reported(tmp_path, str(program), way, said="4 6")
    assert counts(found) == [[4], [5]]
    (one,) = found["placement"]["forked"]
    assert one["process"] == found["processes"][0]["process"]
    assert one["pages"]["looked_at"] >= COUNT_PAGES
    assert all(process["complete"] for process in found["processes"])


def test_a_child_that_may_write_no_file_is_left_out(tmp_path: Path) -> None:
    program = built("children.c", tmp_path, GCC)  # libomp writes a file of its own
    found, _ = reported(tmp_path, str(program), "limit", said="4 6")
    assert counts(found) == [[5]]


def test_a_child_without_regions_has_no_row(program: Path, tmp_path: Path) -> None:
    found, said = reported(tmp_path, str(program), "idle", said="6")
    assert counts(found) == [[5]]
    assert found["placement"]["forked"] == []
    assert "forked" not in said


def test_workers_of_multiprocessing_are_children(tmp_path: Path) -> None:
    library = tmp_path / "work.so"
    compiled = [GCC, "-O1", "-fopenmp", "-shared", "-fPIC", "-xc", "-", "-o", str(library)]
    subprocess.run(compiled, input=LIBRARY, text=True, check=True)
    found, _ = reported(tmp_path, sys.executable, "-c", WORKERS, str(library), said="0 0")
    assert counts(found) == [[2], [3]]
    assert all(process["complete"] and process["forked_from"] for process in found["processes"])
    assert [one["threads"]["right"] for one in found["placement"]["forked"]] == [1, 1]
