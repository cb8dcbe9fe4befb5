"""Programs without an OpenMP runtime: their own threads are what pages follow, until a runtime comes after all."""

import os
import platform
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import read_map
from tests.preloaded import CLANG, GCC, SOURCES, placed

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

CPU = min(os.sched_getaffinity(0))
MAPPING = f"cpus={CPU}*4;homes=0,1,0,1;threads=contiguous;nodes=0,1"
COMPILERS = [compiler for compiler in (GCC, CLANG) if compiler]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the program changes its stack by x86-64 instructions")
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("start", ["pthread", "c11"])
@pytest.mark.parametrize("pages", ["locality", "balance", "mix", "first-touch;profile={folder}/profile"])
def test_threads_may_go_on_on_stacks_in_the_heap(compiler: str, start: str, pages: str, tmp_path: Path) -> None:
    program = tmp_path / "switched"
    subprocess.run([compiler, "-O1", "-pthread", "-o", program, SOURCES / "switched.c"], check=True)
    environment = placed(f"{MAPPING};pages={pages.format(folder=tmp_path)}", 4)
    done = subprocess.run([program, start], env=environment, check=False, capture_output=True, text=True, timeout=240)
    assert (done.returncode, done.stdout) == (0, "350000\n" * 4)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_regions_that_come_later_take_over(compiler: str, tmp_path: Path) -> None:
    """A thread of the program's own is at work all the while; were that still the region, OpenMP's would be none."""
    loader, module = tmp_path / "loader", tmp_path / "module.so"
    subprocess.run([compiler, "-O1", "-pthread", "-o", loader, SOURCES / "team_loader.c"], check=True)
    subprocess.run([compiler, "-O1", "-fopenmp", "-shared", "-fPIC", "-o", module, SOURCES / "module.c"], check=True)
    alone = subprocess.run([loader, module], check=True, capture_output=True, text=True, timeout=240).stdout
    environment = placed(f"{MAPPING};pages=locality;map={tmp_path / 'map'}", 4)
    done = subprocess.run([loader, module], env=environment, check=True, capture_output=True, text=True, timeout=240)
    assert done.stdout == alone
    found = read_map(tmp_path / "map")
    assert found is not None
    arrays = {known.key[3]: known for known in found.ranges if known.module == str(module) and known.pages >= 255}
    assert set(arrays) == {0, 1}
    # The second: libomp makes itself ready in the first region, by calls for which everything is open.
    assert sum(run.count for run in arrays[1].runs if run.wanted >= 0) >= 255
