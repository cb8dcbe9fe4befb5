"""MPI ranks with OpenMP threads on a real NUMA kernel: each takes its share of one mapping, threads and pages."""

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.host.tasks import UNBOUND
from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.placed_pages import read_map
from numapredict.collect.placing.placed_run_record import ObservedPlacement, observed_placement
from numapredict.collect.placing.preload import PlacementFiles, preload_environment
from numapredict.collect.rank_share import os_page_nodes_of, shared, slots_of, split_label
from numapredict.collect.topology import Topology
from numapredict.native.library import placement_library
from tests.guest.machine import Guest, GuestResult
from tests.guest.shape import Shape
from tests.guest.sweep import SMALL_PAGES, SOURCES
from tests.openmp import CLANG, GCC
from tests.shapes import shape

KINDS = ("openmpi", "mpich")
INSTALLED = all(shutil.which(f"{tool}.{kind}") for tool in ("mpicc", "mpirun") for kind in KINDS)
pytestmark = [
    pytest.mark.skipif(not (GCC and CLANG), reason="gcc or clang is not installed"),
    pytest.mark.skipif(not INSTALLED, reason="Open MPI or MPICH is not installed"),
    pytest.mark.usefixtures("guests"),
]

SHAPE = Shape.parse("4x4")
RANKS = 4
RUNS = (  # MPI, compiler of the program, label
    ("openmpi", GCC, "16x4-contiguous-first-touch"),
    ("mpich", CLANG, "16x4-scatter-interleave"),  # each rank on all nodes
    ("mpich", GCC, "8x2-scatter-locality-2pernode"),
    ("mpich", GCC, "16x4-scatter-locality"),
)
# Of Open MPI's parts only those for one computer: to load all of them takes half a minute under emulation.
ONE_COMPUTER = ("--mca", "pml", "ob1", "--mca", "btl", "self,vader", "--mca", "osc", "^ucx,rdma")
LAUNCH = {"openmpi": ("mpirun.openmpi", "--oversubscribe", *ONE_COMPUTER), "mpich": ("mpirun.mpich",)}


def name(run: tuple[str, str, str]) -> str:
    return f"{run[0]}-{Path(run[1]).name}-{run[2]}"


def guest_topology() -> Topology:
    """Return the guest's topology, in which logical and OS indices are the same."""
    made = shape((4, 4, 4, 4))
    nodes = tuple(msgspec.structs.replace(node, os_index=node.index) for node in made.nodes)
    return msgspec.structs.replace(made, nodes=nodes)


def placement_of(topology: Topology, text: str) -> Placement:
    label, ranks = split_label(text)
    placement = resolve(parse_label(label), topology)
    return placement if ranks is None else shared(placement, ranks)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[GuestResult, dict[str, ObservedPlacement], Topology]:
    """What one guest says, and where the kernel had threads and pages in each run."""
    folder = tmp_path_factory.mktemp("ranks")
    topology = guest_topology()
    lines = []
    for run in RUNS:
        kind, compiler, label = run
        program = folder / f"hybrid-{kind}-{Path(compiler).name}"
        variable = {"openmpi": "OMPI_CC", "mpich": "MPICH_CC"}[kind]
        subprocess.run(
            [f"mpicc.{kind}", "-O2", "-fopenmp", "-o", program, SOURCES / "hybrid.c"],
            env={**os.environ, variable: compiler},
            check=True,
        )
        files = PlacementFiles(map=str(folder / name(run)))
        variables = preload_environment(
            {}, placement_of(topology, label), str(placement_library()), files, launcher=True
        )
        words = [f"'{key}={value}'" for key, value in (*UNBOUND, *variables.items())]
        lines.append(" ".join(["env", *words, *LAUNCH[kind], "-n", str(RANKS), str(program)]) + f" || echo {name(run)}")
    environment = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "TMPDIR": "/dev/shm",  # noqa: S108 - the guest's
    }
    result = Guest(SHAPE, SMALL_PAGES).run(["sh", "-c", "\n".join(lines)], folder, environment)
    seen = {}
    for run in RUNS:
        placed = read_map(folder / name(run))
        assert placed is not None, result
        seen[name(run)] = observed_placement(placed, placement_of(topology, run[2]))
    return result, seen, topology


Found = tuple[GuestResult, dict[str, ObservedPlacement], Topology]


def test_all_jobs_end_as_without_the_library(found: Found) -> None:
    result = found[0]
    assert (result.exit_code, result.stderr) == (0, b"")
    wanted = []
    for _, _, label in RUNS:
        own = parse_label(split_label(label)[0]).threads // RANKS
        wanted += [f"rank {rank}: most {own}, team {own}, total {RANKS}" for rank in range(RANKS)]
    assert sorted(result.stdout.decode().splitlines()) == sorted(wanted)


@pytest.mark.parametrize("run", RUNS, ids=name)
def test_each_rank_has_its_share_of_threads_and_pages(found: Found, run: tuple[str, str, str]) -> None:
    _, seen, topology = found
    placement = placement_of(topology, run[2])
    assert [one.rank for one in seen[name(run)].ranks] == list(range(RANKS))
    for one in seen[name(run)].ranks:
        assert set(one.pus) == {slot.pu for slot in slots_of(placement, one.rank, RANKS)}
        assert one.threads.right == one.threads.looked_at == len(one.pus)
        nodes = set(os_page_nodes_of(placement, one.rank, RANKS))
        # By shared files a rank reads what another wrote, whose pages they are.
        others = Counter[int]()
        for astray in one.pages.misplaced:
            assert (astray.name.startswith("file "), astray.others) == (True, astray.pages), one
            others.update(astray.elsewhere)
        own = {node for node, count in one.pages.nodes.items() if count > others[node]}
        assert set(one.pages.allowed) == nodes == own, one
        assert one.pages.right == one.pages.looked_at - others.total() > 256  # the array alone has as many
