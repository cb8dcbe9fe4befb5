"""Plans for regions on a real NUMA kernel: teams and pages as planned, by the kernel's answer; nothing else changed."""

import subprocess
from pathlib import Path

import pytest

from numapredict.predictor.regions.planned_application import PlannedApplication
from tests.guest.batch import Batch
from tests.guest.region_plans import (
    BASE,
    HALF,
    MOVED_PAGES,
    PATTERN,
    SPREAD,
    STEPS,
    TEAMS,
    Applied,
    Places,
    Teams,
    in_phases,
)
from tests.guest.shape import Shape
from tests.guest.sweep import SMALL_PAGES, SOURCES
from tests.openmp import CLANG, GCC
from tests.preloaded import built

pytestmark = [
    pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed"),
    pytest.mark.usefixtures("guests"),
]
SIZES = {"free": 8, "own": 3, "condition": 1, "asked": 8, "fewer": 1, "outer": 8}
NODES_OF = {"free": [0, 1, 2, 3], "outer": [0, 0]}
"""The node of each thread of a planned team, by its mapping."""
ARRAY_PAGES = 1024


@pytest.fixture
def batch(tmp_path: Path) -> Batch:
    (tmp_path / "guest").mkdir()
    return Batch(Shape.parse("4x2"), tmp_path / "guest")


def test_teams_and_pages_are_where_the_plan_has_them(batch: Batch, tmp_path: Path) -> None:
    programs = [built("region_teams.c", tmp_path, compiler) for compiler in (GCC, CLANG)]
    two_phases = tmp_path / "two_phases"
    subprocess.run([GCC, "-g", "-O2", "-fopenmp", "-o", two_phases, SOURCES / "two_phases.c"], check=True)
    places = Places([str(two_phases), "4096", "300"], ("300", "1000", "3000", "10000"), batch, tmp_path)
    teams = [Teams(program, batch, tmp_path) for program in programs]
    plans: list[PlannedApplication] = []
    batch.run(SMALL_PAGES, 1800, lambda: plans.append(places.plan()))
    node_of = {pu: node.os_index for node in batch.topology.nodes for core in node.cores for pu in core.pus}
    for found in teams:
        applied = found.run.applied(found.plan)
        assert applied.same
        lines = [line.split() for line in applied.said[:-1]]
        assert [name for name, *_ in lines] == list(SIZES) * STEPS
        for number, (name, size, *cpus) in enumerate(lines):
            late = name in TEAMS and number // len(SIZES) >= 2
            assert int(size) == (len(NODES_OF[name]) if late else SIZES[name]), (number, name)
            if late:
                assert [node_of[int(cpu)] for cpu in cpus] == NODES_OF[name]
                assert cpus == [str(pu) for pu in found.planned[name]]
            elif SIZES[name] == len(found.base):
                assert cpus == [str(pu) for pu in found.base]
        late = STEPS - 2
        assert [(one.instances, one.applied, one.right) for one in applied.placement.teams] == [
            (late, late, late * len(NODES_OF[name])) for name in TEAMS
        ]
    check_pages(plans[0], places.run.applied())


@pytest.mark.thorough
def test_an_array_is_on_the_nodes_of_each_phase_during_all_of_it(batch: Batch, tmp_path: Path) -> None:
    command = [str(built("phases.c", tmp_path, GCC)), str(MOVED_PAGES), PATTERN]
    places = Places(command, [n * "a20b20" for n in (5, 15, 50)], batch, tmp_path, in_phases)
    plans: list[PlannedApplication] = []
    batch.run(SMALL_PAGES, 1800, lambda: plans.append(places.plan()))
    assert [[place.like for place in move.places] for move in plans[0].moves] == [[SPREAD, HALF]]
    found = places.run.applied()
    assert found.same
    *lines, _ = found.said
    assert [line[0] for line in lines] == ["a", "b", "a", "b"], lines
    for line in lines:
        on = {int(node): int(count) for node, count in (pair.split(":") for pair in line.split()[1:])}
        nodes = range(4 if line[0] == "a" else 2)
        assert on == {node: pytest.approx(MOVED_PAGES / len(nodes), abs=MOVED_PAGES / 50) for node in nodes}, line
    assert [one.times for one in found.placement.moves] == [1, 2]
    assert [one.pages for one in found.placement.moves] == [MOVED_PAGES, 2 * MOVED_PAGES]
    assert found.placement.pages.right == found.placement.pages.looked_at, found


def check_pages(plan: PlannedApplication, found: Applied) -> None:
    """Check that one array is interleaved over all nodes and the other over two of them, and nothing is elsewhere."""
    assert found.same
    policies = {plan.mapping, *(array.like for array in plan.arrays)}
    assert {SPREAD, HALF} <= policies <= {SPREAD, HALF, BASE}, plan
    pages = found.placement.pages
    assert pages.right == pages.looked_at, found
    for node, share in enumerate((3 / 4, 3 / 4, 1 / 4, 1 / 4)):
        assert pages.nodes[node] == pytest.approx(ARRAY_PAGES * share, abs=ARRAY_PAGES / 10), pages
