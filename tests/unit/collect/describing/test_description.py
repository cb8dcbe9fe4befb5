from pathlib import Path

import msgspec
import pytest

from numapredict.collect.describing.computer import MeasuredComputer
from numapredict.collect.describing.description import About, described
from numapredict.collect.describing.sample import Sample
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
    assert loaded.cycles_from_native_run


def test_each_measured_figure_says_on_what_how_often_and_how_exactly() -> None:
    sources = dict(described(measured(*captured("four-node")), ABOUT).sources())
    for figure in ("core.frequency_GHz", "latency.read", "node_bandwidth.write_GBps", "synchronisation.lock_ns"):
        assert sources[figure].startswith("measured on A CPU, Linux 6.1, 2026-11-22: ")
        assert "medians of 5 repetitions, spread" in sources[figure]
    assert "counted in the x86-64 instructions of traces" in sources["core.cycles_per_instruction"]
    assert sources["core.reorder_window"].startswith("assumption: not measured")


def test_a_barrier_takes_no_longer_than_the_region_that_it_ends(tmp_path: Path) -> None:
    found = measured(*captured("four-node"))
    first, *others = found.teams
    disturbed = msgspec.structs.replace(first, fork_join_us=Sample((1.5,)), barrier_us=Sample((90.0,)))
    path = tmp_path / "mine.toml"
    changed = msgspec.structs.replace(found, teams=(disturbed, *others))
    path.write_text(description_text(described(changed, ABOUT)))
    table = described(changed, ABOUT).synchronisation
    assert table is not None
    assert (table.fork_join_us[0], table.barrier_us[0]) == (1.5, 1.5)
    assert table.barrier_us[1:] == described(found, ABOUT).synchronisation.barrier_us[1:]  # type: ignore[union-attr]
    load_description(str(path))


def with_cores(found: MeasuredComputer, **changes: object) -> MeasuredComputer:
    return msgspec.structs.replace(found, cores=msgspec.structs.replace(found.cores, **changes))


def test_instructions_are_counted_in_cycles_of_one_core() -> None:
    core = described(measured(*captured("four-node")), ABOUT).core
    assert core.frequency_GHz == pytest.approx(4 - 32 / 20)  # of all cores
    assert core.cycles_per_instruction == pytest.approx(3.95 / 8, rel=1e-3)


def test_hardware_threads_have_a_throughput_between_one_and_their_number() -> None:
    topology, caches = captured("smt")
    found = measured(topology, caches)
    core = described(found, ABOUT).core
    assert (core.threads, core.smt_throughput) == (len(topology.nodes[0].cores[0].pus), 1.25)  # 10 over 8 a ns
    for alone, throughput in ((99.0, 1.0), (0.5, 2.0)):
        changed = with_cores(found, instructions_per_ns=Sample((alone,)))
        assert described(changed, ABOUT).core.smt_throughput == throughput


def test_turbo_has_an_entry_for_each_count_of_active_cores() -> None:
    found = measured(*captured("four-node"))
    (one, _), *_, (most, _) = found.cores.turbo_GHz
    turbo = described(found, ABOUT).core.turbo_GHz
    assert one == 1
    assert len(turbo) == most
    assert turbo[0] == pytest.approx(3.95)
    assert list(turbo) == sorted(turbo, reverse=True)
    fixed = tuple((count, found.cores.frequency_GHz) for count, _ in found.cores.turbo_GHz)
    assert described(with_cores(found, turbo_GHz=fixed), ABOUT).core.turbo_GHz == ()


def test_turbo_never_grows_with_the_active_cores() -> None:
    noisy = ((1, Sample((4.0,))), (2, Sample((3.0,))), (4, Sample((3.5,))))
    changed = with_cores(measured(*captured("four-node")), turbo_GHz=noisy)
    assert described(changed, ABOUT).core.turbo_GHz == (4.0, 3.5, 3.5, 3.5)


def test_disturbed_frequencies_are_no_turbo() -> None:
    disturbed = ((1, Sample((4.0,))), (2, Sample((2.0,), "other programs used 1.0 of its 2 PUs")))
    file = described(with_cores(measured(*captured("four-node")), turbo_GHz=disturbed), ABOUT)
    assert file.core.turbo_GHz == ()
    assert dict(file.sources())["core.frequency_GHz"].endswith(
        "no turbo_GHz, because its measurements stayed disturbed"
    )


def test_a_cache_of_some_cores_of_a_node_says_how_many() -> None:
    topology, caches = captured("four-node")
    file = described(measured(topology, msgspec.structs.replace(caches, sharing=4)), ABOUT)
    assert file.shared_cache.cores == 4
    assert dict(file.sources())["shared_cache.cores"] == caches.shared.source
    assert described(measured(topology, caches), ABOUT).shared_cache.cores is None


def test_packages_are_named_where_one_has_several_nodes() -> None:
    topology, caches = captured("four-node")
    pus = [tuple(pu for core in node.cores for pu in core.pus) for node in topology.nodes]
    two = (Package(0, pus[0] + pus[1], (0, 1)), Package(8228, pus[2] + pus[3], (2, 3)))
    assert described(measured(topology, caches, two), ABOUT).nodes.packages == (0, 0, 1, 1)
    four = tuple(Package(n, pus[n], (n,)) for n in range(4))
    assert described(measured(topology, caches, four), ABOUT).nodes.packages == ()
    assert described(measured(topology, caches, two[:1]), ABOUT).nodes.packages == ()  # two nodes' are unknown


def test_a_node_without_cores_is_in_the_package_of_its_nearest_node() -> None:
    topology, caches = captured("memory-only")
    first, second, _ = topology.nodes
    own = [tuple(pu for core in node.cores for pu in core.pus) for node in (first, second)]
    two = (Package(0, own[0], (first.os_index,)), Package(1, own[1], (second.os_index,)))
    assert described(measured(topology, caches, two), ABOUT).nodes.packages == (0, 1, 0)
