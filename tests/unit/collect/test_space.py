"""Spaces: no two mappings of one mean the same, nothing is missing, and the named subsets are the literature's."""

import itertools
from collections import defaultdict

import numpy as np
import pytest

from numapredict.collect.mapping import THREAD_POLICIES, Mapping, parse_label
from numapredict.collect.page_placement import PageAccesses, place_pages
from numapredict.collect.page_policy import PAGE_POLICIES
from numapredict.collect.placement import resolve
from numapredict.collect.space import SUBSETS, canonical, default_mapping, full_space, subset
from numapredict.collect.topology import Topology, restrict
from numapredict.native.errors import InvalidMappingError, UsageError
from tests.shapes import shape

SANDY_BRIDGE = shape([8] * 4)
FAR = [[10, 15, 20], [15, 10, 20], [20, 20, 10]]
SMALL = {
    "one node": shape([3]),
    "2x2": shape([2, 2]),
    "uneven 3+1": shape([3, 1]),
    "three nodes": shape([2, 2, 2], distances=FAR),
    "a node with memory alone": shape([2, 2, 0], distances=FAR),
    "the only memory has no cores": shape([2, 2, 0], memory=[0, 0, 1]),
    "two share a home": shape([2, 1, 1, 1], memory=[1, 0, 1, 1]),
    "everything at once": shape([1, 2, 0, 2], memory=[0, 1, 1, 0]),
    "two L3 caches": shape([5], l3_cores=2),
    "uneven L3 caches": shape([3, 4], l3_cores=2),
    "more L3 caches in a node": shape([1, 4], l3_cores=1),
    "L3 caches and 2 threads a core": shape([4], pus=2, l3_cores=2),
    "2 threads a core": shape([2, 2], pus=2),
    "some cores with 2 threads": restrict(shape([2, 3], memory=[1, 0], pus=2), {0, 1, 2, 3, 4, 5, 6, 7}, {10}),
}


def probes(threads: int) -> list[PageAccesses]:
    """Return accesses that tell page rules apart: random ones, private pages, shared pages, and extremes."""
    random = np.random.default_rng(threads)
    count = 97
    private = np.zeros((count, threads))
    private[np.arange(count), random.integers(0, threads, count)] = random.integers(1, 50, count)
    crossed = np.roll(private, 1, axis=1) * 3 + private
    kinds = [
        random.integers(0, 40, (count, threads)).astype(float),
        random.integers(0, 40, (count, threads)) * (random.random((count, threads)) < 0.3).astype(float),
        private,
        crossed,
        np.ones((count, threads)),
        np.zeros((count, threads)),
        np.outer(np.arange(count, 0, -1.0) ** 2, np.arange(1.0, threads + 1)),
    ]
    size = np.repeat([0, 10, count - 20], [10, 10, count - 20])
    allocations = np.concatenate((np.zeros(10, np.int64), np.arange(10), np.arange(count - 20))), size
    return [
        PageAccesses(
            random.permutation(4 * count)[:count].astype(np.int64),
            accesses,
            random.integers(0, threads, count).astype(np.int32),
            *allocations,
        )
        for accesses in kinds
    ]


def meaning(mapping: Mapping, topology: Topology, family: dict[int, list[PageAccesses]]) -> tuple[object, ...]:
    """Return what a mapping does: where each thread runs and where the pages of every probe go."""
    if mapping.threads not in family:
        family[mapping.threads] = probes(mapping.threads)
    placed = tuple(place_pages(resolve(mapping, topology), pages).tobytes() for pages in family[mapping.threads])
    return resolve(mapping, topology).slots, placed


def valid_mappings(topology: Topology) -> list[Mapping]:
    """Return every mapping that fits, in the enumerated space or not, equal ones included."""
    nodes = len(topology.nodes)
    everything = itertools.product(
        range(1, topology.core_count * topology.threads_per_core + 1),
        *(range(1, nodes + 1), THREAD_POLICIES, range(1, nodes + 1), PAGE_POLICIES),
        range(1, topology.threads_per_core + 2),
        range(sum(cache.level == 3 for cache in topology.caches) + 2),
    )
    found = []
    for fields in everything:
        mapping = Mapping(*fields)
        try:
            resolve(mapping, topology)
        except InvalidMappingError:
            continue
        found.append(mapping)
    return found


