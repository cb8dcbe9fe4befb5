import msgspec
import pytest

from numapredict.collect.describing.caches import found_caches
from numapredict.collect.host.hwloc import CacheDetail
from numapredict.collect.topology import Cache, Core, Node, Topology
from tests.unit.collect.describing.made_up import NAMES, captured

TWO = Topology(
    name="two",
    nodes=tuple(Node(n, n, tuple(Core(2 * n + c, (2 * n + c,)) for c in range(2)), 1 << 30) for n in range(2)),
    caches=(),
    distances=((10, 20), (20, 10)),
)


def with_caches(*caches: Cache) -> Topology:
    return msgspec.structs.replace(TWO, caches=caches)


@pytest.mark.parametrize("name", NAMES)
def test_each_captured_machine_has_caches_that_a_description_may_have(name: str) -> None:
    topology, caches = captured(name)
    for cache in (caches.private, caches.shared):
        assert cache.size_bytes % (cache.ways * caches.line_bytes) == 0
        assert cache.source
        assert cache.ways_source
    assert 1 <= caches.sharing <= max(len(node.cores) for node in topology.nodes)


def test_the_last_level_is_shared_and_the_one_before_is_private() -> None:
    first, second, third = Cache(1, 32768, 64, (0,)), Cache(2, 1 << 20, 64, (0,)), Cache(3, 8 << 20, 64, (0, 1))
    details = (CacheDetail(2, 8, True), CacheDetail(3, 11, False))
    found = found_caches(with_caches(third, first, second), details)
    assert (found.private.size_bytes, found.private.ways, found.private.ways_source) == (1 << 20, 8, "hwloc: L2")
    assert (found.shared.size_bytes, found.sharing, found.inclusive) == (8 << 20, 2, False)
    assert found.shared.ways == 16  # 11 do not divide it
    assert found.shared.ways_source.startswith("assumption:")


def test_a_cache_of_one_core_of_several_or_of_two_nodes() -> None:
    assert found_caches(with_caches(Cache(3, 8 << 20, 64, (0,)))).sharing == 1
    spanning = found_caches(with_caches(Cache(3, 8 << 20, 64, (0, 1, 2, 3))))
    assert (spanning.shared.size_bytes, spanning.sharing) == (4 << 20, 2)
    assert "2 nodes" in spanning.shared.source


def test_a_computer_that_hides_its_caches_gets_assumed_ones() -> None:
    assert found_caches(TWO).shared.source.startswith("assumption:")
