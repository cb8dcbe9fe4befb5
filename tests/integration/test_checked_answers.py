"""`numapredict check` on this computer: its exit code says whether an answer still holds."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.command import numapredict, refusal
from tests.openmp import GCC
from tests.unit.reports.parts.test_advice_consistency import WON

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not GCC, reason="no gcc"),
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core has one order only"),
]
# With one thread half of the processors do nothing.
PROGRAM = """
int main(void) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long n = 1; n < 100000000; n++)
        sum += 1.0 / (double)n;
    return !(sum > 0);
}
"""
ONE_THREAD = "1x1-contiguous-bind"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a program and an answer that says it is faster with one thread."""
    found = tmp_path_factory.mktemp("checked")
    (found / "app.c").write_text(PROGRAM)
    subprocess.run([GCC, "-O2", "-fopenmp", "-o", found / "app", found / "app.c"], check=True)
    (found / "answer.json").write_text(json.dumps(WON).replace(WON["mapping"], ONE_THREAD))
    return found


def test_what_no_longer_holds_ends_with_exit_code_1(folder: Path) -> None:
    done = numapredict("check", "--json", "answer.json", "./app", cwd=folder)
    answer = json.loads(done.stdout)
    assert (answer["mapping"], answer["answered"]) == (ONE_THREAD, WON["speedup"]), done.stderr
    assert done.returncode == {"no longer": 1, "unknown": 3}[answer["verdict"]]
    assert answer["verdict"] in {"no longer", "unknown"}  # the second on a busy computer
    rounds = len(answer["now"]["baseline_s"])
    assert rounds in {3, 5} if answer["verdict"] == "no longer" else answer["now"]["reason"]


def test_bad_input_gets_one_line(folder: Path) -> None:
    assert "no-app: no such file" in refusal(numapredict("check", "answer.json", "./no-app", cwd=folder))
    assert "app.c" in refusal(numapredict("check", "app.c", "./app", cwd=folder))
    (folder / "large.json").write_text(json.dumps(WON).replace(WON["mapping"], "4096x1-contiguous-bind"))
    assert "4096" in refusal(numapredict("check", "large.json", "./app", cwd=folder))
