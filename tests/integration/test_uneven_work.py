"""Which regions have uneven work, of real programs: their threads' work, and the lines that they begin at."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from numapredict.collect.campaign.machine_choice import this_computer
from numapredict.collect.mapping import parse_label
from numapredict.collect.placing.region_times import RegionTimes, region_times_of, with_places
from numapredict.collect.program import program_of
from numapredict.collect.source.modules import Modules
from tests.benchmarks.programs import numapredict

pytestmark = pytest.mark.native

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


def built(source: str, name: str, compiler: list[str], folder: Path) -> Path:
    (folder / name).write_text(source)
    app = folder / Path(name).stem
    subprocess.run([*compiler, "-g", "-O1", "-fopenmp", name, "-o", str(app), "-lm"], cwd=folder, check=True)
    return app


def regions(source: str, name: str, compiler: list[str], folder: Path, exit_code: int = 0) -> list[dict[str, Any]]:
    """Return the regions of a program of two threads, in the order of their lines."""
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    app = built(source, name, compiler, folder)
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


@pytest.mark.parametrize("warm_up", [0, 1])
def test_a_measurement_notes_its_regions_and_the_work_of_an_untimed_run(warm_up: int, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    program = program_of((str(built(UNEVEN, "uneven.c", ["gcc"], tmp_path)),))
    machine = this_computer(1, warm_up, timeout_s=60, region_times=True)
    mapping = parse_label("2x1-contiguous-first-touch")

    def noted(found: RegionTimes | None) -> list[tuple[int | None, int, bool]]:
        assert found is not None
        assert 0 < found.region_time_s < found.wall_s
        placed = with_places(found, Modules()).regions
        lines = ((region.place.frame.line if region.place else None, region) for region in placed)
        return [(line, region.count, region.at_work is not None) for line, region in lines]

    def expected(*, work: bool) -> list[tuple[int, int, bool]]:
        return [(line, 12, work) for line in (15, 20, 23)]

    as_it_is, plain = machine.run_as_it_is(program), machine.run(program, mapping)
    assert sorted(noted(region_times_of(as_it_is))) == expected(work=False)
    assert sorted(noted(region_times_of(plain))) == expected(work=warm_up == 1)
    assert region_times_of(this_computer(1, warm_up, timeout_s=60).run(program, mapping)) is None
