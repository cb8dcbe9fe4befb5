"""Placement: threads on cores and the nodes of pages, against what must hold of every mapping."""

from collections import Counter

import pytest
from hypothesis import given

from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.topology import Core, Node, Topology, restrict
from numapredict.native.errors import InvalidMappingError
from tests.fitting import fitting
from tests.shapes import shape


def nodes_of(label: str, topology: Topology) -> list[int]:
    return [slot.node for slot in resolve(parse_label(label), topology).slots]


def test_contiguous_gives_the_first_nodes_the_larger_shares() -> None:
    assert nodes_of("10x4-contiguous-balance", shape([4] * 4)) == [0, 0, 0, 1, 1, 1, 2, 2, 3, 3]


def test_scatter_goes_round_the_nodes() -> None:
    assert nodes_of("6x4-scatter-balance", shape([4] * 4)) == [0, 1, 2, 3, 0, 1]
    assert nodes_of("4x2-scatter-balance", shape([4] * 4)) == [0, 1, 0, 1]


def test_full_nodes_are_skipped_by_both_policies_alike() -> None:
    uneven = shape([1, 3, 2])
    assert nodes_of("6x3-scatter-balance", uneven) == [0, 1, 2, 1, 2, 1]
    assert nodes_of("6x3-contiguous-balance", uneven) == [0, 1, 1, 1, 2, 2]
    assert nodes_of("5x3-contiguous-balance", uneven) == [0, 1, 1, 2, 2]


def test_threads_take_a_nodes_cores_in_order_and_the_first_pu_of_each() -> None:
    topology = shape([2, 2], pus=2)
    slots = resolve(parse_label("4x2-scatter-balance"), topology).slots
    assert [(slot.node, slot.pu) for slot in slots] == [(0, 0), (1, 2), (0, 1), (1, 3)]


def test_the_consecutive_threads_of_a_node_share_a_core() -> None:
    topology = shape([2, 2], pus=2)  # core i has the PUs i and i + 4
    assert pus_under("8x2-contiguous-balance-smt2", topology) == [0, 4, 1, 5, 2, 6, 3, 7]
    assert pus_under("8x2-scatter-balance-smt2", topology) == [0, 2, 4, 6, 1, 3, 5, 7]
    assert pus_under("4x2-contiguous-balance-smt2", topology) == [0, 4, 2, 6]
    assert pus_under("3x1-contiguous-bind-smt2", topology) == [0, 4, 1]
    assert pus_under("5x1-contiguous-bind-smt4", shape([2], pus=4)) == [0, 2, 4, 6, 1]


def test_a_core_with_fewer_pus_has_a_thread_on_each() -> None:
    topology = restrict(shape([3], pus=2), {0, 3, 1, 2, 5}, {10})  # core 1 has lost its second PU
    assert resolve(parse_label("5x1-contiguous-bind-smt2"), topology).pus == (0, 3, 1, 2, 5)
    with pytest.raises(InvalidMappingError, match=r"needs 6 PUs on 1 node; shape has 5 PUs on 1 node$"):
        resolve(parse_label("6x1-contiguous-bind-smt2"), topology)


def pus_under(label: str, topology: Topology) -> list[int]:
    return [slot.pu for slot in resolve(parse_label(label), topology).slots]


def test_threads_are_dealt_over_the_caches_of_their_node_as_over_nodes() -> None:
    one = shape([8], l3_cores=2)
    assert pus_under("4x1-contiguous-bind", one) == [0, 1, 2, 3]
    assert pus_under("4x1-contiguous-bind-4l3", one) == [0, 2, 4, 6]
    assert pus_under("2x1-contiguous-bind-2l3", one) == [0, 4]  # as far apart as they can be
    assert pus_under("4x1-contiguous-bind-2l3", one) == [0, 1, 4, 5]
    assert pus_under("4x1-contiguous-bind-3l3", one) == [0, 1, 2, 4]
    assert pus_under("4x1-scatter-bind-3l3", one) == [0, 2, 4, 1]
    assert pus_under("7x1-scatter-bind-4l3", one) == [0, 2, 4, 6, 1, 3, 5]
    two = shape([4, 4], l3_cores=2)
    assert pus_under("4x2-contiguous-locality-4l3", two) == [0, 2, 4, 6]
    assert pus_under("4x2-scatter-locality-4l3", two) == [0, 4, 2, 6]
    assert pus_under("4x2-contiguous-locality-3l3", two) == [0, 2, 4, 5]  # the first node has the second cache more
    assert pus_under("4x1-contiguous-bind-2l3-smt2", shape([4], pus=2, l3_cores=2)) == [0, 4, 2, 6]


def test_full_caches_are_skipped() -> None:
    uneven = restrict(shape([6], l3_cores=2), {0, 2, 3, 4, 5}, {10})
    assert pus_under("5x1-contiguous-bind-3l3", uneven) == [0, 2, 3, 4, 5]
    assert pus_under("5x1-scatter-bind-3l3", uneven) == [0, 2, 4, 3, 5]


@pytest.mark.parametrize(
    ("label", "why"),
    [
        ("4x1-contiguous-bind-4l3", r"needs 4 cores on 4 L3 caches; shape has 6 cores on 3 L3 caches of 1 node$"),
        ("5x1-contiguous-bind-2l3", r"needs 5 cores on 2 L3 caches; shape has 6 cores on 3 L3 caches of 1 node$"),
        ("7x1-contiguous-bind-3l3", r"needs 7 cores on 1 node; shape has 6 cores on 1 node$"),
    ],
)
def test_too_few_caches_or_cores_of_them_are_named(label: str, why: str) -> None:
    with pytest.raises(InvalidMappingError, match=why):
        resolve(parse_label(label), shape([6], l3_cores=2))


