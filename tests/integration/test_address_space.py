"""The preload library takes little address space, and a program with little of it left runs as without the library."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.preloaded import CLANG, GCC, built, placed

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

MOST_KB, MOST_KB_PER_THREAD = 6496, 160  # beside the program's own; a thread gets a signal stack and a queue of pages
PROFILE_KB = 1408 + 1024  # a profile's, with a report and a map: call stacks, first touches, and where each range was
COMPUTING_S = 0.3  # until then a profile's thread, which is the only one that the library starts, has begun
CPU = min(os.sched_getaffinity(0))
POLICIES = (
    "first-touch",
    "bind",
    "remote",
    "interleave",
    "locality",
    "balance",
    "mix",
    "dataset;chunks=0*{threads}",
    "first-touch;report={folder}/report",
    "first-touch;profile={folder}/profile",
    "locality;profile={folder}/profile;report={folder}/report;map={folder}/map",
)


@pytest.fixture(scope="module", params=[compiler for compiler in (GCC, CLANG) if compiler])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("address_space.c", tmp_path_factory.mktemp("address_space"), request.param)


@functools.cache
def peak_kb(program: Path, threads: int, settings: str = "", limit_kb: int = 0) -> int:
    """Return the most address space that the program has had, run to its good end; it is run once for all policies."""
    variables = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": str(threads)}
    if program.name.endswith("clang"):
        # libomp's threads allocate. Each then gets a heap of 64 MB, for which the C library first takes twice as much
        # or not, by chance. Of libgomp's none allocates here, and none must come to do so by the library.
        variables["MALLOC_ARENA_MAX"] = "1"
    if settings:
        under = placed(settings, threads)
        variables |= {name: under[name] for name in under if under[name] != os.environ.get(name)}
    limited = ["prlimit", f"--as={limit_kb * 1024}"] if limit_kb else []
    computing_s = COMPUTING_S if "profile=" in settings else 0
    set_ = (f"{name}={value}" for name, value in variables.items())
    command = [*limited, "env", *set_, program, threads, computing_s]
    ended = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")
    return int(ended.stdout)


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="prlimit is not installed")
@pytest.mark.parametrize("policy", POLICIES)
def test_little_is_reserved_and_little_is_enough(program: Path, tmp_path: Path, policy: str) -> None:
    for threads in (1, 8):
        pages = policy.format(threads=threads, folder=tmp_path)
        places = f"cpus={CPU}*{threads};homes=0*{threads};threads=contiguous;nodes=0,1"
        own_kb = MOST_KB + (PROFILE_KB if "profile=" in policy else 0)
        most_kb = peak_kb(program, threads) + own_kb + MOST_KB_PER_THREAD * threads
        assert peak_kb(program, threads, f"{places};pages={pages}") <= most_kb
        assert peak_kb(program, threads, f"{places};pages={pages}", most_kb) <= most_kb
