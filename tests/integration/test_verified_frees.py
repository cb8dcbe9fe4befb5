"""`--verify` on a program that frees memory all the time: it looks at what it can afford, and says what it left out."""

import os
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import read_map
from tests.preloaded import GCC, built, placed

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

CPU = min(os.sched_getaffinity(0))
MAPPING = f"cpus={CPU}*2;homes=0*2;threads=contiguous;nodes=0;pages=bind"
PAGES = (63, 64)  # of an array: whole ones


def looked_at(folder: Path, times: int) -> tuple[int, int]:
    """Return of how many arrays a run asked where the pages were, and of how many it did not."""
    program = built("frees_often.c", folder, GCC)
    settings = f"{MAPPING};map={folder / 'map'}"
    subprocess.run([program, str(times)], env=placed(settings, 2), check=True, timeout=240)
    found = read_map(folder / "map")
    assert found is not None
    arrays = [one for one in found.ranges if one.pages in PAGES and one.kind in {1, 3}]
    return len(arrays), found.unasked


def test_all_that_a_program_frees_is_looked_at_where_it_is_little(tmp_path: Path) -> None:
    assert looked_at(tmp_path, 5) == (5, 0)


def test_of_what_is_freed_all_the_time_it_looks_at_what_it_can_afford(tmp_path: Path) -> None:
    asked, left = looked_at(tmp_path, 200000)
    assert asked + left == 200000
    assert 100 <= asked < 150000