@pytest.mark.parametrize("topology", [*SMALL.values(), SANDY_BRIDGE], ids=[*SMALL.keys(), "4x8"])
def test_no_two_enumerated_mappings_mean_the_same(topology: Topology) -> None:
    family: dict[int, list[PageAccesses]] = {}
    by_meaning = defaultdict(list)
    for mapping in full_space(topology):
        by_meaning[meaning(mapping, topology, family)].append(mapping.label)
    assert [labels for labels in by_meaning.values() if len(labels) > 1] == []


@pytest.mark.parametrize("topology", SMALL.values(), ids=SMALL.keys())
def test_canonical_joins_exactly_the_mappings_that_mean_the_same(topology: Topology) -> None:
    family: dict[int, list[PageAccesses]] = {}
    by_meaning = defaultdict(set)
    by_canonical = defaultdict(set)
    for mapping in valid_mappings(topology):
        chosen = canonical(mapping, topology)
        what = meaning(mapping, topology, family)
        resolve(chosen, topology)
        assert canonical(chosen, topology) == chosen
        assert meaning(chosen, topology, family) == what
        by_meaning[what].add(chosen.label)
        by_canonical[chosen].add(what)
    assert [labels for labels in by_meaning.values() if len(labels) > 1] == []
    assert all(len(meanings) == 1 for meanings in by_canonical.values())


