"""Threads over L3 caches: by the library and by other tools they share the caches that the kernel names."""

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
ONE_NODE, TWO_NODES = Shape(1, 16, threads_per_core=2, dies=4), Shape(2, 4, dies=2)
CACHES = {  # of each thread, in their order: its L3 cache, numbered over the nodes, and the cache's core
    ONE_NODE: {
        "4x1-contiguous-bind": [(0, 0), (0, 1), (1, 0), (1, 1)],
        "4x1-contiguous-bind-4l3": [(0, 0), (1, 0), (2, 0), (3, 0)],
        "6x1-contiguous-bind-4l3": [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (3, 0)],
        "6x1-scatter-bind-4l3": [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (1, 1)],
        "4x1-contiguous-bind-2l3-smt2": [(0, 0), (0, 0), (2, 0), (2, 0)],
    },
    TWO_NODES: {
        "4x2-contiguous-first-touch-4l3": [(0, 0), (1, 0), (2, 0), (3, 0)],
        "4x2-scatter-interleave-4l3": [(0, 0), (2, 0), (1, 0), (3, 0)],
    },
}
TOOLS: tuple[Tool, ...] = ("env", "taskset", "numactl")


@pytest.mark.parametrize("shape", CACHES, ids=["one-node", "two-nodes"])
def test_threads_are_under_the_caches_of_the_mapping(shape: Shape, tmp_path: Path) -> None:
    program = str(tmp_path / "siblings")
    subprocess.run([GCC, "-O2", "-fopenmp", "-o", program, SOURCES / "siblings.c"], check=True)
    folder = tmp_path / "guest"
    folder.mkdir()
    batch = Batch(shape, folder)
    ran, maps = dict[tuple[str, str], Path](), dict[str, Path]()
    for label in CACHES[shape]:
        maps[label] = batch.new_file("map")
        ran[label, "library"] = batch.add([program], batch.placed(label, PlacementFiles(map=str(maps[label]))))
        for tool in TOOLS:
            ran[label, tool] = batch.add(
                ["sh", "-c", emit(tool, batch.placement(label), program_of([program]), ENVIRONMENT).text]
            )
    batch.run(SMALL_PAGES, 900)
    for (label, way), place in ran.items():
        said = batch.said(place)
        assert said.code == 0, (label, way, said)
        lines = re.findall(r"^(\d+) (\S+) (\S+) (\S+)$", said.stdout.decode(), re.MULTILINE)
        each = shape.cpus_per_node // shape.dies  # CPUs of a cache, whose numbers follow each other
        numbers = [
            (first(cache) // each, (first(core) - first(cache)) // shape.threads_per_core)
            for _, _, core, cache in lines
        ]
        assert len({pus for _, pus, _, _ in lines}) == len(lines), (label, way, lines)
        assert numbers == CACHES[shape][label], (label, way, lines)
    for label, threads in CACHES[shape].items():
        placed = read_map(maps[label])
        assert placed is not None
        bound = observed_placement(placed, batch.placement(label)).threads
        assert bound.right == bound.looked_at == len(threads), label


def first(pus: str) -> int:
    """Return the first number of a list of PUs."""
    return int(re.split("[-,]", pus)[0])
