import msgspec
import pytest

from numapredict.collect.describing.pairs import (
    bandwidth_bytes,
    check_memory,
    latency_bytes,
    measured_pairs,
)
from numapredict.collect.host.facts.memory import NodeMemory
from numapredict.collect.topology import Core, Node, Topology
from numapredict.native.errors import UnrunnableProgramError
from tests.unit.collect.describing.made_up import captured


def ring(count: int) -> Topology:
    return Topology(
        name="ring",
        nodes=tuple(Node(n, n, (Core(n, (n,)),), 1 << 30) for n in range(count)),
        caches=(),
        distances=tuple(
            tuple(10.0 + 6 * min(abs(i - j), count - abs(i - j)) for j in range(count)) for i in range(count)
        ),
    )


def test_every_pair_of_eight_nodes_is_measured() -> None:
    assert sorted(measured_pairs(ring(8))) == [(i, j) for i in range(8) for j in range(8)]


def test_of_more_nodes_all_local_pairs_and_one_of_each_distance() -> None:
    found = list(measured_pairs(ring(12)))
    assert {pair for pair in found if pair[0] == pair[1]} == {(n, n) for n in range(12)}
    assert [pair for pair in found if pair[0] != pair[1]] == [(0, n) for n in range(1, 7)]


def test_nodes_without_memory_or_cores_are_in_no_pair() -> None:
    for name in ("memory-only", "memoryless"):
        topology, _ = captured(name)
        for cores, memory in measured_pairs(topology):
            assert topology.nodes[cores].cores
            assert topology.nodes[memory].memory_bytes


def test_what_is_measured_is_far_larger_than_the_caches() -> None:
    topology, caches = captured("four-node")
    cores = len(topology.nodes[0].cores)
    size = latency_bytes(caches)
    assert size & (size - 1) == 0
    assert 4 * caches.shared.size_bytes <= size < 8 * caches.shared.size_bytes
    assert bandwidth_bytes(caches, cores) == 4 * (caches.shared.size_bytes + cores * caches.private.size_bytes)


@pytest.mark.parametrize(("cores", "count"), [(4, 1), (5, 2), (8, 2), (12, 3)])
def test_streams_are_larger_than_all_shared_caches_of_a_node(cores: int, count: int) -> None:
    _, found = captured("four-node")
    caches = msgspec.structs.replace(found, sharing=4)
    every = count * caches.shared.size_bytes + cores * caches.private.size_bytes
    assert bandwidth_bytes(caches, cores) == 4 * every


def test_a_node_without_free_memory_is_named() -> None:
    topology, caches = captured("four-node")
    nodes = [node.os_index for node in topology.memory_nodes]
    enough = [NodeMemory(node, 1 << 40, 1 << 38, 0) for node in nodes]
    check_memory(topology, caches, enough)
    short = NodeMemory(nodes[2], 1 << 40, 1 << 20, 2 << 20)
    with pytest.raises(UnrunnableProgramError, match=f"node {nodes[2]} has 2 MiB of free memory"):
        check_memory(topology, caches, [*enough, short])
