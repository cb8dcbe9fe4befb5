"""Forked children of a program under the library: its files are the parent's alone, or each counts from zero."""

import os
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import read_map
from numapredict.collect.placing.profile_file import read_profile
from numapredict.collect.placing.region_times import read_region_times
from tests.preloaded import GCC, built, placed

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

CPU = min(os.sched_getaffinity(0))
MAPPING = f"cpus={CPU}*2;homes=0*2;threads=contiguous;nodes=0,1;pages="
FILES = ("map", "profile", "report")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("fork.c", tmp_path_factory.mktemp("fork"), GCC)


def files_of(program: Path, end: str, pages: str, folder: Path, *, forks: bool = False) -> set[str]:
    """Run the program until it ends in this way, and return the names of the files that were written."""
    settings = "".join(f";{name}={folder / name}" for name in FILES)
    environment = placed(MAPPING + pages + settings + (";forks=1" if forks else ""), 2)
    done = subprocess.run([program, end], env=environment, check=True, capture_output=True, text=True, timeout=120)
    assert done.stdout == ("7\n" if end == "exit" else "")
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("pages", ["first-touch", "locality"])
def test_a_child_writes_nothing_but_that_it_is_not_profiled(program: Path, tmp_path: Path, pages: str) -> None:
    # The parent leaves by _exit: then the regions are written, as they end, and the profile.
    assert files_of(program, "_exit", pages, tmp_path) == {"report", "profile", "report.unprofiled"}
    assert (tmp_path / "report.unprofiled").read_text() == "forked\n"
    times = read_region_times(tmp_path / "report")
    assert times is not None
    assert [region.count for region in times.regions] == [4]


@pytest.mark.parametrize("pages", ["first-touch", "locality"])
def test_the_parents_files_hold_nothing_of_the_childs(program: Path, tmp_path: Path, pages: str) -> None:
    assert files_of(program, "exit", pages, tmp_path) == {*FILES, "report.unprofiled"}
    found = read_map(tmp_path / "map")
    assert found is not None
    assert len({thread.process for thread in found.threads} | {placed.process for placed in found.ranges}) == 1
    assert {thread.slot for thread in found.threads} == {0, 1}
    times = read_region_times(tmp_path / "report")
    assert times is not None
    assert [(region.count, region.team) for region in times.regions] == [(7, 2)]
    assert read_profile(tmp_path / "profile").slots == 2


@pytest.mark.parametrize("pages", ["first-touch", "locality"])
def test_a_child_that_counts_begins_at_zero(program: Path, tmp_path: Path, pages: str) -> None:
    assert files_of(program, "exit", pages, tmp_path, forks=True) == {*FILES, "report.2", "report.unprofiled"}
    parent, child = (read_region_times(tmp_path / name) for name in ("report", "report.2"))
    assert parent is not None
    assert child is not None
    assert [(region.count, region.team) for region in parent.regions] == [(7, 2)]
    assert [(region.count, region.team) for region in child.regions] == [(100, 1)]
    assert (parent.forked_from, child.forked_from) == (None, parent.process)
    found = read_map(tmp_path / "map")
    assert found is not None
    assert [(one.process, one.parent) for one in found.forked] == [(child.process, parent.process)]
    slots = {(thread.process, thread.slot): thread.right for thread in found.threads}
    assert set(slots) == {(parent.process, 0), (parent.process, 1), (child.process, 0)}
    assert slots[child.process, 0] in (100, 101)  # and once at its end
    assert all(run.wanted == -1 for placed in found.of({child.process or 0}).ranges for run in placed.runs)
