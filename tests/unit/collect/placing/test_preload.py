import itertools
import os
import shutil
import subprocess
from pathlib import Path
from urllib.parse import unquote_to_bytes

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.host.tasks import tasks_here
from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.modelled.description import load_description
from numapredict.collect.placement import resolve
from numapredict.collect.placing.command import applied
from numapredict.collect.placing.preload import (
    PlacementFiles,
    escaped,
    number_list,
    preload_environment,
    settings_text,
)
from numapredict.collect.rank_share import RanksPer, os_page_nodes_of, shared, slots_of
from numapredict.collect.space import subset
from numapredict.collect.topology import Bandwidths, Topology
from tests.samples import topology_of
from tests.shapes import shape

TOPOLOGY = topology_of((4, 4), os_indices=(0, 2))  # PUs alternate: node 0 has 0, 2, 4, 6
UGLY = "/some/a;b,c%d\ne=f \u00fc\udcff:*-"
PLACEMENT = Path(__file__).parents[4] / "native" / "placement"
GCC = shutil.which("gcc") or ""

# Prints what the library understands; paths in hexadecimal.
READER = r"""
#include "process/settings.h"
#include <stdio.h>
#include <stdlib.h>
static void row(const char *name, const uint16_t *values, uint32_t count)
{
    printf("%s", name);
    for (uint32_t i = 0; i < count; i++)
        printf(" %u", values[i]);
    putchar('\n');
}
static void path(const char *name, const char *text)
{
    printf("%s ", name);
    for (; text && *text; text++)
        printf("%02x", (unsigned char)*text);
    putchar('\n');
}
int main(void)
{
    settings_load();
    const struct settings *s = settings();
    if (!s)
        return 1;
    row("cpus", s->cpu, s->slots);
    row("homes", s->home, s->slots);
    row("nodes", s->node, s->nodes);
    row("chunks", s->chunk, s->chunks);
    printf("scatter %d\npages %d\n", s->scatter, (int)s->pages);
    path("claims", s->claims);
    path("plan", s->plan);
    path("report", s->report);
    path("profile", s->profile);
    path("map", s->map);
    const char *threads = getenv("OMP_NUM_THREADS");
    printf("threads %s\n", threads ? threads : "");
    printf("placed %d\n", !s->no_place);
    return 0;
}
"""


def pairs(text: str) -> dict[str, str]:
    assert text.startswith("version=1;")
    return dict(pair.split("=", 1) for pair in text.split(";"))


def numbers(text: str) -> list[int]:
    """Read a list by settings.h's own rules."""
    found: list[int] = []
    for part in text.split(","):
        first, row, last = part.partition("-")
        value, repeated, times = first.partition("*")
        found += range(int(first), int(last) + 1) if row else [int(value)] * (int(times) if repeated else 1)
    return found


def test_a_mapping_is_written_in_the_operating_systems_numbers() -> None:
    assert settings_text(resolve(parse_label("4x2-contiguous-first-touch"), TOPOLOGY)) == (
        "version=1;cpus=0,2,1,3;homes=0*2,2*2;threads=contiguous;pages=first-touch;nodes=0,2"
    )
    assert settings_text(resolve(parse_label("8x2-scatter-dataset"), TOPOLOGY)) == (
        "version=1;cpus=0-7;homes=0,2,0,2,0,2,0,2;threads=scatter;pages=dataset;nodes=0,2;chunks=0,2,0,2,0,2,0,2"
    )
    assert pairs(settings_text(resolve(parse_label("4x1-contiguous-remote"), TOPOLOGY)))["nodes"] == "2"


def test_what_one_node_makes_equal_to_bind_is_asked_for_as_bind() -> None:
    for label in ("4x1-contiguous-locality", "4x1-contiguous-dataset", "4x2-contiguous-mix@1"):
        found = pairs(settings_text(resolve(parse_label(label), TOPOLOGY)))
        assert (found["pages"], found["nodes"], "chunks" in found) == ("bind", "0", False)


def test_page_nodes_keep_their_order_but_the_kernel_interleaves_upwards() -> None:
    # Node 2 is nearer to node 0 than node 1 is.
    topology = shape([2, 2, 2], distances=[[10, 30, 20], [30, 10, 20], [20, 20, 10]])
    assert pairs(settings_text(resolve(parse_label("2x1-contiguous-balance@3"), topology)))["nodes"] == "10,12,11"
    assert pairs(settings_text(resolve(parse_label("2x1-contiguous-interleave@3"), topology)))["nodes"] == "10-12"


def test_threads_without_memory_of_their_own_have_a_home() -> None:
    topology = shape([2, 2], memory=[1 << 30, 0])
    assert pairs(settings_text(resolve(parse_label("4x2-contiguous-first-touch"), topology)))["homes"] == "10*4"


