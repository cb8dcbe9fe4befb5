"""`numapredict variables` on programs whose OpenMP runtime comes with a library that they load while they run."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from numapredict.predictor.variables.session import Question, ask
from numapredict.predictor.variables.variable import Variables
from tests.command import numapredict, refusal
from tests.integration.test_variables import line, sampled
from tests.openmp import CLANG, GCC

pytestmark = [pytest.mark.native, pytest.mark.skipif(not (GCC and CLANG), reason="no gcc or no clang")]
SOURCES = Path(__file__).parent / "variables"
ON = {"machine": "sandybridge-4x8", "mapping": "2x2-contiguous-first-touch"}
ARRAYS = {("left", 9, 14), ("right", 10, 14)}
"""Of opened.c: name, line of the allocation, and of the first touch."""


def opener(folder: Path, *options: str) -> str:
    program = folder / "opener"
    subprocess.run([GCC, *options, SOURCES / "opener.c", "-o", program, "-ldl"], check=True)
    return str(program)


def library(folder: Path, source: str, *options: str, compiler: str = GCC, name: str = "") -> str:
    made = folder / (name or f"{Path(source).stem}.so")
    command = [compiler, "-g", "-O2", "-fopenmp", "-pthread", "-shared", "-fPIC", *options]
    subprocess.run([*command, SOURCES / source, "-o", made], check=True)
    return str(made)


def answer(*command: str) -> Variables:
    found = ask(Question(command, **ON))
    assert found.exit_code == 26
    return found


def arrays(found: Variables) -> set[tuple[str | None, int | None, int | None]]:
    return {(one.name, line(one.allocated), line(one.first_touch)) for one in found.variables if one.allocated}


@pytest.mark.parametrize("compiler", [GCC, CLANG])
@pytest.mark.parametrize("before", ["nothing", "a thread", "a thread of deep", "an exec", "a fork"])
@sampled
def test_the_arrays_of_a_library_are_named(before: str, compiler: str, tmp_path: Path) -> None:
    made, waiting = library(tmp_path, "opened.c", compiler=compiler), library(tmp_path, "waiting.c")
    words = {
        "nothing": (made,),
        "a thread": (waiting, made),
        "a thread of deep": ("deep", waiting, made),
        "an exec": ("exec", made),
        "a fork": (waiting, "fork", made),
    }
    assert arrays(answer(opener(tmp_path), *words[before])) == ARRAYS


@sampled
def test_a_region_may_be_begun_by_another_thread(tmp_path: Path) -> None:
    made = library(tmp_path, "opened.c", "-DOTHER_THREAD")
    assert arrays(answer(opener(tmp_path), made)) == ARRAYS


@sampled
def test_two_runtimes_may_come_one_after_the_other(tmp_path: Path) -> None:
    """The second comes when the first one's threads exist."""
    words = [library(tmp_path, "opened.c", compiler=one, name=f"{Path(one).name}.so") for one in (GCC, CLANG)]
    found = answer(opener(tmp_path), *words)
    assert arrays(found) == ARRAYS
    regions = {Path(one.place.module).name for one in found.regions if one.place is not None}
    assert regions == {"gcc.so", "clang.so"}


@sampled
def test_a_program_with_openmp_may_fork_before_its_first_region(tmp_path: Path) -> None:
    program, made = opener(tmp_path, "-fopenmp", "-Wl,--no-as-needed"), library(tmp_path, "opened.c")
    assert arrays(answer(program, "fork", made)) == ARRAYS


def test_a_child_of_a_process_with_regions_is_left_alone_and_it_is_said(tmp_path: Path) -> None:
    """libomp makes itself ready anew in a child."""
    one, two = (library(tmp_path, "opened.c", compiler=CLANG, name=f"{name}.so") for name in ("one", "two"))
    done = numapredict("variables", opener(tmp_path), one, "fork", two)
    assert done.returncode == 0, done
    assert "of a further process: its parallel regions" in " ".join(done.stdout.split())


@pytest.mark.parametrize("how", ["-DBLOCKED", "-DRAW"])
def test_a_thread_that_a_fault_would_kill_stops_the_profile(how: str, tmp_path: Path) -> None:
    """Were a page protected all the same, the thread would be killed at it, and the program with it."""
    waiting, made = library(tmp_path, "waiting.c", how), library(tmp_path, "opened.c")
    said = refusal(numapredict("variables", opener(tmp_path), "deep", waiting, made))
    assert "opener left no profile (exit code 26): a thread of its, started by" in said


@sampled
def test_the_arrays_of_a_k_means_in_python_are_seen(tmp_path: Path) -> None:
    script = tmp_path / "clusters.py"
    script.write_text(
        "import numpy as np\n"
        "from sklearn.cluster import KMeans\n"
        "data = np.random.default_rng(1).random((200000, 16))\n"
        "KMeans(8, n_init=1, max_iter=60, tol=0, random_state=1).fit(data)\n"
    )
    found = ask(Question((sys.executable, str(script)), **ON))
    assert found.exit_code == 0
    large = [one for one in found.variables if one.size_bytes >= 200000 * 16 * 8]
    assert large
    assert large[0].allocated is not None
    assert not large[0].allocated.frame.function or "PyDataMem" not in large[0].allocated.frame.function
    places = [region.place for region in found.regions if region.place is not None]
    assert any("_k_means" in place.module for place in places)


def test_a_program_without_a_region_is_told_so(tmp_path: Path) -> None:
    waiting = library(tmp_path, "waiting.c")
    said = refusal(numapredict("variables", opener(tmp_path), waiting))
    assert "left no profile (exit code 26): no parallel region was seen" in said


def test_tools_that_the_program_starts_leave_nothing(tmp_path: Path) -> None:
    """The compiler has large blocks, opens a library (its plugin), and starts processes."""
    (tmp_path / "app.c").write_text("int main(void) { return 0; }\n")
    shell = shutil.which("sh") or "sh"
    said = refusal(numapredict("variables", shell, "-c", f"{GCC} -O2 app.c -o app && ./app", cwd=tmp_path))
    assert "no parallel region was seen" in said