def test_a_core_without_so_many_pus_is_named() -> None:
    with pytest.raises(InvalidMappingError, match=r"puts 4 threads on each core; shape has 2 usable PUs per core$"):
        resolve(parse_label("2x2-contiguous-balance-smt4"), shape([2, 2], pus=2))
    with pytest.raises(InvalidMappingError, match=r"puts 2 threads on each core; shape has 1 usable PU per core$"):
        resolve(parse_label("4x2-contiguous-balance-smt2"), shape([2, 2]))


def test_nodes_without_cores_hold_no_threads() -> None:
    assert nodes_of("4x2-contiguous-balance", shape([0, 2, 0, 2])) == [1, 1, 3, 3]


@pytest.mark.parametrize("label", ["5x2-contiguous-balance", "3x1-scatter-balance@2", "3x3-contiguous-balance"])
def test_too_many_threads_or_nodes_are_refused(label: str) -> None:
    with pytest.raises(InvalidMappingError, match=rf"{label} needs .* cores? on . nodes?; shape has") as error:
        resolve(parse_label(label), shape([2, 2]))
    assert "\n" not in str(error.value)


@given(fitting())
def test_slots_use_each_pu_once_and_all_thread_nodes_evenly(case: tuple[Mapping, Topology]) -> None:
    mapping, topology = case
    slots = resolve(mapping, topology).slots
    assert len(slots) == len({slot.pu for slot in slots}) == mapping.threads
    used = Counter(slot.node for slot in slots)
    assert set(used) == {node.index for node in topology.cpu_nodes[: mapping.thread_nodes]}
    for node in topology.cpu_nodes[: mapping.thread_nodes]:
        per_core = mapping.threads_per_core
        pus = [node.cores[i // per_core].pus[i % per_core] for i in range(used[node.index])]
        assert [slot.pu for slot in slots if slot.node == node.index] == pus
        # A node that is not full has at most one thread less than any other.
        assert used[node.index] == per_core * len(node.cores) or max(used.values()) - used[node.index] <= 1
    if mapping.thread_policy == "contiguous":
        assert [slot.node for slot in slots] == sorted(slot.node for slot in slots)
    else:
        assert [slot.node for slot in slots[: mapping.thread_nodes]] == sorted(used)


@given(fitting())
def test_page_nodes_have_memory_and_appear_once(case: tuple[Mapping, Topology]) -> None:
    mapping, topology = case
    nodes = resolve(mapping, topology).page_nodes
    assert len(set(nodes)) == len(nodes) <= mapping.page_nodes
    assert {node.index for node in topology.memory_nodes}.issuperset(nodes)
    if mapping.page_policy != "remote":
        assert nodes[0] == topology.home(resolve(mapping, topology).slots[0].node)


def test_page_nodes_are_homes_then_others_by_distance_then_index() -> None:
    topology = shape(
        [2, 2, 2, 2, 0],
        distances=[[10, 30, 20, 30, 25], [30, 10, 20, 20, 20], *[[10, 10, 10, 10, 10]] * 3],
    )
    sets = {
        label: resolve(parse_label(label), topology).page_nodes
        for label in ("2x1-contiguous-balance@5", "4x2-contiguous-balance@4", "4x2-contiguous-balance")
    }
    assert list(sets.values()) == [(0, 2, 4, 1, 3), (0, 1, 2, 4), (0, 1)]


def test_threads_on_nodes_without_memory_share_a_home() -> None:
    topology = shape([2, 2, 2], memory=[0, 1, 1], distances=[[10, 15, 20], [15, 10, 20], [20, 20, 10]])
    assert resolve(parse_label("4x2-contiguous-locality"), topology).page_nodes == (1,)
    assert resolve(parse_label("6x3-contiguous-balance"), topology).page_nodes == (1, 2)


def test_remote_is_the_farthest_memory_without_threads() -> None:
    topology = shape([2, 2, 2, 2], distances=[[10, 21, 31, 31], *[[10, 10, 10, 10]] * 3])
    assert resolve(parse_label("2x1-contiguous-remote"), topology).page_nodes == (2,)
    assert resolve(parse_label("6x3-contiguous-remote@1"), topology).page_nodes == (3,)
    with pytest.raises(InvalidMappingError, match="remote needs a node without threads"):
        resolve(parse_label("8x4-contiguous-remote@1"), topology)
    assert resolve(parse_label("4x2-contiguous-remote@1"), shape([2, 2, 0])).page_nodes == (2,)


def test_too_many_page_nodes_are_refused() -> None:
    with pytest.raises(InvalidMappingError, match=r"needs 3 nodes with memory; shape has 2$"):
        resolve(parse_label("4x2-contiguous-balance@3"), shape([2, 2]))


def test_first_touch_lets_pages_stand_at_the_threads_homes() -> None:
    """A node without memory has its pages on the nearest one that has some."""
    nodes = (
        Node(0, 4, (Core(0, (0,)),), 1 << 30),
        Node(1, 5, (Core(1, (1,)),), 0),
        Node(2, 6, (Core(2, (2,)),), 1 << 30),
    )
    distances = ((10.0, 12.0, 30.0), (12.0, 10.0, 20.0), (30.0, 20.0, 10.0))
    topology = Topology("odd", nodes, (), distances)
    assert frozenset(resolve(parse_label("3x3-contiguous-first-touch"), topology).os_page_nodes) == {4, 6}
    assert frozenset(resolve(parse_label("2x2-contiguous-first-touch"), topology).os_page_nodes) == {4}
    assert frozenset(resolve(parse_label("1x1-contiguous-bind"), topology).os_page_nodes) == {4}
