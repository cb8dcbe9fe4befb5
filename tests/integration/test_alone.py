"""Next touch: a region of one thread does not say who uses a page, whichever compiler the program is from."""

import os
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import read_map
from tests.preloaded import CLANG, GCC, built, placed

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

CPU, PAGES = min(os.sched_getaffinity(0)), 64
MAPPING = f"cpus={CPU}*4;homes=0*2,1*2;threads=contiguous;nodes=0,1"


@pytest.mark.parametrize("compiler", [compiler for compiler in (GCC, CLANG) if compiler])
@pytest.mark.parametrize("pages", ["locality", "mix"])
@pytest.mark.parametrize("alone", ["0", "200"])
def test_pages_follow_the_team_and_not_the_thread_that_initialised_them(
    compiler: str, pages: str, alone: str, tmp_path: Path
) -> None:
    """GCC starts `parallel if(0)` as a region of one thread: mix took what another node's threads use for shared.

    Instances of a region with one thread use up none of the instances in which its pages are observed.
    """
    program = built("alone.c", tmp_path, compiler)
    environment = placed(f"{MAPPING};pages={pages};map={tmp_path / 'map'}", 4)
    subprocess.run([program, str(PAGES), "203", alone], env=environment, check=True, timeout=240)
    found = read_map(tmp_path / "map")
    assert found is not None
    (array,) = (known for known in found.ranges if known.pages == PAGES and known.module == str(program))
    wanted = [run.wanted for run in array.runs for _ in range(run.count)]
    assert wanted == [0] * (PAGES // 2) + [1] * (PAGES // 2)
