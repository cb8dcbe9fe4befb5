"""Topologies: their properties, their restriction, and what they refuse."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.topology import Bandwidths, Cache, Core, Node, SharedLink, Topology, restrict
from numapredict.native.errors import InvalidTopologyError
from tests.shapes import shape


def test_cpu_and_memory_nodes_are_distinguished() -> None:
    topology = shape([2, 0, 3], memory=[0, 5, 7])
    assert [node.index for node in topology.cpu_nodes] == [0, 2]
    assert [node.index for node in topology.memory_nodes] == [1, 2]
    assert topology.core_count == 5


def test_the_threads_a_core_are_the_most_that_one_core_may_use() -> None:
    assert shape([2, 2]).threads_per_core == 1
    assert shape([2, 2], pus=4).threads_per_core == 4
    assert restrict(shape([2, 2], pus=2), {0, 1, 5}, {10, 11}).threads_per_core == 2
    assert restrict(shape([2, 2], pus=2), {0, 1, 2, 3}, {10, 11}).threads_per_core == 1


def test_home_is_the_nearest_memory_then_the_lowest_index() -> None:
    topology = shape([1, 1, 1, 1], memory=[0, 1, 1, 1], distances=[[10, 30, 20, 20], *[[10, 10, 10, 10]] * 3])
    assert [topology.home(index) for index in range(4)] == [2, 1, 2, 3]


def test_fingerprint_ignores_names_and_sizes_of_memory_but_not_the_shape() -> None:
    base = shape([2, 2])
    assert shape([2, 2], name="other").fingerprint == base.fingerprint
    assert shape([2, 2], memory=[9, 9]).fingerprint == base.fingerprint
    assert shape([2, 2], pus=2).fingerprint == base.fingerprint
    others = [
        shape([2, 3]),
        shape([4]),
        shape([2, 2], memory=[1, 0]),
        shape([2, 2], distances=[[10, 21], [21, 10]]),
        msgspec.structs.replace(base, caches=()),
        msgspec.structs.replace(base, caches=(Cache(3, 1 << 21, 64, (0, 1)), Cache(3, 1 << 20, 64, (2, 3)))),
    ]
    assert len({base.fingerprint, *(other.fingerprint for other in others)}) == len(others) + 1


def test_fingerprint_is_the_same_in_every_process() -> None:
    # Models and datasets keep it: a change here makes every file that was written before a stranger.
    assert shape([2, 2]).fingerprint == "d0089419ce3d544a"


def test_a_topology_survives_json() -> None:
    topology = shape([2, 0, 1], memory=[0, 4, 2], pus=2)
    assert msgspec.json.decode(msgspec.json.encode(topology), type=Topology) == topology


def test_restrict_closes_gaps_and_keeps_os_indices() -> None:
    topology = shape([2, 2, 2], distances=[[10, 12, 13], [21, 10, 23], [31, 32, 10]], pus=2)
    small = restrict(topology, pus=[1, 5, 7, 11], memory_nodes=[12])
    assert [node.os_index for node in small.nodes] == [10, 12]
    assert [node.memory_bytes for node in small.nodes] == [0, 1 << 30]
    assert [[core.pus for core in node.cores] for node in small.nodes] == [[(1, 7)], [(5, 11)]]
    assert [core.index for node in small.nodes for core in node.cores] == [0, 1]
    assert small.distances == ((10.0, 13.0), (31.0, 10.0))
    assert [cache.cores for cache in small.caches] == [(0,), (1,)]


def test_bandwidths_follow_their_nodes() -> None:
    table = ((30.0, 12.0, 13.0), (21.0, 30.0, 23.0), (31.0, 32.0, 30.0))
    links = (SharedLink(9.0, ((0, 1), (0, 2))), SharedLink(8.0, ((0, 2), (1, 2))))
    topology = msgspec.structs.replace(shape([2, 2, 2]), bandwidths=Bandwidths(table, table[::-1], links))
    assert topology.fingerprint == shape([2, 2, 2]).fingerprint
    assert topology.as_unmeasured == msgspec.json.encode(shape([2, 2, 2]))
    assert msgspec.json.decode(msgspec.json.encode(topology), type=Topology) == topology
    small = restrict(topology, pus=[0, 4], memory_nodes=[12])
    assert small.bandwidths == Bandwidths(((30.0, 13.0), (31.0, 30.0)), ((31.0, 30.0), (30.0, 13.0)), ())
    for wrong in (Bandwidths(table[:2], table), Bandwidths(table, ((0.0,) * 3,) * 3)):
        with pytest.raises(InvalidTopologyError, match="bandwidths of a"):
            msgspec.structs.replace(topology, bandwidths=wrong)
    with pytest.raises(InvalidTopologyError, match="a link"):
        msgspec.structs.replace(topology, bandwidths=Bandwidths(table, table, (SharedLink(1.0, ((0, 3),)),)))


def test_restrict_keeps_a_sibling_when_the_first_pu_is_not_allowed() -> None:
    small = restrict(shape([2], pus=2), pus=[2, 1], memory_nodes=[10])
    assert [core.pus for core in small.nodes[0].cores] == [(2,), (1,)]


def test_restrict_to_everything_changes_nothing() -> None:
    topology = shape([2, 0, 3], memory=[0, 4, 2], pus=2)
    assert restrict(topology, range(100), range(100)) == topology


@pytest.mark.parametrize(("pus", "nodes", "what"), [([], [10], "core"), ([0], [], "memory"), ([99], [99], "core")])
def test_restrict_to_nothing_is_an_error(pus: list[int], nodes: list[int], what: str) -> None:
    with pytest.raises(InvalidTopologyError, match=f"usable {what}"):
        restrict(shape([2]), pus, nodes)


@given(
    cores=st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any),
    pus=st.sets(st.integers(0, 39)),
    nodes=st.sets(st.integers(10, 14)),
)
def test_restrict_twice_is_restrict_once_to_both(cores: list[int], pus: set[int], nodes: set[int]) -> None:
    topology = shape(cores, pus=2)
    pus |= {0}
    nodes |= {10}
    once = restrict(topology, pus, nodes)
    assert restrict(once, pus, nodes) == once
    assert restrict(restrict(topology, pus, range(100)), range(100), nodes) == once
    assert {pu for node in once.nodes for core in node.cores for pu in core.pus} == pus & set(range(2 * sum(cores)))


NODE = Node(0, 0, (Core(0, (0,)),), 1)
TABLE = ((10.0,),)


@pytest.mark.parametrize(
    ("nodes", "caches", "distances", "what"),
    [
        ((), (), (), "no NUMA node has a usable core"),
        ((Node(0, 0, (), 1),), (), TABLE, "no NUMA node has a usable core"),
        ((Node(0, 0, (Core(0, (0,)),), 0),), (), TABLE, "no NUMA node has usable memory"),
        ((Node(1, 0, (Core(0, (0,)),), 1),), (), TABLE, "numbered from 0"),
        ((NODE, Node(1, 1, (), -4)), (), ((10.0, 20.0), (20.0, 10.0)), "-4 bytes"),
        ((NODE, Node(1, 1, (), 0)), (), ((10.0, 20.0), (20.0, 10.0)), "neither cores nor memory"),
        ((NODE, Node(1, 0, (), 1)), (), ((10.0, 20.0), (20.0, 10.0)), "OS index of a node appears more than once: 0"),
        ((NODE, Node(1, 1, (Core(1, (0,)),), 1)), (), ((10.0, 20.0), (20.0, 10.0)), "PU appears more than once: 0"),
        ((NODE, Node(1, 1, (Core(0, (1,)),), 1)), (), ((10.0, 20.0), (20.0, 10.0)), "index of a core appears more"),
        ((Node(0, 0, (Core(0, (-1,)),), 1),), (), TABLE, "PU is negative"),
        ((Node(0, 0, (Core(0, ()),), 1),), (), TABLE, "a core has no PU"),
        ((NODE,), (Cache(3, 0, 64, (0,)),), TABLE, "level 3 cache has 0 bytes"),
        ((NODE,), (Cache(3, 1, 64, (7,)),), TABLE, "cores that do not exist"),
        ((NODE,), (Cache(3, 1, 64, ()),), TABLE, "cores that do not exist"),
        ((NODE,), (), ((10.0, 20.0),), "square table"),
        ((NODE,), (), ((0.0,),), "positive"),
        ((NODE,), (), ((float("nan"),),), "positive"),
    ],
)
def test_contradictions_are_refused_in_one_line(
    nodes: tuple[Node, ...], caches: tuple[Cache, ...], distances: tuple[tuple[float, ...], ...], what: str
) -> None:
    with pytest.raises(InvalidTopologyError) as error:
        Topology("bad", nodes, caches, distances)
    assert what in str(error.value)
    assert "'bad'" in str(error.value)
    assert "\n" not in str(error.value)
