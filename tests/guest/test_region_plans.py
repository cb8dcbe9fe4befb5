"""Plans for regions on a real NUMA kernel: teams and pages as planned, by the kernel's answer; nothing else changed."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.guest.machine import Guest, python_environment
from tests.guest.region_plans import BASE, HALF, MOVED_PAGES, SPREAD, STEPS, TEAMS
from tests.guest.shape import Shape
from tests.guest.sweep import SMALL_PAGES, SOURCES
from tests.openmp import CLANG, GCC
from tests.preloaded import built

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed"),
    pytest.mark.usefixtures("guests"),
]
NODES = "for cpu in /sys/devices/system/node/node*/cpu[0-9]*; do echo $cpu; done; "
SIZES = {"free": 8, "own": 3, "condition": 1, "asked": 8, "fewer": 1, "outer": 8}
NODES_OF = {"free": [0, 1, 2, 3], "outer": [0, 0]}
"""The node of each thread of a planned team, by its mapping."""
ARRAY_PAGES = 1024


def in_guest(folder: Path, *programs: Path) -> tuple[str, list[Any]]:
    """Return what was said in a guest, and of that what was found with each program."""
    (folder / "guest").mkdir()
    words = " ".join(map(str, [sys.executable, "-m", "tests.guest.region_plans", *programs]))
    result = Guest(Shape.parse("4x2"), SMALL_PAGES).run(
        ["bash", "-c", f"{NODES} exec {words}"], folder / "guest", python_environment(), 1800
    )
    said = result.stdout.decode()
    assert result.exit_code == 0, said + result.stderr.decode()
    return said, [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def test_teams_and_pages_are_where_the_plan_has_them(tmp_path: Path) -> None:
    programs = [built("region_teams.c", tmp_path, compiler) for compiler in (GCC, CLANG)]
    two_phases = tmp_path / "two_phases"
    subprocess.run([GCC, "-g", "-O2", "-fopenmp", "-o", two_phases, SOURCES / "two_phases.c"], check=True)
    said, (*teams, pages) = in_guest(tmp_path, two_phases, *programs)
    node_of = {int(pu): int(node) for node, pu in re.findall(r"/node(\d+)/cpu(\d+)$", said, re.MULTILINE)}
    assert len(teams) == len(programs)
    for found in teams:
        assert found["same"]
        lines = [line.split() for line in found["said"][:-1]]
        assert [name for name, *_ in lines] == list(SIZES) * STEPS
        for number, (name, size, *cpus) in enumerate(lines):
            late = name in TEAMS and number // len(SIZES) >= 2
            assert int(size) == (len(NODES_OF[name]) if late else SIZES[name]), (number, name)
            if late:
                assert [node_of[int(cpu)] for cpu in cpus] == NODES_OF[name]
                assert cpus == [str(pu) for pu in found["planned"][name]]
            elif SIZES[name] == len(found["base"]):
                assert cpus == [str(pu) for pu in found["base"]]
        late = STEPS - 2
        assert [(one["instances"], one["applied"], one["right"]) for one in found["teams"]] == [
            (late, late, late * len(NODES_OF[name])) for name in TEAMS
        ]
    check_pages(pages)


@pytest.mark.long
def test_an_array_is_on_the_nodes_of_each_phase_during_all_of_it(tmp_path: Path) -> None:
    _, (found,) = in_guest(tmp_path, built("phases.c", tmp_path, GCC))
    assert found["places"] == [[SPREAD, HALF]]
    assert found["same"]
    *lines, _ = found["said"]
    assert [line[0] for line in lines] == ["a", "b", "a", "b"], lines
    for line in lines:
        on = {int(node): int(count) for node, count in (pair.split(":") for pair in line.split()[1:])}
        nodes = range(4 if line[0] == "a" else 2)
        assert on == {node: pytest.approx(MOVED_PAGES / len(nodes), abs=MOVED_PAGES / 50) for node in nodes}, line
    assert [one["times"] for one in found["moves"]] == [1, 2]
    assert [one["pages"] for one in found["moves"]] == [MOVED_PAGES, 2 * MOVED_PAGES]
    assert found["pages"]["right"] == found["pages"]["looked_at"], found


def check_pages(found: dict[str, Any]) -> None:
    """Check that one array is interleaved over all nodes and the other over two of them, and nothing is elsewhere."""
    assert found["same"]
    policies = {found["mapping"], *(like for like, _ in found["arrays"].values())}
    assert {SPREAD, HALF} <= policies <= {SPREAD, HALF, BASE}, found
    assert found["pages"]["right"] == found["pages"]["looked_at"], found
    nodes = {int(node): count for node, count in found["pages"]["nodes"].items()}
    for node, share in enumerate((3 / 4, 3 / 4, 1 / 4, 1 / 4)):
        assert nodes[node] == pytest.approx(ARRAY_PAGES * share, abs=ARRAY_PAGES / 10), nodes
