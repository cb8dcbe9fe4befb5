"""`numapredict characterize` as a user meets it: an example on a modelled machine, a program on this computer."""

import csv
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.command import SANDY, numapredict, refusal
from tests.integration.test_advised_programs import compiled, heat

__all__ = ["heat"]  # a fixture


@pytest.mark.thorough
@pytest.mark.native
def test_an_example_on_a_modelled_machine(heat: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path / "cache"))  # other tests trace it, too
    chosen = ("--threads", "8", "--threads", "32", "--into", str(tmp_path / "out"))
    done = numapredict("characterize", *SANDY, *chosen, "--json", str(heat))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["machine"], found["modelled"], found["counted"], found["clock"]) == (
        SANDY[1],
        True,
        True,
        "regions",
    )
    assert "2 traces (8, 32 threads), at most 2 min in all" in done.stderr
    contiguous = found["tables"][0]
    assert (contiguous["threads"], contiguous["thread_nodes"]) == ([8, 32], [1, 2, 4])
    assert [time is None for row in contiguous["times_s"] for time in row] == [False] * 3 + [True, True, False]
    # heat's data is initialised by one thread: by first touch one node serves all, and locality is faster.
    shares = {run["mapping"]: run for run in found["runs"]}
    nodes = shares["32x4-contiguous-first-touch"]["nodes"]
    assert nodes[0]["local_accesses"] > 0
    assert nodes[3]["remote_accesses"] > 100 * nodes[3]["local_accesses"]
    assert found["speedup"] > 3
    with (tmp_path / "out" / "runs.csv").open() as file:
        assert [row["mapping"] for row in csv.DictReader(file)] == [run["mapping"] for run in found["runs"]]
    for name in ("times", "page-policies", "accesses", "bandwidth"):
        assert "(modelled)" in (tmp_path / "out" / f"{name}.svg").read_text()

    again = numapredict("characterize", *SANDY, *chosen, str(heat))
    assert again.returncode == 0, again.stderr
    assert f"all {len(found['runs'])} mappings were finished earlier" in again.stderr
    assert found["fastest"] in again.stdout


@pytest.mark.native
def test_a_program_on_this_computer(tmp_path: Path) -> None:
    text = "#include <unistd.h>\nint main(void) {\n#pragma omp parallel\nusleep(2000);\nreturn 0; }"
    program = compiled(tmp_path, "sleeper", text, "-fopenmp")
    options = ("characterize", "--repetitions", "1", "--threads", "1", "--into", str(tmp_path / "out"))
    done = numapredict(*options, "--json", str(program))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["modelled"], found["counted"]) == (False, False)
    assert "no memory counters are read here" in done.stderr
    assert all(run["region_time_s"] >= 0.002 for run in found["runs"])
    assert not (tmp_path / "out" / "accesses.png").exists()

    later = program.stat().st_mtime + 3600
    os.utime(program, (later, later))
    assert "--fresh runs all again" in refusal(numapredict(*options, str(program)))
    assert numapredict(*options, "--fresh", str(program)).returncode == 0


@pytest.mark.native
def test_a_program_without_regions_fails_in_one_line(tmp_path: Path) -> None:
    program = compiled(tmp_path, "serial", "int main(void) { return 0; }")
    done = numapredict("characterize", *SANDY, "--into", str(tmp_path / "out"), str(program))
    assert done.returncode == 1  # every run failed
    assert "ran no OpenMP parallel region" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


MISTAKES = {
    "threads": (("--threads", "33", "/bin/true"), "33 threads do not fit sandybridge-4x8"),
    "policy": (("--page-policy", "nosuch", "/bin/true"), "'nosuch' is not one of"),
    "program": (("./nosuch",), "no such file"),
    "nothing": ((), "Missing argument"),
    "budget": (("--cpu-seconds", "1", "/bin/true"), "range"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_get_one_line(tmp_path: Path, mistake: str) -> None:
    words, message = MISTAKES[mistake]
    assert message in refusal(numapredict("characterize", *SANDY, *words, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    program = tmp_path / "app"
    subprocess.run(["cp", "/bin/true", str(program)], check=True)
    said = refusal(numapredict("characterize", *SANDY, "--into", str(tmp_path / "file" / "x"), str(program)))
    assert "file" in said