@pytest.mark.parametrize(("name", "topology"), SMALL.items(), ids=SMALL.keys())
def test_the_space_has_every_combination_of_its_counts(name: str, topology: Topology) -> None:
    space = full_space(topology)
    assert len(set(space)) == len(space)
    assert space == full_space(topology)
    assert set(space) == {canonical(mapping, topology) for mapping in space}
    cpu_nodes, memories = len(topology.cpu_nodes), len(topology.memory_nodes)
    node_counts = {count for count in (1, 2, 4, cpu_nodes) if count <= cpu_nodes}
    page_counts = {count for count in (1, 2, 4, memories) if count <= memories}
    full = {sum(len(node.cores) for node in topology.cpu_nodes[:count]) for count in node_counts}
    powers = {count for count in (1, 2, 4, 8) if count <= topology.core_count}
    counts = {1: full | powers}
    if topology.threads_per_core == 2:
        counts[2] = full | {2 * count for count in full}
    if topology.threads_per_core == 4:
        counts |= {each: full | {each * count for count in full} for each in (2, 4)}
    everything = set(subset("weighted", topology))
    assert {mapping for mapping in everything if mapping.page_policy != "weighted"} == set(space)
    caches = [-(-len(node.cores) // 2) if "L3" in name else 1 for node in topology.cpu_nodes]
    for mapping in valid_mappings(topology):
        counted = mapping.threads in counts.get(mapping.threads_per_core, ()) and mapping.thread_nodes in node_counts
        most = min(sum(caches[: mapping.thread_nodes]), mapping.threads // mapping.threads_per_core)
        counted &= mapping.thread_l3s in {0, most}
        if counted and mapping.page_nodes in page_counts | {mapping.thread_nodes}:
            assert canonical(mapping, topology) in everything, mapping.label


@pytest.mark.parametrize("topology", SMALL.values(), ids=SMALL.keys())
def test_every_subset_is_a_part_of_the_space_in_its_order(topology: Topology) -> None:
    space = full_space(topology)
    for name in SUBSETS:
        part = subset(name, topology)
        assert part
        assert list(part) == sorted(part, key=space.index)
    assert default_mapping(topology) in space
    assert default_mapping(topology).threads == topology.core_count


@pytest.mark.parametrize("topology", SMALL.values(), ids=SMALL.keys())
def test_without_smt_the_space_is_that_of_the_first_pu_of_each_core(topology: Topology) -> None:
    first = {core.pus[0] for node in topology.nodes for core in node.cores}
    alone = restrict(topology, first, {node.os_index for node in topology.nodes})
    without = full_space(topology, smt=False)
    assert without == full_space(alone) == full_space(topology)[: len(without)] == subset("full", topology, smt=False)
    assert all((mapping.threads_per_core > 1) == (mapping not in without) for mapping in full_space(topology))
    for name in set(SUBSETS) - {"full"}:
        assert subset(name, topology) == subset(name, alone)
    assert default_mapping(topology) == default_mapping(alone)


def labels(name: str, topology: Topology = SANDY_BRIDGE) -> list[str]:
    return [mapping.label for mapping in subset(name, topology)]


def test_the_spaces_of_the_measured_machines_have_the_size_counted_by_hand() -> None:
    # 4 x 8: on 1 node 6 for one thread (bind, remote, balance and interleave over 2 and 4) and 8 for each of 2, 4, 8
    # (dataset too); on 2 nodes 12 page rules, for 2 threads and for 2 thread policies of 4, 8, 16; on 4 nodes 11.
    assert len(full_space(SANDY_BRIDGE)) == 6 + 3 * 8 + 12 * (1 + 2 * 3) + 11 * (1 + 2 * 3) == 191
    # 2 x 10: remote exists on 1 node alone.
    assert len(full_space(shape([10, 10]))) == 4 + 4 * 5 + 7 * (1 + 2 * 5) == 101
    # With 2 threads a core each page rule of 10 and 20 threads on 1 node, and of 2 thread policies of 10, 20 and 40 on
    # 2 nodes. 4 threads a core: 10, 20 and (4 a core) 40; on 2 nodes 10, 20 and 40 or 80.
    assert len(full_space(shape([10, 10], pus=2))) == 101 + 2 * 5 + 7 * 2 * 3 == 153
    assert len(full_space(shape([10, 10], pus=4))) == 101 + (2 + 3) * 5 + 7 * 2 * (3 + 4) == 224
    assert len(full_space(shape([12] * 4, pus=2))) == 489
    assert len(full_space(shape([12] * 4), smt=False)) == 313
    assert [mapping.label for mapping in full_space(shape([2]))] == ["1x1-contiguous-bind", "2x1-contiguous-bind"]


def test_the_thesis_space_is_its_own() -> None:
    # Thesis table 1 and sec. 5.1. On one node both page policies are bind, and both thread policies are one.
    wanted = ["8x1-contiguous-bind", "8x1-contiguous-remote"]
    for threads, nodes in ((8, 2), (8, 4), (16, 2), (16, 4), (32, 4)):
        wanted += [f"{threads}x{nodes}-{t}-{p}" for t in ("contiguous", "scatter") for p in ("locality", "balance")]
    assert sorted(labels("thesis")) == sorted(wanted)
    assert len(wanted) == 22


def test_related_work_has_what_table_1_grants_it() -> None:
    assert labels("dashti") == ["32x4-scatter-locality", "32x4-scatter-interleave"]
    assert labels("diener") == ["32x4-scatter-locality"]
    assert labels("denoyelle") == [
        "32x4-contiguous-first-touch",
        "32x4-contiguous-balance",
        "32x4-scatter-first-touch",
        "32x4-scatter-balance",
    ]
    wang = ["8x1-contiguous-bind"]
    for threads, nodes in ((8, 2), (8, 4), (16, 2), (16, 4), (32, 4)):
        wang += [f"{threads}x{nodes}-{t}-{p}" for t in ("contiguous", "scatter") for p in ("first-touch", "interleave")]
    assert sorted(labels("wang")) == sorted(wang)
    assert labels("full") == [mapping.label for mapping in full_space(SANDY_BRIDGE)]


def test_subsets_on_other_machines_fill_whole_nodes() -> None:
    topology = shape([2, 4, 6], memory=[1, 1, 1])
    assert {mapping.threads for mapping in subset("thesis", topology)} == {2, 6, 12}
    assert labels("thesis", shape([4])) == ["4x1-contiguous-bind"]
    assert labels("diener", shape([4])) == ["4x1-contiguous-bind"]


def test_an_unknown_subset_is_an_error_that_names_the_others() -> None:
    with pytest.raises(UsageError, match=r"'carrefour' is no subset .* full, thesis, dashti, diener, wang"):
        subset("carrefour", SANDY_BRIDGE)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("8x1-scatter-locality", "8x1-contiguous-bind"),
        ("8x1-contiguous-first-touch", "8x1-contiguous-bind"),
        ("8x1-contiguous-mix@4", "8x1-contiguous-bind"),
        ("4x4-scatter-locality", "4x4-contiguous-locality"),
        ("8x2-scatter-balance@1", "8x2-scatter-bind@1"),
        ("8x2-scatter-dataset@1", "8x2-scatter-bind@1"),
        ("1x1-scatter-dataset@4", "1x1-contiguous-bind"),
        ("8x2-scatter-balance@3", "8x2-scatter-balance@3"),
        ("3x1-contiguous-dataset@4", "3x1-contiguous-dataset@3"),
    ],
)
def test_equal_mappings_are_one_mapping(label: str, expected: str) -> None:
    assert canonical(parse_label(label), SANDY_BRIDGE).label == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("4x4-scatter-locality-smt2", "4x4-contiguous-locality"),
        ("2x1-contiguous-bind-smt4", "2x1-contiguous-bind-smt2"),
        ("1x1-contiguous-bind-smt4", "1x1-contiguous-bind"),
    ],
)
def test_no_core_has_more_threads_than_there_are(label: str, expected: str) -> None:
    assert canonical(parse_label(label), shape([8] * 4, pus=4)).label == expected


