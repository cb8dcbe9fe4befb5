from pathlib import Path

import msgspec
import pytest

from numapredict.collect.describing.description import About, described
from numapredict.collect.host.packages import Package
from numapredict.collect.modelled.description import load_description
from numapredict.collect.modelled.description_text import description_text
from tests.unit.collect.describing.made_up import NAMES, captured, measured

ABOUT = About(name="mine", processor="A CPU", kernel="Linux 6.1", date="2026-11-22", page_bytes=4096)


@pytest.mark.parametrize("name", NAMES)
def test_every_shape_of_computer_gives_a_description_that_loads(name: str, tmp_path: Path) -> None:
    topology, caches = captured(name)
    path = tmp_path / "mine.toml"
    path.write_text(description_text(described(measured(topology, caches), ABOUT)))
    loaded = load_description(str(path))
    assert [(node.cores, node.memory_bytes) for node in loaded.nodes] == [
        (len(node.cores), node.memory_bytes) for node in topology.nodes
    ]
    home = topology.cpu_nodes[0].index
    memory = topology.home(home)
    assert loaded.read_latency_ns[home][memory] == pytest.approx(10 * topology.distances[home][memory], rel=1e-3)
    assert loaded.controller_read_GBps[home] == pytest.approx(400 / topology.distances[home][memory], rel=1e-3)
    assert loaded.thread_write_GBps[home][memory] == pytest.approx(50 / topology.distances[home][memory], rel=1e-3)
    assert len(loaded.team_costs) == (0 if topology.core_count == 1 else len(measured(topology, caches).teams))
    assert all(text for _, text in loaded.sources)


def test_each_measured_figure_says_on_what_how_often_and_how_exactly() -> None:
    sources = dict(described(measured(*captured("four-node")), ABOUT).sources())
    for figure in ("core.frequency_GHz", "latency.read", "node_bandwidth.write_GBps", "synchronisation.lock_ns"):
        assert sources[figure].startswith("measured on A CPU, Linux 6.1, 2026-11-22: ")
        assert "medians of 5 repetitions, spread" in sources[figure]
    assert sources["core.reorder_window"].startswith("assumption: not measured")


def test_hardware_threads_have_a_throughput_between_one_and_their_number() -> None:
    topology, caches = captured("smt")
    found = measured(topology, caches)
    core = described(found, ABOUT).core
    assert (core.threads, core.smt_throughput) == (len(topology.nodes[0].cores[0].pus), 1.25)  # 10 over 8 a ns
    slower = msgspec.structs.replace(found.cores.instructions_per_ns, values=(99.0,))
    cores = msgspec.structs.replace(found.cores, instructions_per_ns=slower)
    assert described(msgspec.structs.replace(found, cores=cores), ABOUT).core.smt_throughput == 1.0


def test_turbo_has_an_entry_for_each_count_of_active_cores() -> None:
    found = measured(*captured("four-node"))
    (one, _), *_, (most, _) = found.cores.turbo_GHz
    turbo = described(found, ABOUT).core.turbo_GHz
    assert one == 1
    assert len(turbo) == most
    assert turbo[0] == pytest.approx(3.95)
    assert list(turbo) == sorted(turbo, reverse=True)
    fixed = tuple((count, found.cores.frequency_GHz) for count, _ in found.cores.turbo_GHz)
    cores = msgspec.structs.replace(found.cores, turbo_GHz=fixed)
    assert described(msgspec.structs.replace(found, cores=cores), ABOUT).core.turbo_GHz == ()


def test_packages_are_named_where_one_has_several_nodes() -> None:
    topology, caches = captured("four-node")
    pus = [tuple(pu for core in node.cores for pu in core.pus) for node in topology.nodes]
    two = (Package(0, pus[0] + pus[1], (0, 1)), Package(3, pus[2] + pus[3], (2, 3)))
    assert described(measured(topology, caches, two), ABOUT).nodes.packages == (0, 0, 3, 3)
    four = tuple(Package(n, pus[n], (n,)) for n in range(4))
    assert described(measured(topology, caches, four), ABOUT).nodes.packages == ()
