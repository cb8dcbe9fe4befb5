"""A topology in words: its L3 caches and kinds of cores are said where there are several."""

from pathlib import Path

from numapredict.collect.host.hwloc import topology_from_xml
from numapredict.collect.host.topology_text import describe, shape_of
from tests.shapes import shape

MACHINES = Path(__file__).parents[3] / "machines"


def test_caches_are_counted_and_listed_where_a_node_has_several() -> None:
    two = shape([4, 2], l3_cores=2)
    assert shape_of(two) == "2 NUMA nodes with 2 to 4 cores each, up to 2 L3 caches a node"
    assert describe(two).splitlines()[-1] == "L3 caches of node 10, by PUs: 0-1; 2-3"
    assert shape_of(shape([8], l3_cores=2)) == "1 NUMA node with 8 cores, 4 L3 caches"
    assert "L3 caches" not in describe(shape([4, 4])) + shape_of(shape([4, 4]))


def test_kinds_of_cores_are_listed_the_fastest_first() -> None:
    topology = topology_from_xml((MACHINES / "slow-first.xml").read_bytes(), "hybrid")
    assert shape_of(topology) == "1 NUMA node with 6 cores, 2 kinds of cores, 2 threads a core"
    assert describe(topology).splitlines()[-1] == "kinds of cores, the fastest first, by PUs: 8-11; 0,2,4,6"
