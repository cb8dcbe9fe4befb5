"""Two threads on each core: by the library and by other tools they stand on the siblings that the kernel names."""

import re
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.placed_pages import read_map
from numapredict.collect.placing.placed_run_record import observed_placement
from numapredict.collect.placing.preload import PlacementFiles
from numapredict.collect.placing.tools.emission import emit
from numapredict.collect.placing.tools.tools import Tool
from numapredict.collect.program import program_of
from tests.guest.batch import Batch
from tests.guest.machine import ENVIRONMENT
from tests.guest.shape import Shape
from tests.guest.sweep import SMALL_PAGES, SOURCES
from tests.openmp import GCC

pytestmark = [
    pytest.mark.skipif(not GCC, reason="gcc is not installed"),
    pytest.mark.usefixtures("guests"),
]
CORES = {  # of each thread, in their order: its node and the node's core
    "8x2-contiguous-first-touch-smt2": [(0, 0), (0, 0), (0, 1), (0, 1), (1, 0), (1, 0), (1, 1), (1, 1)],
    "4x2-scatter-interleave-smt2": [(0, 0), (1, 0), (0, 0), (1, 0)],
    "3x1-contiguous-bind-smt2": [(0, 0), (0, 0), (0, 1)],
}
ALL: tuple[Tool, ...] = ("env", "taskset", "numactl", "hwloc")
TOOLS: dict[str, tuple[Tool, ...]] = dict.fromkeys(CORES, ALL[:1]) | {next(iter(CORES)): ALL}


def test_threads_of_one_core_are_siblings_for_the_kernel(tmp_path: Path) -> None:
    program = str(tmp_path / "siblings")
    subprocess.run([GCC, "-O2", "-fopenmp", "-o", program, SOURCES / "siblings.c"], check=True)
    folder = tmp_path / "guest"
    folder.mkdir()
    batch = Batch(Shape.parse("2x2", smt=2), folder)
    ran, maps = dict[tuple[str, str], Path](), dict[str, Path]()
    for label, tools in TOOLS.items():
        maps[label] = batch.new_file("map")
        ran[label, "library"] = batch.add([program], batch.placed(label, PlacementFiles(map=str(maps[label]))))
        for tool in tools:
            emission = emit(tool, batch.placement(label), program_of([program]), ENVIRONMENT)
            ran[label, tool] = batch.add(["sh", "-c", emission.text])
    batch.run(SMALL_PAGES, 900)
    node_of = {pu: node.os_index for node in batch.topology.nodes for core in node.cores for pu in core.pus}
    assert len(node_of) == 8
    for (label, way), place in ran.items():
        said = batch.said(place)
        assert said.code == 0, (label, way, said)
        lines = said.stdout.decode()
        threads = [
            (int(pu), core) for _, pu, core in sorted(re.findall(r"^(\d+) (\d+) (\S+) \S+$", lines, re.MULTILINE))
        ]
        assert len({pu for pu, _ in threads}) == len(threads) == len(CORES[label]), (label, way, lines)
        numbers: dict[int, list[str]] = {0: [], 1: []}  # of each node's cores, in the order of their use
        found = []
        for pu, core in threads:
            known = numbers[node_of[pu]]
            known += [core] if core not in known else []
            found.append((node_of[pu], known.index(core)))
        assert found == CORES[label], (label, way, lines)
    for label, cores in CORES.items():
        placed = read_map(maps[label])
        assert placed is not None
        bound = observed_placement(placed, batch.placement(label)).threads
        assert bound.right == bound.looked_at == len(cores), label
