"""Which regions have uneven work, of real programs: their threads' work, and the lines that they begin at."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.programs import numapredict

pytestmark = [pytest.mark.native, pytest.mark.slow]

UNEVEN = """
#include <omp.h>
#include <stdio.h>

static double spin(long n) {
    volatile double sum = 0;
    for (long i = 1; i < n; i++)
        sum += 1.0 / i;
    return sum;
}

int main(void) {
    double sum = 0;
    for (int round = 0; round < 12; round++) {
#pragma omp parallel reduction(+ : sum)
        {
#pragma omp single
            sum += spin(400000);
        }
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (int i = 0; i < 64; i++)
            sum += spin(6000);
#pragma omp parallel reduction(+ : sum)
        sum += spin(omp_get_thread_num() == 0 ? 400000 : 100000);
    }
    return sum > 0 ? 26 : 1;
}
"""
WORKSHARE = """
program shares
  real(8), allocatable :: a(:), b(:)
  integer :: i
  allocate (a(1000000), b(1000000))
  b = 2.0d0
  do i = 1, 10
    !$omp parallel
    !$omp workshare
    a = sqrt(b) * 3.0d0 + sin(b)
    !$omp end workshare
    !$omp end parallel
  end do
  print *, a(1)
end program
"""
TASKS = """
#include <stdio.h>
static volatile double sink;
int main(void) {
    for (int round = 0; round < 4; round++) {
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < 16; i++)
#pragma omp task
            for (long n = 1; n < 20000; n++)
                sink = 1.0 / n;
    }
}
"""


def regions(source: str, name: str, compiler: list[str], folder: Path, exit_code: int = 0) -> list[dict[str, Any]]:
    """Return the regions of a program of two threads, in the order of their lines."""
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    (folder / name).write_text(source)
    app = folder / Path(name).stem
    subprocess.run([*compiler, "-g", "-O1", "-fopenmp", name, "-o", str(app), "-lm"], cwd=folder, check=True)
    written = folder / "run.json"
    words = ["run", "--mapping", "2x1-contiguous-first-touch", "-o", str(written), "--", str(app)]
    done = subprocess.run([*numapredict(), *words], capture_output=True, text=True, check=False)
    assert done.returncode == exit_code, done
    (process,) = json.loads(written.read_text())["processes"]
    found: list[dict[str, Any]] = process["regions"]
    return sorted(found, key=lambda region: region["place"]["frames"][0]["line"])


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_work_of_threads_that_wait_does_not_count(compiler: str, tmp_path: Path) -> None:
    alone, even, uneven = regions(UNEVEN, "uneven.c", [compiler], tmp_path, exit_code=26)
    assert [region["place"]["frames"][0]["line"] for region in (alone, even, uneven)] == [15, 20, 23]
    assert alone["at_work"] == pytest.approx(1.0, abs=0.1)
    assert even["at_work"] == pytest.approx(2.0, abs=0.2)
    assert uneven["at_work"] == pytest.approx(1.25, abs=0.15)


def test_a_fortran_workshare_is_the_work_of_one_thread(tmp_path: Path) -> None:
    (region,) = regions(WORKSHARE, "shares.f90", ["gfortran"], tmp_path)
    assert region["at_work"] == pytest.approx(1.0, abs=0.15)
    assert region["place"]["frames"][0]["file"].endswith("shares.f90")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_of_tasks_nothing_is_said(compiler: str, tmp_path: Path) -> None:
    (region,) = regions(TASKS, "tasks.c", [compiler], tmp_path)
    assert region["at_work"] is None
