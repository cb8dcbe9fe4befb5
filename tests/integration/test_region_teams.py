"""Regions with teams of their own: as large as planned and where planned, and all other regions as without a plan."""

import os
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import read_map
from tests.preloaded import GCC, built_by, placed
from tests.region_plans import planned, regions_of
from tests.shapes import shape

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

CPUS = sorted(os.sched_getaffinity(0))
FIRST, OTHER = CPUS[0], CPUS[-1]
SLOTS = (FIRST, OTHER, FIRST, OTHER)
STEPS, FROM = 5, 2
SIZES = {"free": 4, "own": 3, "condition": 1, "asked": 4, "fewer": 1, "outer": 4}
KEEP = {"own", "condition", "asked", "fewer"}
"""Regions that keep their own team, whatever the plan says."""


@pytest.fixture(scope="module", params=["gcc", "clang"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_by(request.param, "region_teams.c", tmp_path_factory.mktemp("teams"))


def ran(program: Path, folder: Path, teams: dict[str, tuple[int, ...]]) -> tuple[list[list[str]], dict[int, str]]:
    """Run it under a plan of these regions; return its lines' words, and the regions' names by key."""
    found = regions_of([str(program), "1"], folder)
    # libomp starts a region with a false condition by itself: it is none.
    names = [name for name in SIZES if name != "condition" or len(found) == len(SIZES) + 1]
    regions = dict(zip(names, found, strict=False))
    known = {regions[name]: slots for name, slots in teams.items() if name in regions}
    planned(known, folder / "plan", "4x1-contiguous-first-touch", shape([4]), FROM)
    settings = (
        f"cpus={','.join(map(str, SLOTS))};homes=0*4;threads=contiguous;pages=first-touch;nodes=0;"
        f"plan={folder / 'plan'};map={folder / 'map'}"
    )
    done = subprocess.run(
        [program, str(STEPS)], env=placed(settings, 4), check=True, capture_output=True, text=True, timeout=240
    )
    return [line.split() for line in done.stdout.splitlines()], {one.key: name for name, one in regions.items()}


@pytest.mark.skipif(len(CPUS) < 2, reason="there is one CPU")
def test_a_planned_region_has_its_team_and_all_others_have_theirs(program: Path, tmp_path: Path) -> None:
    wanted = {"free": (3, 1), "outer": (2, 1, 0)}
    lines, names = ran(program, tmp_path, wanted)
    assert lines.pop() == ["sum", str(499500 * sum(range(STEPS)))]
    assert [name for name, *_ in lines] == list(SIZES) * STEPS
    for number, (name, size, *cpus) in enumerate(lines):
        instance = number // len(SIZES)
        slots = wanted[name] if name in wanted and instance >= FROM else _spread(SIZES[name])
        assert (size, cpus) == (str(len(slots)), [str(SLOTS[slot]) for slot in slots]), (number, name)
    found = read_map(tmp_path / "map")
    assert found is not None
    late = STEPS - FROM
    assert {names[one.key]: (one.instances, one.applied, one.right, one.wrong) for one in found.teams} == {
        name: (late, late, late * len(slots), 0) for name, slots in wanted.items()
    }
    assert {names[one.key]: one.threads for one in found.teams} == {"free": 2, "outer": 3}


def test_a_region_that_says_or_asks_how_many_threads_it_has_keeps_them(program: Path, tmp_path: Path) -> None:
    lines, names = ran(program, tmp_path, dict.fromkeys(KEEP, (0, 1)))
    assert lines.pop() == ["sum", str(499500 * sum(range(STEPS)))]
    assert [(name, int(size)) for name, size, *_ in lines] == list(SIZES.items()) * STEPS
    found = read_map(tmp_path / "map")
    assert found is not None
    assert {names[one.key]: (one.instances, one.applied) for one in found.teams} == {
        name: (STEPS - FROM, 0) for name in KEEP if name in names.values()
    }


def test_a_team_is_not_made_larger_than_the_program_wants_it(program: Path, tmp_path: Path) -> None:
    found = regions_of([str(program), "1"], tmp_path)
    planned({found[0]: (0, 1, 2, 3)}, tmp_path / "plan", "4x1-contiguous-first-touch", shape([4]))
    settings = f"cpus={FIRST}*4;homes=0*4;threads=contiguous;pages=first-touch;nodes=0;plan={tmp_path / 'plan'}"
    environment = placed(settings, 2)
    done = subprocess.run([program, "4"], env=environment, check=True, capture_output=True, text=True, timeout=240)
    sizes = {words[1] for line in done.stdout.splitlines() if (words := line.split())[0] == "free"}
    assert sizes == {"2"}


def _spread(size: int) -> tuple[int, ...]:
    """Return the slots of a team without a plan (slots.h)."""
    return tuple(thread * len(SLOTS) // size for thread in range(size))
