import csv
import re
import statistics
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.modelled.description import (
    SHARED_LEVEL,
    CacheShape,
    Link,
    MachineDescription,
    NodeShape,
    SharedCache,
    load_description,
    machine_names,
)
from numapredict.collect.modelled.description_file import parse_file
from numapredict.native.errors import InvalidInputError
from tests.traces import machine_of

MACHINES = (
    "broadwell-2x10",
    "cascadelake-2x28",
    "diassrv8",
    "genoa-4x12",
    "grace-2x72",
    "lpd48core",
    "lpdquad",
    "lpdxeon2680",
    "ol-collab1",
    "opteron-4x4",
    "rome-1x64",
    "rome-2x64",
    "rome-4x16",
    "rome-8x16",
    "sandybridge-4x8",
    "sapphirerapids-2x48",
    "sapphirerapids-8x12",
    "virtual-1x16",
    "xeonmax-2x56",
)
MEASURED = ("diassrv8", "lpd48core", "lpdquad", "lpdxeon2680", "ol-collab1")
ROOT = Path(__file__).parents[4]
MCTOP = ROOT.parent / "shared" / "datasets" / "mctop" / "memory.csv"


def path_of(name: str) -> Path:
    return ROOT / "models" / "machines" / f"{name}.toml"


def test_the_described_machines() -> None:
    assert machine_names() == MACHINES


def test_a_core_s_throughput_with_all_its_threads_is_the_file_s(tmp_path: Path) -> None:
    text = path_of("lpdquad").read_text()
    (line,) = re.findall(r"^smt_throughput = [0-9.]+$", text, re.MULTILINE)
    changed = tmp_path / "changed.toml"
    changed.write_text(text.replace(f"{line}\n", "smt_throughput = 1.625\n"))
    assert load_description(str(changed)).smt_throughput == 1.625
    assert load_description("sandybridge-4x8").smt_throughput == 1.0  # one thread a core


def test_hardware_threads_and_shared_caches_make_the_topology() -> None:
    shape = msgspec.structs.replace(
        machine_of((4, 3)), threads_per_core=2, shared_cache=SharedCache(65536, 16, 20.0, cores=2)
    )
    topology = shape.topology
    assert [[core.pus for core in node.cores] for node in topology.nodes] == [
        [(0, 7), (1, 8), (2, 9), (3, 10)],
        [(4, 11), (5, 12), (6, 13)],
    ]
    shared = [cache.cores for cache in topology.caches if cache.level == SHARED_LEVEL]
    assert shared == [(0, 1), (2, 3), (4, 5), (6,)]


@pytest.mark.parametrize("name", MACHINES)
def test_a_description_is_complete(name: str) -> None:
    machine = load_description(name)
    nodes = range(len(machine.nodes))
    assert machine.name == name
    for i in nodes:
        assert machine.routes[i][i] == ()
        for j in nodes:
            chain = [machine.links[link] for link in machine.routes[i][j]]
            assert (i, *(link.target for link in chain)) == (*(link.source for link in chain), j)
            assert machine.read_latency_ns[i][i] <= machine.read_latency_ns[i][j]
            assert machine.write_latency_ns[i][i] <= machine.write_latency_ns[i][j]
    topology = machine.topology
    assert topology.name == name
    assert [len(node.cores) for node in topology.nodes] == [node.cores for node in machine.nodes]
    assert [node.memory_bytes for node in topology.nodes] == [node.memory_bytes for node in machine.nodes]
    assert [topology.distances[i][i] for i in nodes] == [10.0 for _ in nodes]


@pytest.mark.parametrize("name", MACHINES)
def test_every_figure_is_published_or_said_to_be_assumed(name: str) -> None:
    machine = load_description(name)
    sources = dict(machine.sources)
    given = {"core.frequency_GHz", "memory.page_bytes", "shared_cache.latency_ns", "nodes.cores", "latency.read"}
    assert given <= sources.keys()
    for figure, text in sources.items():
        assert any(character.isdigit() for character in text) or text.startswith("assumption: "), figure
    # Of a measured loop, which stands for no other program.
    assert sources["core.cycles_per_instruction"].startswith("assumption: ") is not machine.cycles_from_native_run


def test_answers_for_machines_with_datasets_and_models_are_the_same_on_every_computer() -> None:
    assert [name for name in MACHINES if load_description(name).cycles_from_native_run] == ["virtual-1x16"]


