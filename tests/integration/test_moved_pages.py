"""Plans that move an array: before the instances that want it elsewhere, whatever the kernel says; the output stays."""

import os
import subprocess
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path

import pytest

from numapredict.collect.capturing.exchange import VARIABLE as CAPTURE
from numapredict.collect.capturing.exchange import AskedRegion, Outcome, variable_text
from numapredict.collect.capturing.order import Succession, order_of
from numapredict.collect.capturing.watcher import Watcher
from numapredict.collect.placement import Placement
from numapredict.collect.placing.placed_pages import PlacementMap, read_map
from numapredict.collect.topology import Topology
from numapredict.native.library import capture_library
from numapredict.predictor.regions import session
from numapredict.predictor.regions.planning import Made, Wish, planned
from numapredict.predictor.regions.region_order import OTHER, follows, renumbered
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from tests.preloaded import GCC, built_by, placed
from tests.region_plans import regions_of

pytestmark = [pytest.mark.native, pytest.mark.skipif(not GCC, reason="gcc is not installed")]

CPU = min(os.sched_getaffinity(0))
PAGES = 64
NOWHERE = 1000
"""A node that no computer has: the kernel refuses to move pages there."""


@pytest.fixture(scope="module", params=["gcc", "clang"])
def phases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_by(request.param, "phases.c", tmp_path_factory.mktemp("phases"))


def mapped(program: Path, pattern: str, folder: Path, plan: str = "") -> tuple[str, PlacementMap]:
    """Run it under the library, and return what it says and the map."""
    settings = f"cpus={CPU}*2;homes=0*2;threads=contiguous;pages=first-touch;nodes=0;map={folder / 'map'}"
    (folder / "map").unlink(missing_ok=True)
    if plan:
        (folder / "plan").write_text(plan)
        settings += f";plan={folder / 'plan'}"
    command = [program, str(PAGES), pattern]
    done = subprocess.run(command, env=placed(settings, 2), check=True, capture_output=True, text=True, timeout=240)
    found = read_map(folder / "map")
    assert found is not None
    return done.stdout, found


def plan_of(program: Path, pattern: str, folder: Path, node: int) -> tuple[str, dict[int, str]]:
    """Return a plan in which regions a and b want the array on node 0 and another node, and the names by key.

    Each allocation of the array is known by its order.
    """
    regions = regions_of([str(program), str(PAGES), "a1b1n1"], folder)
    names = dict(zip("abn", regions, strict=True))
    lines = ["numaplace-plan 3"]
    for place, name in enumerate("ab"):
        lines += [f"region {names[name].key:016x} 0 0 0", f"want {place}"]
    site = site_of(program, folder)
    for order in range(pattern.count("f") + 1):
        lines += [f"range 1 {site:016x} 0 {order} {PAGES}", "place 0", f"run 0 {PAGES} 0"]
        lines += ["place 1", f"run 0 {PAGES} {node}"]
    return "\n".join(lines) + "\n", {region.key: name for name, region in names.items()}


def site_of(program: Path, folder: Path) -> int:
    """Return the site at which the array is allocated."""
    _, found = mapped(program, "a1", folder)
    (own,) = [one for one in found.ranges if one.pages == PAGES and one.kind == 1]
    return own.key[1]


@pytest.mark.parametrize(
    ("pattern", "times"),
    [
        ("a5b5", {"a": 0, "b": 1}),  # it begins where a wants it
        ("a2n3a2n1b3n2b1a1n1", {"a": 1, "b": 1}),
        ("b1a1b1a1b1a1", {"a": 3, "b": 3}),
        ("a1b1f1b1a1", {"a": 1, "b": 2}),  # what is allocated again begins anew
        ("a1b1f1a1b1", {"a": 0, "b": 2}),
        ("n4", {"a": 0, "b": 0}),
    ],
)
def test_pages_move_before_the_instances_that_want_them_elsewhere(
    phases: Path, tmp_path: Path, pattern: str, times: dict[str, int]
) -> None:
    alone, _ = mapped(phases, pattern, tmp_path)
    text, names = plan_of(phases, pattern, tmp_path, 0)
    said, found = mapped(phases, pattern, tmp_path, text)
    assert said == alone
    assert {names[one.key]: (one.times, one.pages) for one in found.moves} == {
        name: (count, count * PAGES) for name, count in times.items()
    }
    wanted = {run.wanted for one in found.ranges if one.pages == PAGES and one.kind == 1 for run in one.runs}
    assert wanted == {0}


def test_a_program_goes_on_where_the_kernel_moves_nothing(phases: Path, tmp_path: Path) -> None:
    pattern = "a1b1a1b2"
    alone, _ = mapped(phases, pattern, tmp_path)
    text, names = plan_of(phases, pattern, tmp_path, NOWHERE)
    said, found = mapped(phases, pattern, tmp_path, text)
    assert said == alone
    assert {names[one.key]: (one.times, one.pages) for one in found.moves} == {"a": (1, PAGES), "b": (2, 0)}
    (run,) = [run for one in found.ranges if one.pages == PAGES and one.kind == 1 for run in one.runs]
    assert (run.node, run.wanted) == (0, NOWHERE)


def no_replays(_: AskedRegion) -> Generator[Placement, Outcome, bool]:
    yield from ()
    return False


def order_in(program: Path, pattern: str, folder: Path) -> tuple[Succession, ...]:
    """Run it under the capture library, with no replay, and return what it tells."""
    with Watcher(no_replays, folder / "kept") as watcher:
        settings = variable_text(watcher.name, str(folder / "report"))
        environment = {**os.environ, "OMP_NUM_THREADS": "2", "LD_PRELOAD": str(capture_library()), CAPTURE: settings}
        subprocess.run([program, str(PAGES), pattern], env=environment, check=True, capture_output=True, timeout=240)
    return watcher.order


def test_the_capture_library_counts_in_which_order_regions_come(phases: Path, tmp_path: Path) -> None:
    a, b, n = (region.key for region in regions_of([str(phases), str(PAGES), "a1b1n1"], tmp_path))
    told = order_of(order_in(phases, "a7n1a3n1b5n1b1n4a1", tmp_path))
    order = renumbered(told, {a: 0, b: 1}, OTHER)
    assert follows(order, [11, 6], {0, 1}).tolist() == [[0, 1], [1, 0]]
    whole = renumbered(told, {a: 0, b: 1, n: 2}, OTHER)
    assert follows(whole, [11, 6, 7], {0, 1, 2}).tolist() == [[0, 0, 2], [0, 0, 2], [2, 2, 0]]


def test_the_counted_order_of_a_replayed_run_is_what_its_plan_is_made_by(
    phases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one node no array moves: what is handed to the planner is looked at on its way."""
    seen: list[Sequence[Succession]] = []

    def looked_at(
        answer: ReplayedRegions,
        wish: Wish,
        executable: str,
        keys: Mapping[tuple[str, int], int],
        topology: Topology,
        told: Sequence[Succession] = (),
    ) -> Made:
        seen.append(told)
        return planned(answer, wish, executable, keys, topology, told)

    monkeypatch.setattr(session, "planned", looked_at)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    command = (str(phases), str(PAGES), "a7b2a3n1b4")
    assert session.run_replayed(session.Request(command, wish=Wish(tmp_path / "plan"))) == 0
    (told,) = seen
    a, b, _ = (region.key for region in regions_of([str(phases), str(PAGES), "a1b1n1"], tmp_path))
    order = renumbered(order_of(told), {a: 0, b: 1}, OTHER)
    assert follows(order, [10, 6], {0, 1}).tolist() == [[0, 2], [1, 0]]
