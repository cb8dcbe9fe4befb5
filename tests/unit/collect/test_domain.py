"""Domains: the L3 caches of a node, against topologies whose caches are known."""

import msgspec

from numapredict.collect.domain import cores_by_l3, domains_of, domains_used, l3_sizes, most_domains
from numapredict.collect.topology import Cache, Topology, restrict
from tests.shapes import shape


def sizes(topology: Topology, node: int = 0) -> list[int]:
    return [len(cores) for cores in domains_of(topology, node)]


def test_a_node_has_the_cores_of_each_of_its_caches() -> None:
    topology = shape([5, 4], l3_cores=2)
    assert (sizes(topology), sizes(topology, 1)) == ([2, 2, 1], [2, 2])
    assert [core.index for core in domains_of(topology, 1)[1]] == [7, 8]
    assert most_domains(topology) == 3
    assert (sizes(shape([4, 4])), most_domains(shape([4, 4]))) == ([4], 1)


def test_a_cache_of_several_nodes_and_no_cache_split_none() -> None:
    wide = msgspec.structs.replace(shape([2, 2]), caches=(Cache(3, 1 << 20, 64, (0, 1, 2, 3)),))
    none = msgspec.structs.replace(shape([2, 2]), caches=(Cache(2, 1 << 20, 64, (0,)), Cache(2, 1 << 20, 64, (1,))))
    for topology in (wide, none):
        assert (sizes(topology), sizes(topology, 1), most_domains(topology)) == ([2], [2], 1)


def test_threads_are_not_spread_over_cores_without_a_cache() -> None:
    topology = msgspec.structs.replace(shape([4]), caches=(Cache(3, 1 << 20, 64, (1, 2)),))
    assert (sizes(topology), l3_sizes(topology, 0), most_domains(topology)) == ([2], (2,), 1)
    assert [core.index for core in cores_by_l3(topology, 0)] == [1, 2, 0, 3]
    assert l3_sizes(shape([4]), 0) == ()


def test_a_control_group_leaves_the_caches_with_cores_in_it() -> None:
    topology = restrict(shape([6], l3_cores=2), {0, 4, 5}, {10})
    assert sizes(topology) == [1, 2]
    assert domains_used(topology, (4, 5)) == 1
    assert domains_used(topology, (0, 4)) == 2
