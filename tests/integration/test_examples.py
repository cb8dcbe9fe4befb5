"""The examples do what their first lines say: their output, and what numapredict says of them, modelled."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.mapping import parse_label
from numapredict.native.library import headers_folder
from tests.command import SANDY, numapredict
from tests.integration.test_variables import sampled
from tests.openmp import CAN_TRACE, CLANG, GCC, GXX

EXAMPLES = Path(__file__).parents[2] / "examples"
GFORTRAN = shutil.which("gfortran") or ""
CLANGXX = shutil.which("clang++") or ""
COMPILERS = {".c": (GCC, CLANG), ".cpp": (GXX, CLANGXX), ".f90": (GFORTRAN,)}
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-I", str(headers_folder()))
# Small arguments, and what is printed, with any number of threads.
PRINTED = {
    "vectors.cpp": (("100000", "5"), "vectors values=100000 steps=5 mean="),
    "waves.f90": (("100", "5"), "waves n=100 steps=5 energy="),
    "ticks.c": (("64", "10"), "ticks cells=64 steps=10 sum=1000.000000"),
    "poisson.c": (("12", "40"), "poisson n=12 steps="),
    "twisted.c": (("1", "3"), "twisted steps=3 sum="),
}
pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (GCC and CLANG and GXX and CLANGXX), reason="gcc, g++, clang or clang++ is not installed"),
    pytest.mark.skipif(not GFORTRAN, reason="gfortran is not installed"),
]
traced = pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed")


def built(name: str, folder: Path, compiler: str = "") -> Path:
    source = EXAMPLES / name
    program = folder / source.stem
    words = [compiler or COMPILERS[source.suffix][0], *WARNINGS, "-g", "-O2", "-fopenmp", str(source)]
    subprocess.run([*words, "-o", str(program), "-lm"], check=True)
    return program


def said(program: Path, *words: str, threads: int = 2) -> subprocess.CompletedProcess[str]:
    environment = {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    return subprocess.run([program, *words], capture_output=True, text=True, check=False, env=environment, timeout=240)


def advised(program: Path, *words: str) -> dict[str, object]:
    done = numapredict("predict", *SANDY, "--json", str(program), *words)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("name", "compiler"), [(name, compiler) for name in PRINTED for compiler in COMPILERS[Path(name).suffix]]
)
def test_it_builds_without_warnings_and_prints_the_same_with_any_number_of_threads(
    name: str, compiler: str, tmp_path: Path
) -> None:
    words, start = PRINTED[name]
    program = built(name, tmp_path, compiler)
    one, three = said(program, *words, threads=1), said(program, *words, threads=3)
    assert (one.returncode, three.returncode) == (0, 0)
    assert one.stdout.startswith(start)
    numbers = [float(done.stdout.rsplit("=", 1)[1]) for done in (one, three)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-6)
    wrong = said(program, "1", "0")
    assert wrong.returncode == 2
    assert f"usage: {program.name} " in wrong.stderr


def test_the_solver_finds_the_potential(tmp_path: Path) -> None:
    """Of opposite charges it is antisymmetric, and its residual falls by 1e8 where steps suffice."""
    printed = said(built("poisson.c", tmp_path), "12", "400").stdout
    assert float(printed.partition("residual=")[2].split()[0]) <= 1e-8
    assert 0.2 < float(printed.rsplit("=", 1)[1]) < 0.6


@traced
def test_one_node_is_faster_for_many_short_steps_and_a_search_finds_it(tmp_path: Path) -> None:
    found = advised(built("ticks.c", tmp_path), "4096", "60")
    assert parse_label(str(found["mapping"])).thread_nodes == 1
    assert isinstance(found["speedup"], float)
    assert found["speedup"] > 1.5


@traced
@pytest.mark.parametrize(("name", "words"), [("poisson.c", ("80", "20")), ("waves.f90", ("2000", "20"))])
def test_what_one_thread_initialised_is_to_be_spread(name: str, words: tuple[str, ...], tmp_path: Path) -> None:
    found = advised(built(name, tmp_path), *words)
    assert parse_label(str(found["mapping"])).page_policy != "first-touch"
    assert isinstance(found["speedup"], float)
    assert found["speedup"] > 1.05


@sampled
def test_the_vectors_of_the_fault_are_named_with_their_lines(tmp_path: Path) -> None:
    program = built("vectors.cpp", tmp_path)
    done = numapredict("variables", *SANDY, "--json", str(program), "1000000", "300")
    assert done.returncode == 0, done.stderr
    variables = json.loads(done.stdout)["variables"]
    actions = {variable["name"]: variable["remedy"]["action"] for variable in variables}
    assert actions == {"prices": "initialise in parallel", "means": "initialise in parallel", "weights": "nothing"}
