"""Blocks too small to be ranges: rows, nodes, vectors of vectors, each group with its name, first touch and plan."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.owned_pages import owned_pages
from numapredict.collect.placing.page_plan import plan_of
from numapredict.collect.placing.profile_file import BLOCKS, Profile, ProfiledRange, read_profile
from numapredict.native.library import placement_library
from numapredict.predictor.variables.session import Question, ask
from numapredict.predictor.variables.variables_text import variables_in_words
from tests.integration.test_variables import ON, built, line, sampled
from tests.openmp import GCC, GXX
from tests.shapes import shape

pytestmark = [pytest.mark.native, pytest.mark.skipif(not (GCC and GXX), reason="no gcc")]
HEAT = Path(__file__).parents[2] / "examples" / "heat.c"
ROWS, PAGES = 512, 4  # of groups.c


@sampled
def test_heat_has_three_arrays_of_rows_that_the_first_thread_fills(tmp_path: Path) -> None:
    program = tmp_path / "heat"
    subprocess.run([GCC, "-g", "-O2", "-fopenmp", "-o", program, HEAT], check=True)
    plan = tmp_path / "plan"
    answer = ask(Question((str(program), "2048", "20"), **ON, plan=plan, variables=("conductivity",)))
    found = {one.name: one for one in answer.variables}
    assert set(found) == {"heat", "next", "conductivity"}
    for name, first in (("heat", 30), ("next", 30), ("conductivity", 31)):
        one = found[name]
        assert one.allocations == 2049  # with the array of their addresses
        assert (one.block_bytes, one.first_in_region, one.first_thread) == (16384, False, 0)
        assert (line(one.allocated), line(one.first_touch)) == (67, first)
        assert one.first_touch_known > 0.9
        assert one.pattern.kind == "blocked"
    assert " blocks of 16 KiB, 32 MiB\n" in variables_in_words(answer)
    runs = [words.split()[1:] for words in plan.read_text().splitlines() if words.startswith("run ")]
    first, count = np.array(runs, np.int64)[:, :2].T
    assert count.sum() == pytest.approx(2048 * 4.0, rel=0.01)
    assert first[-1] + count[-1] - first[0] == pytest.approx(count.sum(), rel=0.02)  # and nothing between them
    assert first[0] > 4000 * 4.0  # behind the rows of the two others


CASES = {
    "matrix.cpp": ("matrix", 9, 9, 16384, 1000, "blocked", "initialise in parallel"),
    "grid.cpp": ("temperature.rows", 7, 7, 16384, 1000, "blocked", "initialise in parallel"),
    "tree.c": ("root", 29, 21, 4096, 4000, "shared", "interleave"),
    "short_rows.c": ("wrong[]", 21, 29, 8192, 2000, "blocked", "initialise in parallel"),
    "rows.c": ("rows[]", 15, 21, 128 << 10, 32, "blocked", "initialise in parallel"),
}


@pytest.mark.parametrize("source", CASES)
@sampled
def test_blocks_of_one_call_are_one_variable(source: str, tmp_path: Path) -> None:
    name, allocated, first, block_bytes, blocks, pattern, action = CASES[source]
    answer = ask(Question((str(built(tmp_path, GXX if source.endswith("cpp") else GCC, source)),), **ON))
    (one,) = (one for one in answer.variables if one.name == name)
    assert (line(one.allocated), line(one.first_touch), one.block_bytes) == (allocated, first, block_bytes)
    assert one.allocations >= blocks
    assert (one.first_thread, one.pattern.kind, one.remedy.action) == (0, pattern, action)
    assert "small allocations" not in {other.kind for other in answer.variables if other.touch_share > 0.05}


def run(folder: Path, *words: str, source: str = "groups.c", under: bool = True) -> tuple[Profile | None, str]:
    """Return the profile of a program with two threads, unless it is not to have one, and what it printed."""
    program, path = built(folder, GCC, source), folder / "profile"
    cpus = sorted(os.sched_getaffinity(0))
    text = f"version=1;cpus={cpus[0]},{cpus[-1]};homes=0*2;threads=contiguous;pages=first-touch;nodes=0;profile={path}"
    library = {"LD_PRELOAD": str(placement_library()), "NUMAPLACE": text} if under else {}
    passive = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run([program, *words], env=os.environ | passive | library, capture_output=True, check=True)
    return read_profile(path) if under else None, done.stdout.decode()


def groups(profile: Profile | None, least: int = 100) -> list[ProfiledRange]:
    assert profile is not None
    return [one for one in profile.ranges if one.kind == BLOCKS and one.blocks >= least]


def test_rows_of_every_step_are_the_same_pages(tmp_path: Path) -> None:
    (rows,) = groups(run(tmp_path, "steps")[0])
    assert rows.blocks == ROWS
    assert (rows.pages, rows.block_bytes, rows.size_bytes) == (rows.blocks * PAGES, 16384, rows.blocks * 16384)
    # The threads touch their halves first, in the region.
    assert set(rows.firsts["region"].tolist()) == {1}
    assert set(rows.firsts["slot"].tolist()) == {0, 1}
    half = rows.firsts["page"] < (rows.blocks - ROWS // 2) * PAGES
    assert np.mean(rows.firsts["slot"] == np.where(half, 0, 1)) > 0.95
    assert len(rows.firsts) >= 60


def test_each_of_many_groups_has_its_rows_and_its_first_touch(tmp_path: Path) -> None:
    found = groups(run(tmp_path, source="ten_arrays.c")[0])
    assert len(found) == 10
    assert {one.blocks for one in found} == {1000}
    assert all(set(one.firsts["slot"].tolist()) == {0} for one in found)


@pytest.mark.parametrize("bytes_each", ["8192", "131072"])
def test_pages_that_the_program_protects_itself_are_its_own(bytes_each: str, tmp_path: Path) -> None:
    said = {run(tmp_path, bytes_each, source="rights.c", under=under)[1] for under in (False, True)}
    assert len(said) == 1
    assert not said.pop().startswith("0 ")


def test_a_row_that_realloc_moves_is_of_the_call_that_moved_it(tmp_path: Path) -> None:
    short, long = sorted(groups(run(tmp_path, "longer")[0]), key=lambda one: one.block_bytes)
    assert (short.block_bytes, long.block_bytes) == (8192, 16384)
    assert short.blocks == long.blocks == ROWS
    assert len(np.unique(owned_pages(long).at)) > 0.95 * long.pages
    pages = [
        set(zip(owned.range.tolist(), owned.page.tolist(), strict=True)) for owned in map(owned_pages, (short, long))
    ]
    assert not pages[0] & pages[1]


def test_a_plan_for_a_group_is_for_its_pages_alone(tmp_path: Path) -> None:
    there = resolve(parse_label("2x2-contiguous-locality"), shape([1, 1]))
    profile, _ = run(tmp_path, source="short_rows.c")
    assert profile is not None
    found = groups(profile)
    assert len(found) == 2
    pages = [{(known.range.order, page) for known in plan_of(profile, there, [one]).ranges
              for first, count, _ in known.runs for page in range(first, first + count)} for one in found]  # fmt: skip
    assert not pages[0] & pages[1]
    for one, own in zip(found, pages, strict=True):
        # A row of 8 KiB behind 16 bytes shares two pages, of which the larger part counts.
        assert len(own) == pytest.approx(2.0 * one.blocks, rel=0.02)


@pytest.mark.thorough
def test_very_many_blocks_are_one_group_in_little_memory(tmp_path: Path) -> None:
    blocks = 100_000
    profile, beside = run(tmp_path, "many", str(blocks))
    assert int(beside) - int(run(tmp_path, "many", str(blocks), under=False)[1]) < blocks * 4 * 0.05  # KiB
    (nodes,) = groups(profile)
    assert nodes.blocks == blocks
    assert len(nodes.firsts) <= 1024


def test_rows_are_followed_after_very_many_blocks_that_did_not_live(tmp_path: Path) -> None:
    (rows,) = groups(run(tmp_path, "after", "3000000")[0])
    assert (rows.blocks, rows.block_bytes) == (ROWS, 16384)


@pytest.mark.thorough
def test_what_is_freed_and_allocated_all_the_time_costs_a_budget(tmp_path: Path) -> None:
    profile, _ = run(tmp_path, "churn", "2000000")
    assert sum(one.blocks for one in groups(profile)) <= 2 * ROWS
    assert profile is not None
    assert profile.dropped == 0