def test_remote_is_bind_where_the_threads_have_no_nearer_memory() -> None:
    topology = shape([2, 2, 0], memory=[0, 0, 1])
    assert canonical(parse_label("2x1-contiguous-remote"), topology).label == "2x1-contiguous-bind"
    assert canonical(parse_label("4x2-contiguous-first-touch"), topology).label == "4x2-contiguous-bind@1"


def test_the_default_is_every_core_in_order_with_first_touch() -> None:
    assert default_mapping(SANDY_BRIDGE).label == "32x4-contiguous-first-touch"
    assert default_mapping(shape([2, 0, 3])).label == "5x2-contiguous-first-touch"
    assert default_mapping(shape([6])).label == "6x1-contiguous-bind"


@pytest.mark.parametrize(
    ("mapping", "what"),
    [
        (Mapping(2, 4, "contiguous", 4, "balance"), "2 threads cannot occupy 4 nodes"),
        (Mapping(9, 1, "contiguous", 1, "bind"), "needs 9 cores on 1 node; shape has 8 cores on 1 node"),
        (Mapping(8, 5, "contiguous", 5, "balance"), "on 5 nodes; shape has 32 cores on its first 4 nodes"),
        (Mapping(8, 1, "contiguous", 5, "balance"), "needs 5 nodes with memory; shape has 4"),
        (Mapping(8, 2, "contiguous", 4, "locality"), "locality needs the pages on the 2 thread nodes"),
        (Mapping(8, 2, "contiguous", 2, "bind"), "bind puts all pages on one node"),
        (Mapping(32, 4, "contiguous", 1, "remote"), "remote needs a node without threads"),
    ],
)
def test_mappings_that_do_not_fit_get_one_clear_line(mapping: Mapping, what: str) -> None:
    for refuse in (resolve, canonical):
        with pytest.raises(InvalidMappingError) as error:
            refuse(mapping, SANDY_BRIDGE)
        assert what in str(error.value)
        assert mapping.label in str(error.value)
        assert "\n" not in str(error.value)
