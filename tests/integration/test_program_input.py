"""`numapredict ./app < input`: each run of a real program gets the same input, timed here and traced."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.openmp import CAN_TRACE
from tests.unwatched import CODE, lead_here

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed"),
    pytest.mark.usefixtures("own_folders"),
]
READS = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    long rows = 0, sum = 0;
    if (scanf("%ld", &rows) != 1) return 3;
    FILE *log = fopen(getenv("READS_LOG"), "a");
    fprintf(log, "%ld\n", rows);
    fclose(log);
    for (int sweep = 0; sweep < 20; sweep++) {
        #pragma omp parallel for reduction(+:sum)
        for (long row = 0; row < rows; row++) sum += row % 7;
    }
    return sum == 0;
}
"""


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    lead_here(monkeypatch)


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reads")
    (folder / "reads.c").write_text(READS)
    subprocess.run(["gcc", "-O2", "-fopenmp", "reads.c", "-o", "reads"], cwd=folder, check=True)
    return folder / "reads"


def asked(folder: Path, given: str, *words: object) -> tuple[Any, str]:
    """Return the JSON answer to a command whose standard input is a file, and what it logged."""
    (folder / "input").write_text(given)
    with (folder / "input").open() as file:
        done = subprocess.run(
            [sys.executable, "-c", CODE, "predict", "--json", *map(str, words)],
            stdin=file, capture_output=True, text=True, check=False, env={**os.environ, "READS_LOG": f"{folder}/log"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout), done.stderr


def test_each_timed_run_reads_the_same_and_another_input_is_another_search(
    reads: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", "node:4 core:2 pu:1")
    words = ("--runs", 2, "--no-cut", reads)
    first, said = asked(tmp_path, "300000\n", *words)
    assert said.count(f"each run reads standard input anew: {tmp_path}/input") == 1
    rows = (tmp_path / "log").read_text().split()
    assert set(rows) == {"300000"}
    assert len(rows) >= len(first["runs"]) == 2
    assert asked(tmp_path, "300000\n", *words)[0]["kept_runs"] == 2
    assert asked(tmp_path, "300001\n", *words)[0]["kept_runs"] == 0
    assert (tmp_path / "log").read_text().split()[-1] == "300001"


def test_the_trace_of_a_described_machine_reads_it_and_is_kept_for_this_input_alone(
    reads: Path, tmp_path: Path
) -> None:
    words = ("--runs", 2, "--machine", "broadwell-2x10", reads)
    _, said = asked(tmp_path, "100000\n", *words)
    assert "tracing with 20 threads" in said
    assert set((tmp_path / "log").read_text().split()) == {"100000"}
    assert "tracing with" not in asked(tmp_path, "100000\n", *words)[1]
    assert "tracing with" in asked(tmp_path, "100001\n", *words)[1]
