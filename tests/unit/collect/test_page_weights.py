"""Weights of page nodes against all others that add up to as much, and what limits them one by one."""

import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.mapping import parse_label
from numapredict.collect.modelled.description import load_description
from numapredict.collect.page_weights import page_weights
from numapredict.collect.placement import resolve
from numapredict.collect.topology import Bandwidths, SharedLink, Topology
from tests.shapes import shape


def known(cores: list[int], thread: list[list[float]], node: list[list[float]], *links: SharedLink) -> Topology:
    rows = (tuple(map(tuple, table)) for table in (thread, node))
    return msgspec.structs.replace(shape(cores), bandwidths=Bandwidths(*rows, links))


def time_of(topology: Topology, threads: tuple[int, ...], weights: dict[int, int]) -> float:
    """Return how long the slowest thing takes for all pages, spread by weights: thing by thing, as in the document."""
    total, count, table = sum(weights.values()), len(threads), topology.bandwidths
    assert table is not None
    part = {node: threads.count(node) / count for node in threads}
    times = []
    for node, weight in weights.items():
        share = weight / total
        times.append(share / table.node_GBps[node][node])
        times += [share * part[own] / table.node_GBps[own][node] for own in part]
    for own in part:
        times.append(sum(w / total / count / table.thread_GBps[own][node] for node, w in weights.items()))
    for link in table.links:
        carried = sum(part.get(own, 0) * weights.get(node, 0) / total for own, node in link.pairs)
        times.append(carried / link.read_GBps)
    return max(times)


@st.composite
def machines(draw: st.DrawFn) -> tuple[Topology, tuple[int, ...], tuple[int, ...]]:
    nodes = draw(st.integers(2, 3))
    speed = st.integers(1, 40).map(float)
    tables = [[[draw(speed) for _ in range(nodes)] for _ in range(nodes)] for _ in range(2)]
    pairs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j]
    links = draw(st.lists(st.tuples(speed, st.lists(st.sampled_from(pairs), min_size=2, unique=True)), max_size=2))
    threads = draw(st.lists(st.integers(0, nodes - 1), min_size=1, max_size=8))
    topology = known([8] * nodes, *tables, *(SharedLink(speed, tuple(each)) for speed, each in links))
    return topology, tuple(threads), tuple(draw(st.permutations(range(nodes))))


@given(machines())
def test_no_other_weights_need_less_time(case: tuple[Topology, tuple[int, ...], tuple[int, ...]]) -> None:
    topology, threads, page_nodes = case
    found = page_weights(topology, threads, page_nodes)
    assert min(found) >= 0
    assert max(found) > 0
    mine = time_of(topology, threads, dict(zip(page_nodes, found, strict=True)))
    for other in itertools.product(range(9), repeat=len(page_nodes)):
        if any(other):
            # Of 32 parts each is at most a 64th off what is best for it.
            assert mine <= time_of(topology, threads, dict(zip(page_nodes, other, strict=True))) * 1.07, other


def test_pages_are_spread_as_what_many_threads_get_from_each_node() -> None:
    topology = known([8, 8], [[9, 9], [9, 9]], [[30, 10], [10, 30]])
    assert page_weights(topology, (0,) * 8, (0, 1)) == (3, 1)
    assert page_weights(topology, (1,) * 8, (0, 1)) == (1, 3)
    assert page_weights(topology, (0, 1) * 4, (0, 1)) == (1, 1)


def test_a_thread_alone_has_its_pages_at_home() -> None:
    """It reads from one node after the other, so a second one adds nothing."""
    topology = known([8, 8], [[9, 5], [5, 9]], [[30, 10], [10, 30]])
    assert page_weights(topology, (0,), (0, 1)) == (1, 0)


def test_nodes_behind_one_link_share_it() -> None:
    thread = [[9.0] * 3] * 3
    node = [[30, 10, 10], [10, 30, 10], [10, 10, 30]]
    assert page_weights(known([8] * 3, thread, node), (0,) * 8, (0, 1, 2)) == (3, 1, 1)
    both = SharedLink(10.0, ((0, 1), (0, 2)))
    assert page_weights(known([8] * 3, thread, node, both), (0,) * 8, (0, 1, 2)) == (3, 1, 0)


def test_distances_stand_for_bandwidths_that_nobody_measured() -> None:
    far = shape([4, 4, 0], distances=[[10, 20, 40], [20, 10, 40], [40, 40, 10]])
    assert page_weights(far, (0,) * 4, (0, 1, 2)) == (4, 2, 1)


@pytest.mark.parametrize(
    ("machine", "label", "weights"),
    [
        ("cascadelake-2x28", "28x1-contiguous-weighted@2", (5, 2)),
        ("lpdxeon2680", "10x1-contiguous-weighted@2", (13, 7)),
        ("sandybridge-4x8", "8x1-contiguous-weighted@4", (6, 1, 1, 0)),  # a ring: the way to node 2 leads over node 1
        ("xeonmax-2x56", "56x1-contiguous-weighted@4", (1, 2, 0, 0)),  # its own HBM comes second by distance
    ],
)
def test_described_machines(machine: str, label: str, weights: tuple[int, ...]) -> None:
    placement = resolve(parse_label(label), load_description(machine).topology)
    assert placement.weights == weights
    assert [placement.chunks.count(node) for node in placement.page_nodes] == list(weights)
    assert list(placement.os_indices(placement.chunks)) == sorted(placement.os_indices(placement.chunks))
