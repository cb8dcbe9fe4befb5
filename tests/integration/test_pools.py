"""Pools of threads that a program or its libraries start: those that work have a PU each, and idle ones take none."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import PlacedPool, read_map
from tests.command import numapredict
from tests.preloaded import GCC, SOURCES, built, placed

CPUS = sorted(os.sched_getaffinity(0))
GXX = shutil.which("g++") or ""

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not GCC, reason="gcc is not installed"),
    pytest.mark.skipif(len(CPUS) < 2, reason="there is one CPU"),
]

FIRST, OTHER = CPUS[0], CPUS[-1]

LOADER = """
#include <dlfcn.h>
int main(int count, char **words) {
    void *pool = dlopen(words[1], RTLD_NOW);
    return pool ? ((int (*)(int, char **))dlsym(pool, "main"))(count - 1, words + 1) : 1;
}
"""

BLAS = """
import os, sys, time
import numpy
matrix = numpy.random.default_rng(1).random((int(sys.argv[1]),) * 2)
def masks():
    tasks = sorted(map(int, os.listdir("/proc/self/task")))[:2]
    lines = [open(f"/proc/self/task/{task}/status").read().split("Cpus_allowed_list:")[1].split()[0] for task in tasks]
    return lines
while sorted(masks()) != sys.argv[2:] and time.process_time() < 120:
    matrix @ matrix
right = 0
for _ in range(100):
    matrix @ matrix
    right += sorted(masks()) == sys.argv[2:]
print(*sorted(masks()), right)
"""

TBB = """
#include <tbb/parallel_for.h>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>
static std::atomic<int> alone[CPU_SETSIZE];
static void look() {
    cpu_set_t set;
    CPU_ZERO(&set);
    syscall(SYS_sched_getaffinity, 0, sizeof set, &set);
    for (int pu = 0; CPU_COUNT(&set) == 1 && pu < CPU_SETSIZE; pu++)
        if (CPU_ISSET(pu, &set))
            alone[pu] = 1;
}
int main() {
    std::vector<double> a(1 << 18, 1.0);
    int pus = 0;
    for (int n = 0; n < 200 || (pus < 2 && clock() < 60L * CLOCKS_PER_SEC); n++) {
        tbb::parallel_for(tbb::blocked_range<size_t>(0, a.size()), [&](const tbb::blocked_range<size_t> &part) {
            look();
            for (size_t i = part.begin(); i < part.end(); i++)
                a[i] = a[i] * 0.5 + std::sqrt(a[i]);
        });
        pus = 0;
        for (auto &seen : alone)
            pus += seen;
    }
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    std::printf("%.6f %d %d\\n", a[7], pus, CPU_COUNT(&set)); // the C library's answer: all of the mapping's
    return 26;
}
"""


def settings(folder: Path) -> str:
    """Return a mapping of two threads on two CPUs, with a map."""
    return f"cpus={FIRST},{OTHER};homes=0*2;threads=contiguous;pages=bind;nodes=0;map={folder / 'map'}"


def pool_of(folder: Path) -> PlacedPool:
    """Return what the only process with a pool said of it."""
    found = read_map(folder / "map")
    assert found is not None
    (pool,) = found.pools
    return pool


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=placed(settings(folder), 2), check=False, capture_output=True, text=True, timeout=600
    )


@pytest.fixture(scope="module", params=["program", "library"])
def pool(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the program that computes in a pool, which the executable itself starts or a library of it."""
    folder = tmp_path_factory.mktemp("pool")
    if request.param == "program":
        return [str(built("pool.c", folder, GCC))]
    (folder / "loader.c").write_text(LOADER)
    subprocess.run([GCC, folder / "loader.c", "-o", folder / "loader"], check=True)
    library = folder / "pool.so"
    subprocess.run([GCC, "-O1", "-shared", "-fPIC", "-pthread", SOURCES / "pool.c", "-o", library], check=True)
    return [str(folder / "loader"), str(library)]