def test_paths_survive() -> None:
    text = settings_text(
        resolve(parse_label("4x1-contiguous-bind"), TOPOLOGY), PlacementFiles(plan=UGLY, map="/m", report="/r")
    )
    found = pairs(text)
    assert unquote_to_bytes(found["plan"]) == os.fsencode(UGLY)
    assert (found["map"], found["report"], "profile" in found) == ("/m", "/r", False)
    assert text.isascii()
    assert text.isprintable()


@given(st.binary(min_size=1).filter(lambda path: b"\0" not in path))
def test_any_path_is_escaped_without_the_separators(path: bytes) -> None:
    text = escaped(os.fsdecode(path))
    assert unquote_to_bytes(text) == path
    assert not set(text) & set(";,=*\n ")


@given(st.lists(st.integers(0, 4095), min_size=1, max_size=60) | st.lists(st.integers(0, 2), min_size=1, max_size=60))
def test_lists_keep_every_number_and_their_order(row: list[int]) -> None:
    assert numbers(number_list(row)) == row


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not GCC:
        pytest.skip("gcc is not installed")
    folder = tmp_path_factory.mktemp("reader")
    (folder / "reader.c").write_text(READER)
    sources = [folder / "reader.c", *(PLACEMENT / "process" / name for name in ("rank.c", "settings.c", "system.c"))]
    command = [GCC, "-std=gnu11", "-I", PLACEMENT, "-o", folder / "reader", *sources]
    subprocess.run(command, check=True)
    return folder / "reader"


POLICIES = ("first-touch", "bind", "remote", "interleave", "locality", "balance", "mix", "dataset", "weighted")


@pytest.mark.parametrize("topology", [TOPOLOGY, shape([1, 3, 2, 2], memory=[1, 1, 0, 1], pus=2)])
def test_the_library_reads_what_is_meant(reader: Path, topology: Topology) -> None:
    files = PlacementFiles(plan=UGLY, profile="/p", map="/m", claims="/c")
    for mapping in subset("weighted", topology):
        environment = preload_environment({}, resolve(mapping, topology), "/nowhere.so", files)
        done = subprocess.run(
            [reader], env={"NUMAPLACE": environment["NUMAPLACE"]}, capture_output=True, text=True, check=True
        )
        found = {line.split(" ")[0]: line.split(" ")[1:] for line in done.stdout.splitlines()}
        check_read(found, mapping, topology)
        assert bytes.fromhex(found["plan"][0]) == os.fsencode(UGLY)
        assert (bytes.fromhex(found["profile"][0]), bytes.fromhex(found["map"][0])) == (b"/p", b"/m")
        assert found["report"] == [""]
        assert bytes.fromhex(found["claims"][0]) == b"/c"


def ranked(launcher: str, rank: int, ranks: int) -> dict[str, str]:
    """Return the variables of a rank under a launcher."""
    return {
        "openmpi": {"OMPI_COMM_WORLD_LOCAL_SIZE": f"{ranks}", "OMPI_COMM_WORLD_LOCAL_RANK": f"{rank}"},
        "hydra": {"MPI_LOCALNRANKS": f"{ranks}", "MPI_LOCALRANKID": f"{rank}"},
        "srun": {
            "SLURM_STEP_ID": "0",
            "SLURM_NODEID": "3",
            "SLURM_STEP_TASKS_PER_NODE": f"9(x2),7,{ranks}(x2)",
            "SLURM_LOCALID": f"{rank}",
        },
        "flux": {"FLUX_TASK_LOCAL_ID": f"{rank}", "FLUX_JOB_SIZE": f"{2 * ranks}", "FLUX_JOB_NNODES": "2"},
        "mpirun under srun": {
            "SLURM_STEP_ID": "0",
            "SLURM_STEP_TASKS_PER_NODE": "1(x2)",
            "SLURM_LOCALID": "0",
            "OMPI_COMM_WORLD_LOCAL_SIZE": f"{ranks}",
            "OMPI_COMM_WORLD_LOCAL_RANK": f"{rank}",
        },
    }[launcher]


