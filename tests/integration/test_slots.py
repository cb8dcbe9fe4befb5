"""The slots of real programs' threads: each bound to one CPU, and given back when it ends."""

import os
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import read_map
from tests.preloaded import GCC, built, built_by, placed

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

CPUS = sorted(os.sched_getaffinity(0))
FIRST, OTHER = CPUS[0], CPUS[-1]
SLOTS = (FIRST, OTHER, OTHER, FIRST)  # no two neighbours of a team of 2, and not all of a team of 4, share a CPU


def test_a_thread_that_has_ended_gives_its_slot_to_the_next(tmp_path: Path) -> None:
    program = built("one_by_one.c", tmp_path, GCC)
    settings = f"cpus={FIRST}*4;homes=0*4;threads=contiguous;pages=bind;nodes=0;map={tmp_path / 'map'}"
    subprocess.run([program], env=placed(settings, 4), check=True, timeout=240)
    found = read_map(tmp_path / "map")
    assert found is not None
    assert [(thread.slot, thread.right, thread.wrong) for thread in found.threads] == [(0, 1, 0), (1, 15, 0)]


@pytest.mark.skipif(len(CPUS) < 2, reason="there is one CPU")
@pytest.mark.parametrize("go", ["bound", "free"])
def test_a_thread_that_may_run_elsewhere_does_not_stand(tmp_path: Path, go: str) -> None:
    program = built("astray.c", tmp_path, GCC)
    settings = f"cpus={FIRST},{OTHER};homes=0*2;threads=contiguous;pages=bind;nodes=0;map={tmp_path / 'map'}"
    done = subprocess.run([program, go], env=placed(settings, 2), check=True, capture_output=True, timeout=240)
    assert done.stdout == b"2\n"  # the forked child's processors: all of the mapping
    found = read_map(tmp_path / "map")
    assert found is not None
    assert {thread.slot: thread.wrong > 0 for thread in found.threads} == dict.fromkeys((0, 1), go == "free")


@pytest.mark.skipif(len(CPUS) < 2, reason="there is one CPU")
@pytest.mark.parametrize("way", ["pthread", "c11", "detached"])
def test_every_thread_is_bound_before_the_programs_first_line(tmp_path: Path, way: str) -> None:
    program = built("many_starts.c", tmp_path, GCC)
    settings = f"cpus={FIRST},{OTHER}*2;homes=0*3;threads=contiguous;pages=bind;nodes=0"
    done = subprocess.run(
        [program, way, "299"], env=placed(settings, 3), check=True, capture_output=True, text=True, timeout=240
    )
    *alone, known = (line.split() for line in done.stdout.splitlines())
    assert known == ["known", "299"]
    assert {int(pu) for pu, _ in alone} == {FIRST, OTHER}
    assert sum(int(threads) for _, threads in alone) == 299


@pytest.fixture(scope="module", params=["gcc", "clang"])
def teams(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_by(request.param, "teams.c", tmp_path_factory.mktemp("teams"))


@pytest.mark.parametrize("policy", ["contiguous", "scatter"])
@pytest.mark.parametrize("asked", ["early", "late"])
@pytest.mark.parametrize("sizes", [(1, 2, 4), (4, 2, 1, 4), (2, 4, 1, 2)])
def test_every_thread_of_a_team_is_bound_to_its_slots_cpu(
    teams: Path, policy: str, asked: str, sizes: tuple[int, ...]
) -> None:
    slots = ",".join(map(str, SLOTS))
    settings = f"cpus={slots};homes=0*4;threads={policy};pages=bind;nodes=0"
    command = [str(teams), asked, *map(str, sizes)]
    done = subprocess.run(
        command, env=placed(settings, len(SLOTS)), check=True, capture_output=True, text=True, timeout=240
    )
    assert done.stdout.splitlines() == [
        " ".join(map(str, (size, *(SLOTS[slot_of(thread, size, policy)] for thread in range(size))))) for size in sizes
    ]


def slot_of(thread: int, team: int, policy: str) -> int:
    """Return the slot of a thread: a team smaller than the mapping is spread over all of its slots (slots.h)."""
    return thread if policy == "scatter" else thread * len(SLOTS) // team