@pytest.mark.parametrize(
    ("name", "ends_GHz"),
    [
        ("cascadelake-2x28", (4.0, 3.3)),
        ("genoa-4x12", (3.7, 3.65)),
        ("rome-1x64", (3.4, 2.8)),
        ("rome-2x64", (3.4, 2.8)),
        ("rome-4x16", (3.4, 2.8)),
        ("rome-8x16", (3.4, 2.8)),
        ("sapphirerapids-2x48", (3.8, 3.1)),
        ("sapphirerapids-8x12", (3.8, 3.1)),
    ],
)
def test_the_clock_is_given_for_each_number_of_active_cores_of_a_package(
    name: str, ends_GHz: tuple[float, float]
) -> None:
    machine = load_description(name)
    packages = machine.packages or range(len(machine.nodes))
    cores = Counter[int]()
    for package, node in zip(packages, machine.nodes, strict=True):
        cores[package] += node.cores
    assert len(machine.turbo_GHz) == max(cores.values())
    assert (machine.turbo_GHz[0], machine.turbo_GHz[-1]) == ends_GHz
    assert machine.turbo_GHz[-1] > machine.frequency_GHz


@pytest.mark.parametrize("name", ["sandybridge-4x8", "broadwell-2x10", "opteron-4x4"])
def test_one_thread_alone_never_draws_more_where_memory_is_farther(name: str) -> None:
    machine = load_description(name)
    for latencies, bandwidths in (
        (machine.read_latency_ns, machine.thread_read_GBps),
        (machine.write_latency_ns, machine.thread_write_GBps),
    ):
        for latency, bandwidth in zip(latencies, bandwidths, strict=True):
            in_flight = [one * two for one, two in zip(latency, bandwidth, strict=True)]  # bytes
            assert max(in_flight) / min(in_flight) == pytest.approx(1.0, abs=0.01)


def test_sandybridge_is_the_thesis_machine() -> None:
    machine = load_description("sandybridge-4x8")
    assert machine.frequency_GHz == 2.7
    assert machine.nodes == (NodeShape(8, 32 * 2**30),) * 4
    assert machine.shared_cache.size_bytes == 20 * 2**20
    assert machine.private_cache == CacheShape(256 * 1024, 8)
    assert machine.write_latency_ns == machine.read_latency_ns
    # Leis et al. sec. 5.3: 257 ns and 41 GB/s for accesses spread evenly over all nodes
    assert sum(machine.read_latency_ns[0]) / 4 == pytest.approx(257, abs=0.1)
    assert sum(machine.controller_read_GBps) == pytest.approx(121)
    users = [sum(link in route for row in machine.routes for route in row) for link in range(len(machine.links))]
    assert users == [2] * 8
    assert machine.links[0].read_GBps / users[0] * 16 == pytest.approx(41)


def test_sandybridge_topology() -> None:
    topology = load_description("sandybridge-4x8").topology
    assert [core.pus for core in topology.nodes[1].cores] == [(pu,) for pu in range(8, 16)]
    assert [cache.cores for cache in topology.caches if cache.level == 2] == [(core,) for core in range(32)]
    shared = [cache for cache in topology.caches if cache.level == 3]
    assert [cache.cores for cache in shared] == [tuple(range(first, first + 8)) for first in (0, 8, 16, 24)]
    assert {cache.size_bytes for cache in shared} == {20 * 2**20}
    assert topology.distances[0] == pytest.approx((10.0, 29.604, 32.574, 29.604), abs=1e-3)


def test_opteron_has_the_latencies_of_forestgomp_table_4() -> None:
    machine = load_description("opteron-4x4")
    for node in range(4):
        neighbours, opposite = ((node + 1) % 4, (node + 3) % 4), (node + 2) % 4
        for table, figures in ((machine.read_latency_ns, (83, 98, 117)), (machine.write_latency_ns, (142, 177, 208))):
            assert table[node][node] == figures[0]
            assert {table[node][neighbour] for neighbour in neighbours} == {figures[1]}
            assert table[node][opposite] == figures[2]
        assert len(machine.routes[node][opposite]) == 2
        # STREAM's triad counts 24 of 32 bytes moved: 16 read, 8 written at half the speed
        triad = 24 / (16 / machine.controller_read_GBps[node] + 8 / machine.controller_write_GBps[node])
        assert triad == pytest.approx(5.151, abs=0.001)


def test_measured_pairs_become_controllers_and_links() -> None:
    machine = load_description("lpdxeon2680")
    assert machine.controller_read_GBps == (46.044875, 46.282278)
    assert machine.links == (Link(0, 1, 24.416026, 19.281494), Link(1, 0, 24.275843, 18.739919))
    assert machine.routes == (((), (0,)), ((1,), ()))
    assert machine.read_latency_ns[0] == pytest.approx((92.5, 180.357), abs=1e-3)  # 259 and 505 cycles at 2.8 GHz


