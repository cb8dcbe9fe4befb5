"""The preload library on arm64: built by a cross compiler and run in QEMU's user mode.

Threads, regions and page-access profiles are tested there. It has no NUMA calls, so that nothing says where pages are,
and none to read a stack with (process_vm_readv).
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import read_map
from numapredict.collect.placing.profile_file import read_profile
from numapredict.collect.placing.region_times import read_region_times

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "native"
COMPILER, EMULATOR = (shutil.which(name) or "" for name in ("aarch64-linux-gnu-gcc", "qemu-aarch64"))
LIBRARIES = Path("/usr/aarch64-linux-gnu")
ALLOWED = sorted(os.sched_getaffinity(0))
SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#define N (1l << 19)
int main(int count, char **word) {
    const int steps = count > 1 ? atoi(word[1]) : 5;
    double *a = calloc(N, sizeof *a), sum = 0;
    for (int step = 0; step < steps; step++) {
#pragma omp parallel for
        for (long i = 0; i < N; i++)
            a[i] += (double)(i % 7);
    }
    for (long i = 0; i < N; i++)
        sum += a[i];
    printf("%.0f\\n", sum);
    return 26;
}
"""

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not (COMPILER and EMULATOR), reason="no gcc-aarch64-linux-gnu or qemu-user"),
    pytest.mark.skipif(not NATIVE.is_dir(), reason="the C sources are missing"),
    pytest.mark.skipif(len(ALLOWED) < 2, reason="one PU"),
]


@dataclass(frozen=True)
class Arm:
    """A folder with the library and a program for arm64."""

    folder: Path

    def run(self, *words: str, preload: bool, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run the program with two threads, with the library's settings."""
        text = {
            "version": "1",
            "cpus": f"{ALLOWED[0]},{ALLOWED[1]}",
            "homes": "0*2",
            "threads": "contiguous",
            "pages": "first-touch",
            "nodes": "0",
        } | settings
        variable = ";".join(f"{key}={value}" for key, value in text.items())
        environment: Mapping[str, str] = os.environ | {"OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "false"}
        library = ["-E", f"LD_PRELOAD={self.folder / 'libnumaplace.so'}"] if preload else []
        return subprocess.run(
            [EMULATOR, "-L", LIBRARIES, *library, self.folder / "program", *words],
            env={**environment, "NUMAPLACE": variable},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Arm:
    folder = tmp_path_factory.mktemp("arm64")
    placement = NATIVE / "placement"
    sources = chain((NATIVE / "regions").glob("*.c"), placement.glob("*.c"), placement.glob("*/*.c"))
    words = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden")
    subprocess.run(
        [COMPILER, *words, "-funwind-tables", f"-I{placement}", *sources, "-o", folder / "libnumaplace.so"], check=True
    )
    (folder / "program.c").write_text(SOURCE)
    subprocess.run([COMPILER, "-O1", "-fopenmp", folder / "program.c", "-o", folder / "program"], check=True)
    return Arm(folder)


def test_a_program_is_as_without_the_library_and_its_regions_and_threads_are_seen(arm: Arm, tmp_path: Path) -> None:
    plain = arm.run(preload=False)
    placed = arm.run(preload=True, pages="locality", report=str(tmp_path / "report"), map=str(tmp_path / "map"))
    assert (placed.stdout, placed.stderr, placed.returncode) == (plain.stdout, plain.stderr, 26)
    times = read_region_times(tmp_path / "report")
    assert times is not None
    assert [(region.name, region.count, region.team) for region in times.regions] == [("main._omp_fn.0", 5, 2)]
    placement = read_map(tmp_path / "map")
    assert placement is not None
    assert [(thread.pu, thread.wrong) for thread in placement.threads] == [(ALLOWED[0], 0), (ALLOWED[1], 0)]
    assert min(thread.right for thread in placement.threads) >= 5


def test_a_profile_knows_what_was_allocated_and_who_touches_it(arm: Arm, tmp_path: Path) -> None:
    """The program runs for seconds: pages are watched one at a time."""
    assert arm.run("60", preload=True, profile=str(tmp_path / "profile")).returncode == 26
    profile = read_profile(tmp_path / "profile")
    (data,) = (one for one in profile.ranges if one.size_bytes >= 4 << 20)
    assert Path(data.module).name == "program"
    slots = profile.samples["slot"][data.first : data.first + data.count]
    pages = profile.samples["page"][data.first : data.first + data.count]
    assert len(slots) >= 4
    assert set(slots[pages < data.pages // 2 - 1]) == {0}
    assert 1 in slots[pages > data.pages // 2 + 1]  # thread 0 sums all up at the end