@pytest.mark.parametrize(
    ("workers", "main", "idle", "alone"),
    [(1, 1, 0, 2), (2, 0, 0, 2), (1, 1, 3, 2), (2, 0, 3, 2), (3, 1, 0, 2), (1, 0, 1, 1)],
)
def test_threads_that_work_have_a_pu_each_and_idle_ones_none(
    pool: list[str], workers: int, main: int, idle: int, alone: int, tmp_path: Path
) -> None:
    done = run([*pool, *map(str, (workers, main, idle, 2))], tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (26, f"{alone} of {workers + main} alone\n", "")
    found = pool_of(tmp_path)
    assert (found.threads, found.worked, found.main_works) == (workers + idle, workers, bool(main))
    bound = found.bound + (found.main_works and found.main_bound)
    assert bound == alone if workers + main <= 2 else bound >= alone  # a thread that ends leaves its PU to another


def test_a_thread_that_binds_itself_keeps_its_pu_and_others_leave_it(pool: list[str], tmp_path: Path) -> None:
    """The worker goes to the PU of the main thread's slot, which moves away."""
    done = run([*pool, "1", "1", "2", "2", str(FIRST)], tmp_path)
    assert (done.returncode, done.stdout) == (26, "2 of 2 alone\n")


@pytest.mark.parametrize("size", [300, 900])
def test_openblas_and_the_main_thread_have_a_pu_each(size: int, tmp_path: Path) -> None:
    command = [sys.executable, "-c", BLAS, str(size), *sorted(map(str, (FIRST, OTHER)))]
    environment = {**placed(settings(tmp_path), 2), "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout.split()) == (0, [*sorted(map(str, (FIRST, OTHER))), "100"])
    found = pool_of(tmp_path)
    assert (found.main_works, found.threads) == (True, 1)


@pytest.mark.skipif(not Path("/usr/include/tbb/parallel_for.h").exists(), reason="oneTBB is not installed")
def test_onetbb_is_bound_and_sees_all_pus(tmp_path: Path) -> None:
    (tmp_path / "app.cpp").write_text(TBB)
    subprocess.run([GXX, "-O1", tmp_path / "app.cpp", "-o", tmp_path / "app", "-ltbb"], check=True)
    done = run([str(tmp_path / "app")], tmp_path)
    assert (done.returncode, done.stdout) == (26, "4.000000 2 2\n")
    assert pool_of(tmp_path).threads == 1


def test_an_idle_pool_takes_no_pu_from_openmp_threads(tmp_path: Path) -> None:
    """The threads of the region are bound as without the pool, and the region has them from its first instance on."""
    program = built("beside_pool.c", tmp_path, GCC)
    for idle in ("0", "5"):
        done = run([str(program), idle], tmp_path)
        assert (done.returncode, done.stdout) == (0, f"{FIRST} {OTHER}\n" * 300)
    found = pool_of(tmp_path)
    assert (found.threads, found.worked, found.main_works, found.main_bound) == (5, 0, True, True)


def test_the_run_says_which_threads_were_bound(pool: list[str], tmp_path: Path) -> None:
    mapping = ("--mapping", "2x1-contiguous-bind", "-o", "run.json")
    done = numapredict("run", "--verify", *mapping, "--", *pool, "2", "0", "1", "2", cwd=tmp_path)
    assert done.returncode == 26, done.stderr
    assert "verify: main thread only waits" in done.stderr
    assert "of 2 pool threads " in done.stderr
    (found,) = json.loads((tmp_path / "run.json").read_text())["placement"]["pools"]
    assert (found["main_works"], found["threads"], found["worked"]) == (False, 3, 2)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the program that asks the kernel for what a process with threads may ask."""
    return str(built("pool_calls.c", tmp_path_factory.mktemp("calls"), GCC))


def test_a_program_with_threads_may_set_its_user(calls: str, tmp_path: Path) -> None:
    """The C library has each thread of the process do it, and waits for it."""
    done = run([calls, "ids"], tmp_path)
    assert (done.returncode, done.stdout) == (0, "0 0\n")


def test_threads_that_end_by_the_kernel_alone_are_looked_after_no_more(calls: str, tmp_path: Path) -> None:
    """Their memory is used again by the next: six ended so, and six by the C library."""
    done = run([calls, "exits"], tmp_path)
    assert (done.returncode, done.stdout) == (0, "ended\n")
    assert pool_of(tmp_path).threads == 12


def test_threads_keep_the_masks_that_they_set_without_the_c_library(calls: str, tmp_path: Path) -> None:
    """By a system call's number, by libnuma, and by a call that the preload library does not see."""
    done = run([calls, "own", str(OTHER), str(FIRST)], tmp_path)
    assert (done.returncode, done.stdout) == (0, "000\n")


def test_once_its_threads_have_ended_a_program_is_alone(calls: str, tmp_path: Path) -> None:
    """The kernel gives it what it refuses a process with threads, and it forks as one without."""
    for _ in range(10):
        done = run([calls, "alone"], tmp_path)
        assert (done.returncode, done.stdout) == (0, "0 1\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="the limit is per user, and another user is needed")
def test_a_program_may_have_all_threads_that_its_limit_allows(calls: str, tmp_path: Path) -> None:
    alone = subprocess.run([calls, "limit"], check=True, capture_output=True, text=True, timeout=600)
    done = run([calls, "limit"], tmp_path)
    assert (done.returncode, done.stdout) == (0, alone.stdout)
    assert "5 threads" in alone.stdout
