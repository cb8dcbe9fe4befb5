"""Large blocks that a program allocates and frees again and again, under a profile, beside some that stay."""

import os
import shutil
import subprocess
from collections import Counter

import pytest

from numapredict.collect.placing.profile_file import Profile, read_profile
from numapredict.native.library import placement_library

GCC = shutil.which("gcc") or ""
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
enum { STAY = 8, PAGES = 50, BLOCKS = 20000 };
static char *stay[STAY];
__attribute__((noinline)) static char *make(size_t bytes) {
    char *block = malloc(bytes);
    if (!block)
        abort();
    memset(block, 1, bytes);
    return block;
}
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(void) {
    long sum = 0;
#pragma omp parallel for
    for (int i = 0; i < BLOCKS; i++)
        free(make(20 * 4096));
    for (int i = 0; i < STAY; i++)
        stay[i] = make((PAGES + i + 1) * 4096); /* by the same call as those that went */
    for (const double until = now() + 1.5; now() < until;)
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < STAY * PAGES; i++)
            sum += stay[i / PAGES][(1 + i % PAGES) * 4096];
    printf("%d\n", sum > 0);
    return 26;
}
"""

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="no gcc")]


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    folder = tmp_path_factory.mktemp("short-lived")
    (folder / "app.c").write_text(PROGRAM)
    subprocess.run([GCC, "-O2", "-fopenmp", folder / "app.c", "-o", folder / "app"], check=True)
    cpus = sorted(os.sched_getaffinity(0))
    text = f"version=1;cpus={cpus[0]},{cpus[-1]};homes=0*2;threads=contiguous;pages=first-touch;nodes=0"
    environment = {
        **os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", "LD_PRELOAD": str(placement_library()),
        "NUMAPLACE": f"{text};profile={folder / 'profile'}",
    }  # fmt: skip
    run = subprocess.run([folder / "app"], env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (26, "1\n", "")
    return read_profile(folder / "profile")


def test_of_blocks_that_are_freed_soon_some_stand_for_all(profile: Profile) -> None:
    counted = Counter(one.stands_for for one in profile.ranges if one.size_bytes == 20 * 4096)
    assert 500 < counted[32] < 20_000 / 32 + 100
    assert counted[1] < 500
    assert sum(stands_for * number for stands_for, number in counted.items()) == pytest.approx(20_000, rel=0.1)
    assert profile.dropped == 0


def test_what_stays_is_profiled_though_its_site_s_blocks_are_left_out(profile: Profile) -> None:
    stayed = [one for one in profile.ranges if one.size_bytes > 50 * 4096]
    assert len({one.size_bytes for one in stayed}) == len(stayed) == 8
    assert {one.stands_for for one in stayed} == {1}
    assert all(one.waits.sum() > 0 for one in stayed)
