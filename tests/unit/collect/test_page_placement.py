"""Pages on nodes, policy by policy, against slow and obvious references."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.page_placement import DOMINANT_SHARE, PageAccesses, greedy_balance, place_pages
from numapredict.collect.page_policy import PAGE_POLICIES
from numapredict.collect.placement import resolve
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidMappingError
from tests.fitting import fitting
from tests.shapes import shape


def pages_of(
    accesses: Sequence[Sequence[float]],
    address: Sequence[int] | None = None,
    toucher: Sequence[int] | None = None,
    places: Sequence[tuple[int, int]] = (),
) -> PageAccesses:
    count = len(accesses)
    return PageAccesses(
        np.array(range(count) if address is None else address, dtype=np.int64),
        np.array(accesses, dtype=np.float64),
        np.array([0] * count if toucher is None else toucher, dtype=np.int32),
        *np.array(places or [(0, 0)] * count, dtype=np.int64).reshape(count, 2).T,
    )


def placed(label: str, topology: Topology, pages: PageAccesses) -> list[int]:
    result = place_pages(resolve(parse_label(label), topology), pages)
    assert result.dtype == np.int32
    return [int(node) for node in result]


def test_first_touch_puts_a_page_where_its_first_thread_is() -> None:
    pages = pages_of([[1, 9]] * 3, toucher=[0, 1, 0])
    assert placed("2x2-contiguous-first-touch", shape([1, 1]), pages) == [0, 1, 0]


def test_locality_follows_the_threads_of_a_node_together_and_ties_go_first() -> None:
    # Thesis fig. 7. One thread of node 0 beats each thread of node 1, but not both.
    pages = pages_of([[5, 0, 3, 3], [5, 2, 3, 3], [0, 0, 0, 1], [4, 0, 4, 0], [0, 0, 0, 0]])
    assert placed("4x2-contiguous-locality", shape([2, 2]), pages) == [1, 0, 1, 0, 0]


def test_interleave_goes_by_page_number_and_not_by_position() -> None:
    pages = pages_of([[1.0]] * 4, address=[7, 4, 5, 6])
    assert placed("1x1-contiguous-interleave@3", shape([1, 1, 1]), pages) == [1, 1, 2, 0]


def test_balance_gives_each_page_to_the_node_with_the_fewest_accesses() -> None:
    # Thesis fig. 6: accesses 1, 4, 1, 1 in address order give nodes 0, 1, 0, 0.
    pages = pages_of([[1.0], [4.0], [1.0], [1.0]])
    assert placed("1x1-contiguous-balance@2", shape([1, 1]), pages) == [0, 1, 0, 0]


def test_balance_goes_in_address_order() -> None:
    pages = pages_of([[4.0], [1.0], [1.0], [1.0]], address=[20, 10, 30, 40])
    assert placed("1x1-contiguous-balance@2", shape([1, 1]), pages) == [1, 0, 0, 0]


def test_mix_leaves_dominated_pages_local_and_balances_the_rest_after_them() -> None:
    share = DOMINANT_SHARE * 100
    pages = pages_of([[100 - share, share], [30, 20], [20, 30], [50, 50], [0, 0]])
    # Node 1 starts with the 100 accesses of the first page, so the shared ones go to node 0 until it has as many.
    assert placed("2x2-contiguous-mix", shape([1, 1]), pages) == [1, 0, 0, 0, 0]
    almost = pages_of([[100 - share + 1, share - 1]])
    assert placed("2x2-contiguous-mix", shape([1, 1]), almost) == [0]


def test_mix_balances_what_is_dominated_by_a_node_without_pages() -> None:
    # Nodes 0 and 1 have 9 accesses each before the two pages of node 2 are shared out.
    pages = pages_of([[0, 0, 9], [9, 0, 0], [0, 0, 9], [0, 9, 0]])
    assert placed("3x3-contiguous-mix@2", shape([1, 1, 1]), pages) == [0, 0, 1, 1]


def test_mix_balances_in_address_order() -> None:
    pages = pages_of([[2, 2], [1, 1], [1, 1]], address=[30, 10, 20])
    assert placed("2x2-contiguous-mix", shape([1, 1]), pages) == [0, 0, 1]
    pages = pages_of([[2, 2], [1, 1], [1, 1]], address=[15, 10, 20])
    assert placed("2x2-contiguous-mix", shape([1, 1]), pages) == [1, 0, 0]


def test_dataset_cuts_every_allocation_into_a_chunk_for_each_thread() -> None:
    places = [(3, 4), (0, 4), (1, 4), (2, 4), (0, 2), (1, 2), (0, 1)]
    pages = pages_of([[1.0] * 4] * 7, places=places)
    topology = shape([2, 2, 1, 1])
    assert placed("4x2-contiguous-dataset", topology, pages) == [1, 0, 0, 1, 0, 1, 0]
    assert placed("4x2-scatter-dataset", topology, pages) == [1, 0, 1, 0, 0, 0, 0]
    assert placed("4x2-scatter-dataset@4", topology, pages) == [3, 0, 1, 2, 0, 2, 0]


def test_dataset_cuts_by_all_pages_of_an_allocation_and_leaves_the_rest_to_first_touch_or_the_page_nodes() -> None:
    topology = shape([2, 2, 1, 1])
    places = [(8, 16), (7, 16), (0, 0), (0, 0)]
    pages = pages_of([[1.0] * 4] * 4, places=places, toucher=[0, 3, 3, 0], address=[2, 3, 4, 6])
    assert placed("4x2-contiguous-dataset", topology, pages) == [1, 0, 1, 0]
    assert placed("4x2-contiguous-dataset@4", topology, pages) == [2, 1, 1, 0]
    pages = pages_of([[1.0] * 6] * 3, places=[(0, 0)] * 3, toucher=[5] * 3, address=[4, 5, 6])
    assert placed("6x4-contiguous-dataset@2", topology, pages) == [0, 1, 0]


def test_dataset_chunks_spread_over_other_page_nodes_in_order() -> None:
    assert resolve(parse_label("6x1-contiguous-dataset@3"), shape([6, 1, 1])).chunks == (0, 0, 1, 1, 2, 2)
    assert resolve(parse_label("2x1-contiguous-dataset@4"), shape([2, 1, 1, 1])).chunks == (0, 2)


def test_bind_and_remote_put_everything_on_one_node() -> None:
    pages = pages_of([[1.0, 1.0]] * 3, toucher=[1, 1, 1])
    assert placed("2x2-contiguous-bind@1", shape([1, 1, 1]), pages) == [0, 0, 0]
    assert placed("2x2-contiguous-remote@1", shape([1, 1, 1]), pages) == [2, 2, 2]


@pytest.mark.parametrize("policy", PAGE_POLICIES)
def test_no_pages_are_no_problem(policy: str) -> None:
    suffix = "@1" if policy in ("bind", "remote") else ""
    empty = PageAccesses(
        np.empty(0, np.int64), np.empty((0, 4), np.float64), np.empty(0, np.int32), *np.empty((2, 0), np.int64)
    )
    assert placed(f"4x2-scatter-{policy}{suffix}", shape([2, 2, 2]), empty) == []


def test_accesses_of_another_number_of_threads_are_refused() -> None:
    with pytest.raises(InvalidMappingError, match="has 2 threads, the accesses are of 3"):
        place_pages(resolve(parse_label("2x2-contiguous-locality"), shape([1, 1])), pages_of([[1, 2, 3]]))


def reference(mapping: Mapping, topology: Topology, pages: PageAccesses) -> list[int]:  # noqa: PLR0912 - one a policy
    """Place the pages one by one, as the policies are described."""
    nodes = resolve(mapping, topology).page_nodes
    homes = [topology.home(slot.node) for slot in resolve(mapping, topology).slots]
    count = len(pages.address)
    per_node = [
        {node: sum(a for a, home in zip(row, homes, strict=True) if home == node) for node in set(homes)}
        for row in pages.accesses.tolist()
    ]
    by_address = sorted(range(count), key=lambda page: (int(pages.address[page]), page))
    loads = dict.fromkeys(nodes, 0.0)
    result = [-1] * count

    def balance(page: int) -> None:
        node = min(nodes, key=lambda candidate: (loads[candidate], nodes.index(candidate)))
        loads[node] += sum(per_node[page].values())
        result[page] = node

    match mapping.page_policy:
        case "bind" | "remote":
            return [nodes[0]] * count
        case "first-touch":
            return [homes[toucher] for toucher in pages.toucher]
        case "locality":
            return [max(nodes, key=lambda node: (row[node], -nodes.index(node))) for row in per_node]
        case "interleave":
            ascending = sorted(nodes, key=lambda node: topology.nodes[node].os_index)
            return [ascending[int(address) % len(nodes)] for address in pages.address]
        case "weighted":
            weights = dict(zip(nodes, resolve(mapping, topology).weights, strict=True))
            ascending = sorted(nodes, key=lambda node: topology.nodes[node].os_index)
            turn = [node for node in ascending for _ in range(weights[node])]
            return [turn[int(address) % len(turn)] for address in pages.address]
        case "balance":
            for page in by_address:
                balance(page)
        case "dataset":
            ascending = sorted(nodes, key=lambda node: topology.nodes[node].os_index)
            for page in range(count):
                if pages.size[page]:
                    chunk = int(pages.place[page]) * mapping.threads // int(pages.size[page])
                    spread = nodes[chunk * len(nodes) // mapping.threads]
                    result[page] = homes[chunk] if mapping.page_nodes == mapping.thread_nodes else spread
                elif set(homes) <= set(nodes):
                    result[page] = homes[pages.toucher[page]]
                else:
                    result[page] = ascending[int(pages.address[page]) % len(nodes)]
        case "mix":
            shared = []
            for page in by_address:
                total = sum(per_node[page].values())
                dominant = [n for n in nodes if per_node[page].get(n, 0.0) >= DOMINANT_SHARE * total]
                if dominant:
                    result[page] = dominant[0]
                    loads[dominant[0]] += total
                else:
                    shared.append(page)
            for page in shared:
                balance(page)
    return result


@given(fitting(), st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_pages_are_placed_as_the_reference_does(case: tuple[Mapping, Topology], seed: int, count: int) -> None:
    mapping, topology = case
    random = np.random.default_rng(seed)
    # Whole numbers add up exactly, so that the order of additions cannot change a comparison.
    accesses = random.integers(0, 9, (count, mapping.threads)) * random.integers(0, 2, (count, mapping.threads))
    size = random.integers(0, 9, count)
    pages = PageAccesses(
        random.permutation(count * 2)[:count].astype(np.int64),
        accesses.astype(np.float64),
        random.integers(0, mapping.threads, count).astype(np.int32),
        random.integers(0, np.maximum(size, 1)),
        size,
    )
    result = place_pages(resolve(mapping, topology), pages)
    assert result.tolist() == reference(mapping, topology, pages)
    assert place_pages(resolve(mapping, topology), pages).tolist() == result.tolist()


def test_what_is_kept_for_one_number_of_page_nodes_serves_no_other() -> None:
    pages = pages_of([[1.0]] * 4)
    topology = shape([1, 1, 1])
    assert placed("1x1-contiguous-balance@2", topology, pages) == [0, 1, 0, 1]
    assert placed("1x1-contiguous-balance@3", topology, pages) == [0, 1, 2, 0]
    assert placed("1x1-contiguous-balance@2", topology, pages) == [0, 1, 0, 1]


@given(st.lists(st.integers(0, 50), max_size=80), st.lists(st.integers(0, 200), min_size=1, max_size=9))
def test_greedy_balance_always_takes_the_first_least_loaded_bin(weights: list[int], bins: list[int]) -> None:
    chosen = greedy_balance(np.array(weights, dtype=np.float64), np.array(bins, dtype=np.float64))
    loads = list(bins)
    for weight, index in zip(weights, chosen, strict=True):
        assert index == loads.index(min(loads))
        loads[index] += weight