def bandwidth(machine: MachineDescription, quantity: str, source: int, target: int) -> float:
    """What a description says for a cell of the data set's bandwidth tables."""
    _, _, kind = quantity.removesuffix("_GBps").rpartition("_")
    if quantity.startswith("thread"):
        return (machine.thread_read_GBps if kind == "read" else machine.thread_write_GBps)[source][target]
    if source == target:
        return (machine.controller_read_GBps if kind == "read" else machine.controller_write_GBps)[source]
    (link,) = (machine.links[index] for index in machine.routes[source][target])
    return link.read_GBps if kind == "read" else link.write_GBps


@pytest.mark.shared
@pytest.mark.parametrize("name", MEASURED)
def test_every_measured_value_is_unchanged(name: str) -> None:
    if not MCTOP.is_file():
        pytest.skip("the foreign measurements (datasets/mctop/memory.csv beside the repository) are not here")
    machine = load_description(name)
    measured_by = parse_file(path_of(name).read_bytes(), name).thread_bandwidth.measured_by or range(len(machine.nodes))
    seen = 0
    for row in csv.DictReader(MCTOP.read_text().splitlines()):
        if row["machine"] != name:
            continue
        source, target, value = int(row["source"]), int(row["memory_node"]), float(row["value"])
        if row["quantity"] == "latency_cycles":
            assert machine.read_latency_ns[source][target] * machine.frequency_GHz == pytest.approx(value, rel=1e-12)
        else:
            assert bandwidth(machine, row["quantity"], measured_by[source], target) == value
        seen += 1
    assert seen == 5 * len(machine.nodes) ** 2


def test_diassrv8_is_read_so_that_local_memory_is_fastest() -> None:
    machine = load_description("diassrv8")
    for node, local in enumerate(machine.controller_read_GBps):
        assert local > max(link.read_GBps for link in machine.links if link.source == node)
    nearness = [1 / latency for row in machine.read_latency_ns for latency in row]
    published = parse_file(path_of("diassrv8").read_bytes(), "diassrv8").thread_bandwidth.read_GBps
    for rows, least, most in ((machine.thread_read_GBps, 0.9, 1.0), (published, 0.0, 0.5)):
        assert least < statistics.correlation(nearness, [value for row in rows for value in row]) < most


def test_a_path_is_read_like_a_name(tmp_path: Path) -> None:
    copy = tmp_path / "mine.toml"
    copy.write_bytes(path_of("lpdquad").read_bytes())
    assert load_description(str(copy)) == load_description("lpdquad")


def test_an_unknown_machine_gets_the_list_of_the_known() -> None:
    with pytest.raises(InvalidInputError, match=r"unknown machine 'sandybridge'.*lpdquad.*sandybridge-4x8.*\.toml"):
        load_description("sandybridge")


@pytest.mark.parametrize("name", ["", "../lpdquad", "lpdquad/", "README", "a\x00b"])
def test_a_name_is_no_path(name: str) -> None:
    with pytest.raises(InvalidInputError, match="unknown machine"):
        load_description(name)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"none\.toml: cannot be read: No such file"):
        load_description(str(tmp_path / "none.toml"))
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    with pytest.raises(InvalidInputError, match=r"folder\.toml: cannot be read: Is a directory"):
        load_description(str(folder))
    with pytest.raises(InvalidInputError, match=r"cannot be read: (stat: )?embedded null "):
        load_description("a\x00b.toml")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("[0, 3]]\nread_GBps", "[0, 2]]\nread_GBps", "links: path [1, 0, 3] is not a route: there is no link 0 -> 3"),
        ("paths = [[0, 1, 2],", "paths = [[0, 2],", "links: path [0, 2] is not a route"),
        (
            "cores = [8, 8, 8, 8]",
            "cores = [0, 0, 0, 0]",
            "nodes: topology 'sandybridge-4x8': no NUMA node has a usable",
        ),
        ("[3, 0], [0, 3]]", "[2, 0], [0, 2]]", "there is no link"),
    ],
)
def test_a_machine_that_cannot_be_is_refused(tmp_path: Path, before: str, after: str, said: str) -> None:
    text = path_of("sandybridge-4x8").read_text()
    assert before in text
    broken = tmp_path / "broken.toml"
    broken.write_text(text.replace(before, after))
    with pytest.raises(InvalidInputError) as caught:
        load_description(str(broken))
    assert str(caught.value).startswith(f"machine description {broken}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
