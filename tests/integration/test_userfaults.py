"""Programs that fill in their pages themselves are told of every page, under every policy, as without the library."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.preloaded import CLANG, GCC, built, placed

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

CPU = min(os.sched_getaffinity(0))
# One node is enough: the kernel refuses policies for the second where it is missing, which cuts memory all the same.
MAPPING = f"cpus={CPU}*3;homes=0,1,0;threads=contiguous;nodes=0,1"
POLICIES = (
    "first-touch",
    "bind",
    "interleave",
    "locality",
    "balance",
    "mix",
    "dataset;chunks=0,1,0",  # in three parts: they end within the pages that are filled in at a time
    "first-touch;profile={folder}/profile",
    "locality;profile={folder}/profile",
)
CASES = (("mapped", 1, 1024), ("heap", 1, 1024), ("mapped", 8, 128), ("device", 8, 128))
NO_USERFAULTFD = 77  # userfaults.c


@pytest.fixture(scope="module", params=[compiler for compiler in (GCC, CLANG) if compiler])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("userfaults.c", tmp_path_factory.mktemp("userfaults"), request.param)


def reported(program: Path, memory: str, batch: int, environment: dict[str, str]) -> tuple[int, str]:
    """Return the exit code, and what the program says of its faults and its memory."""
    words = [str(program), memory, str(batch)]
    ended = subprocess.run(words, env=environment, check=False, capture_output=True, text=True, timeout=120)
    assert ended.stderr == ""
    return ended.returncode, ended.stdout


@pytest.mark.parametrize(("memory", "batch", "faults"), CASES)
def test_every_missing_page_is_reported(program: Path, tmp_path: Path, memory: str, batch: int, faults: int) -> None:
    alone = reported(program, memory, batch, {**os.environ, "OMP_NUM_THREADS": "2"})
    if alone[0] == NO_USERFAULTFD:
        pytest.skip("the kernel does not let this user have a userfaultfd")
    assert alone[0] == 0
    assert alone[1].count(f"\n{faults} faults, sum ") == 3
    for policy in POLICIES:
        settings = f"{MAPPING};pages={policy.format(folder=tmp_path)}"
        assert (policy, reported(program, memory, batch, placed(settings, 2))) == (policy, alone)


def test_a_registration_that_cannot_be_read_is_the_kernels_to_refuse(tmp_path: Path) -> None:
    source, program = tmp_path / "unreadable.c", tmp_path / "unreadable"
    source.write_text(
        "#include <errno.h>\n#include <linux/userfaultfd.h>\n#include <omp.h>\n#include <sys/ioctl.h>\n"
        "int main(void) {\n"
        "    return ioctl(-1, UFFDIO_REGISTER, (void *)8) == -1 && errno == EBADF ? omp_get_num_threads() + 2 : 4;\n"
        "}\n"
    )
    subprocess.run([GCC, "-fopenmp", "-o", program, source], check=True)
    for policy in ("locality", "dataset;chunks=0,1,0"):
        ended = subprocess.run([program], env=placed(f"{MAPPING};pages={policy}", 2), check=False)
        assert (policy, ended.returncode) == (policy, 3)