@pytest.mark.parametrize("launcher", ["openmpi", "hydra", "srun", "flux", "mpirun under srun"])
def test_a_rank_reads_its_share(reader: Path, launcher: str) -> None:
    topology = shape([4, 4, 4, 4], memory=[1, 1, 0, 1])
    for mapping, ranks in zip(subset("weighted", topology), itertools.cycle((2, 3, 4, 5))):
        placement = resolve(mapping, topology)
        rank = mapping.threads % ranks
        variables = ranked(launcher, rank, ranks)
        here = tasks_here(variables)
        assert here is not None
        assert (here.rank, here.count) == (rank, ranks)
        environment = preload_environment({"OMP_NUM_THREADS": "1,2"}, placement, "/nowhere.so")
        done = subprocess.run([reader], env=environment | variables, capture_output=True, text=True, check=True)
        found = {line.split(" ")[0]: line.split(" ")[1:] for line in done.stdout.splitlines()}
        slots = slots_of(placement, rank, ranks)
        assert found["cpus"] == [str(slot.pu) for slot in slots], mapping
        assert found["threads"] == [f"{len(slots)},2"]
        assert {int(node) for node in found["nodes"]} == set(os_page_nodes_of(applied(placement), rank, ranks)), mapping


def test_only_ranks_with_a_place_are_placed(reader: Path) -> None:
    placement = shared(resolve(parse_label("4x2-contiguous-first-touch"), TOPOLOGY), RanksPer(1, "node"))
    environment = preload_environment({}, placement, "/nowhere.so")
    launcher = subprocess.run([reader], env=environment, capture_output=True, check=False)
    assert launcher.returncode == 1
    for rank, threads, placed in ((1, 2, 1), (2, 4, 0)):
        variables = ranked("openmpi", rank, 3)
        done = subprocess.run([reader], env=environment | variables, capture_output=True, text=True, check=True)
        assert done.stdout.endswith(f"threads {threads}\nplaced {placed}\n")


def check_read(found: dict[str, list[str]], mapping: Mapping, topology: Topology) -> None:
    def os_indices(nodes: list[int]) -> list[str]:
        return [str(topology.nodes[node].os_index) for node in nodes]

    slots = resolve(mapping, topology).slots
    assert found["cpus"] == [str(slot.pu) for slot in slots]
    assert found["homes"] == os_indices([topology.home(slot.node) for slot in slots])
    assert found["scatter"] == [str(int(mapping.thread_policy == "scatter"))]
    assert POLICIES[int(found["pages"][0])] == mapping.page_policy
    nodes = os_indices(list(resolve(mapping, topology).page_nodes))
    ascending = mapping.page_policy in {"interleave", "weighted"}
    assert found["nodes"] == (sorted(nodes, key=int) if ascending else nodes)
    if mapping.page_policy in {"dataset", "weighted"}:
        assert found["chunks"] == os_indices(list(resolve(mapping, topology).chunks))
    else:
        assert found["chunks"] == []


def test_page_nodes_without_weight_are_left_out() -> None:
    topology = load_description("sandybridge-4x8").topology
    settings = pairs(settings_text(resolve(parse_label("8x1-contiguous-weighted@4"), topology)))
    assert (settings["nodes"], settings["chunks"]) == ("0,1,3", "0*6,1,3")


def test_a_rank_has_the_weights_of_its_own_nodes(reader: Path) -> None:
    thread, node = ((90.0,) * 3,) * 3, ((30.0, 20.0, 20.0), (20.0, 30.0, 20.0), (20.0, 20.0, 10.0))
    topology = msgspec.structs.replace(shape([2, 2, 2]), bandwidths=Bandwidths(thread, node))
    placement = resolve(parse_label("6x3-contiguous-weighted"), topology)
    assert placement.weights == (3, 3, 1)
    environment = preload_environment({}, placement, "/nowhere.so") | ranked("openmpi", 0, 2)
    done = subprocess.run([reader], env=environment, capture_output=True, text=True, check=True)
    assert "\nnodes 10 11\nchunks 10 10 10 11 11 11\n" in done.stdout


def test_the_library_comes_first_and_the_runtime_does_not_bind() -> None:
    caller = {
        "PATH": "/bin",
        "LD_PRELOAD": "/a.so /lib/place.so:/b.so",
        "OMP_NUM_THREADS": "64, 3,2",
        "OMP_PLACES": "cores",
        "OMP_PROC_BIND": "spread",
        "KMP_AFFINITY": "compact",
        "OMP_SCHEDULE": "dynamic",
        "NUMAPLACE": "version=1;old",
    }
    found = preload_environment(caller, resolve(parse_label("4x2-scatter-bind@1"), TOPOLOGY), "/lib/place.so")
    assert found.pop("NUMAPLACE").startswith("version=1;cpus=0-3;")
    assert found == {
        "PATH": "/bin",
        "LD_PRELOAD": "/lib/place.so:/a.so:/b.so",
        "OMP_NUM_THREADS": "4, 3,2",
        "OMP_PROC_BIND": "false",
        "OMP_DYNAMIC": "false",
        "OMP_SCHEDULE": "dynamic",
    }
