"""numapredict.h and the Fortran module: they build without warnings, and programs are the same without the library."""

import os
import subprocess
from pathlib import Path

import pytest

from numapredict.native.library import headers_folder
from tests.command import numapredict
from tests.openmp import CLANG, GCC, GFORTRAN, GXX
from tests.preloaded import placed

ROOT = Path(__file__).parents[2]
HINTED = ROOT / "tests" / "guest" / "programs" / "hinted.c"
EXAMPLE = ROOT / "examples" / "twisted.c"
STRICT = ("-Wall", "-Wextra", "-Werror", "-fopenmp", "-O2", "-I", str(headers_folder()))
ON_ONE_NODE = placed("cpus=0*4;homes=0*4;threads=contiguous;pages=first-touch;nodes=0", 4)
SMALL = ("1", "3")

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]


def said(command: list[str], environment: dict[str, str] | None = None, threads: int = 4) -> tuple[int, str, str]:
    known = {**(environment or os.environ), "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=known)
    return done.returncode, done.stdout, done.stderr


def compiled(compiler: str, source: Path, to: Path, *options: str) -> list[str]:
    if not compiler:
        pytest.skip("this compiler is not installed")
    linked = ("-lnuma",) if source == HINTED else ()
    subprocess.run([compiler, *STRICT, *options, "-o", to, source, *linked], check=True)
    return [str(to)]


@pytest.mark.parametrize(
    ("compiler", "options"),
    [
        (GCC, ()),
        (GCC, ("-std=c99", "-pedantic", "-fno-pie", "-no-pie")),
        (GCC, ("-O0", "-fno-pie", "-no-pie")),
        (CLANG, ("-std=c11", "-pedantic")),
        (CLANG, ("-fno-pie", "-no-pie")),
    ],
)
def test_an_example_prints_the_same_under_the_library_which_it_finds(
    compiler: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    program = compiled(compiler, EXAMPLE, tmp_path / "twisted", *options)
    without = said([*program, *SMALL])
    assert without[0] == 0
    assert without[1].startswith("twisted steps=3 sum=")
    assert said([*program, *SMALL], ON_ONE_NODE) == without


CODES = """
#include <numapredict.h>
#include <cstdio>
int main() {
    static char buffer[1 << 20];
    void *own = numapredict_allocate(1 << 20);
    std::printf("%d %d %d %d %d %d %d\\n", numapredict_attach(own, 1 << 20), numapredict_attach(buffer, sizeof buffer),
                numapredict_attach_chunks(own, 1 << 20, 0), numapredict_attach_on_next_touch(own, 1 << 20),
                numapredict_move_on_next_touch(own, 1 << 20), numapredict_team_work(2), numapredict_team_work(-2));
    std::free(own);
}
"""


@pytest.mark.parametrize("options", [(), ("-fno-pie", "-no-pie")])
def test_calls_of_cpp_do_something_only_under_the_library(options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "codes.cpp").write_text(CODES)
    program = compiled(GXX, tmp_path / "codes.cpp", tmp_path / "codes", "-std=c++11", "-pedantic", *options)
    assert said(program) == (0, "-1 -1 -1 -1 -1 -1 -1\n", "")
    assert said(program, ON_ONE_NODE) == (0, "0 0 0 0 0 0 -1\n", "")
    static = compiled(GXX, tmp_path / "codes.cpp", tmp_path / "static", "-static")
    assert said(static, ON_ONE_NODE) == (0, "-1 -1 -1 -1 -1 -1 -1\n", "")
    adapting = ON_ONE_NODE | {"NUMAPLACE": f"{ON_ONE_NODE['NUMAPLACE']};adapt={tmp_path}/none"}
    assert said(program, adapting)[1] == "-1 -1 -1 -1 -1 -1 -1\n"


FORTRAN = """
program codes
    use numapredict
    use, intrinsic :: iso_c_binding
    implicit none
    real(c_double), allocatable, target :: a(:)
    integer(c_size_t) :: bytes
    integer :: i
    integer(c_int) :: code(7)
    code(1) = numapredict_begin()
    allocate (a(100000))
    bytes = size(a, kind=c_size_t)*c_sizeof(1._c_double)
    code(2) = numapredict_attach(c_loc(a), bytes)
    code(3) = numapredict_attach_chunks(c_loc(a), bytes, 0_c_size_t)
    code(4) = numapredict_team_work(1._c_double)
    !$omp parallel do
    do i = 1, size(a)
        a(i) = i
    end do
    !$omp end parallel do
    code(5) = numapredict_move_on_next_touch(c_loc(a), bytes)
    code(6) = numapredict_attach_on_next_touch(c_loc(a), bytes)
    code(7) = numapredict_attach(c_null_ptr, bytes)
    print '(7i3, f14.1)', code, sum(a)
end program codes
"""


@pytest.mark.parametrize("options", [(), ("-fno-pie", "-no-pie")])
def test_fortran_has_the_same_calls(options: tuple[str, ...], tmp_path: Path) -> None:
    if not GFORTRAN:
        pytest.skip("gfortran is not installed")
    (tmp_path / "codes.f90").write_text(FORTRAN)
    sources = [headers_folder() / "numapredict.f90", tmp_path / "codes.f90"]
    program = tmp_path / "codes"
    flags = ("-Wall", "-Wextra", "-Werror", "-fopenmp", "-J", str(tmp_path))
    subprocess.run([GFORTRAN, *flags, *options, "-o", program, *sources], check=True)
    assert said([str(program)]) == (0, " -1 -1 -1 -1 -1 -1 -1  5000050000.0\n", "")
    assert said([str(program)], ON_ONE_NODE) == (0, "  0  0  0  0  0  0 -1  5000050000.0\n", "")


@pytest.mark.parametrize("compiler", [GCC, CLANG])
def test_no_call_does_harm(compiler: str, tmp_path: Path) -> None:
    program = compiled(compiler, HINTED, tmp_path / "hinted")
    for way in ("bad", "again", "attach-next", "move-next", "nested"):
        code, out, _ = said([*program, way])
        placed_code, placed_out, placed_err = said([*program, way], ON_ONE_NODE)
        assert (placed_code, placed_out) == (code, out) == (0, out), (way, placed_err)
        assert way != "bad" or placed_err == "bad 0\n"


def test_run_takes_a_program_with_hints_without_a_mapping(tmp_path: Path) -> None:
    program = compiled(GCC, EXAMPLE, tmp_path / "twisted")
    done = numapredict("run", *program, *SMALL, NUMAPREDICT_CACHE=str(tmp_path / "cache"), OMP_NUM_THREADS="2")
    assert (done.returncode, done.stdout) == said([*program, *SMALL], threads=2)[:2], done
    assert "yet: its threads and memory go by what it says (numapredict.h)" in done.stderr
