import ctypes
from collections import Counter

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.modelled import shared_caches as s
from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.description import SharedCache
from numapredict.collect.modelled.phases import PhasedTrace, phase_trace
from numapredict.collect.modelled.thread_places import places_on
from numapredict.native.errors import InvalidInputError
from tests.traces import Segment, census_of, machine_of, trace_of

pytestmark = pytest.mark.native

A = 7
PAGE_LINES = 64
Access = tuple[int, int, int]  # thread, line, flags


def phased_of(accesses: list[Access], threads: int) -> PhasedTrace:
    """Return a trace of one phase whose records come in the order given."""
    segments = []
    for thread in range(threads):
        mine = [(line, flags, n) for n, (who, line, flags) in enumerate(accesses) if who == thread]
        segments.append(Segment(region=A, thread=thread, instructions=max(len(accesses), 1), records=mine))
    return phase_trace(trace_of(segments), census_of((A, 1, 1.0)), threads)


def demand_of(accesses: list[Access], nodes: tuple[int, ...], shared_lines: int = 1024, ways: int = 16) -> s.Demand:
    machine = machine_of((8,) * (max(nodes) + 1), shared_bytes=shared_lines * 64, shared_ways=ways)
    lines = s.lines_of(phased_of(accesses, len(nodes)), machine, seed=1)
    return s.replay(lines, places_on(nodes, machine))


def memory(demand: s.Demand, kind: int | None = None) -> int:
    kinds = demand.cell % s.KINDS
    return int((kinds != s.WRITTEN_BACK).sum() if kind is None else (kinds == kind).sum())


def by_supplier(demand: s.Demand) -> list[list[float]]:
    """Return the lines that each thread (row) took out of each node's cache."""
    return demand.transfers.sum(axis=(0, 2)).tolist()


def test_two_threads_of_a_node_fetch_a_line_once_and_of_two_nodes_twice() -> None:
    accesses = [(0, 5, 0), (1, 5, 0)]
    together, apart = demand_of(accesses, (0, 0)), demand_of(accesses, (0, 1))
    assert (memory(together), together.hits.sum()) == (1, 1)
    assert (memory(apart), apart.hits.sum()) == (2, 0)
    assert apart.transfers.sum() == 0


def test_a_changed_line_comes_out_of_the_other_node_cache_of() -> None:
    demand = demand_of([(0, 5, t.STORE), (1, 5, 0), (1, 5, 0)], (0, 1))
    assert by_supplier(demand) == [[0, 0], [1, 0]]
    assert memory(demand) == 1
    assert demand.hits[0, 1].sum() == 1


def test_a_store_takes_the_line_away_from_the_other_nodes() -> None:
    accesses = [(0, 5, 0), (1, 5, 0), (1, 5, t.STORE), (0, 5, 0)]
    demand = demand_of(accesses, (0, 1))
    assert by_supplier(demand) == [[0, 1], [0, 0]]
    assert demand_of(accesses, (0, 0)).transfers.sum() == 0


def test_lines_beyond_the_capacity_come_from_memory_again() -> None:
    fitting = [(0, line, 0) for line in range(1, 17)] * 2
    assert memory(demand_of(fitting, (0,), shared_lines=16)) == 16
    # One line too many for a set of 16 ways, in the worst order for "least recently used".
    assert memory(demand_of([(0, line, 0) for line in range(1, 18)] * 2, (0,), shared_lines=16)) == 34


def test_caches_of_one_node_hand_changed_lines_over_within_it() -> None:
    machine = msgspec.structs.replace(machine_of((4, 4)), shared_cache=cache_of(cores=2))
    accesses = [(0, 5, t.STORE), (1, 5, 0), (2, 5, 0), (3, 6, t.STORE), (0, 6, 0)]
    lines = s.lines_of(phased_of(accesses, 4), machine, seed=1)
    demand = s.replay(lines, places_on((0, 0, 0, 1), machine))  # the first two share a cache, the third has another
    assert demand.hits[0, 1].sum() == 1
    assert by_supplier(demand) == [[0, 1], [0, 0], [1, 0], [0, 0]]


@pytest.mark.parametrize(("nodes", "room"), [((0,), 1024 + 512), ((0, 0), 1024 + 1024), ((0, 1), 1024 + 512)])
def test_a_victim_cache_has_the_room_of_the_private_ones_in_use_besides(nodes: tuple[int, ...], room: int) -> None:
    for inclusive in (True, False):
        machine = msgspec.structs.replace(machine_of((2, 2)), shared_cache=cache_of(inclusive=inclusive))
        for lines_ in (room - 256, room + 256):
            # Twice over so many lines: most stay, but for a few full sets, or with least recently used most go.
            accesses = [(0, line, 0) for line in range(1, lines_ + 1)] * 2
            lines = s.lines_of(phased_of(accesses, len(nodes)), machine, seed=1)
            again = memory(s.replay(lines, places_on(nodes, machine))) - lines_
            assert (again < 0.4 * lines_) == (not inclusive and lines_ < room), (inclusive, lines_, again)


def cache_of(cores: int = 0, *, inclusive: bool = True) -> SharedCache:
    return SharedCache(64 * 16 * 64, 16, 20.0, cores, inclusive)


def test_two_nodes_have_twice_the_capacity() -> None:
    accesses = [(thread, 100 * thread + line, 0) for _ in range(4) for thread in range(2) for line in range(1, 17)]
    assert memory(demand_of(accesses, (0, 1), shared_lines=16)) == 32
    assert memory(demand_of(accesses, (0, 0), shared_lines=16)) == 128


def test_changed_lines_that_leave_are_written_to_the_memory_of_their_page() -> None:
    accesses = [(0, line * PAGE_LINES, flags) for line in range(1, 18) for flags in (t.STORE, t.WRITEBACK)]
    machine = machine_of(shared_bytes=16 * 64, shared_ways=16)
    lines = s.lines_of(phased_of(accesses, 1), machine, seed=1)
    demand = s.replay(lines, places_on((0,), machine))
    assert memory(demand, s.WRITTEN_BACK) == 1
    assert lines.page[demand.page[-1]] == 1  # the first line, on page 1, was used longest ago
    only_page_one_remote = np.where(lines.page == 1, 1, 0).astype(np.int32)
    sums = demand.by_memory_node(only_page_one_remote)
    assert sums[0, 0, s.INDEPENDENT].tolist() == [16, 1]
    assert sums[0, 0, s.WRITTEN_BACK].tolist() == [0, 1]


def test_a_line_that_leaves_before_its_core_writes_it_back_is_written_once() -> None:
    """A core's own cache may keep a line longer than the shared one does, where many cores share a small one."""
    stores = [(0, line, t.STORE) for line in range(1, 41)]
    back = [(0, line, t.WRITEBACK) for line in range(1, 41)]
    more = [(0, line, 0) for line in range(101, 117)]  # push out what is left
    demand = demand_of(stores + back + more, (0,), shared_lines=16)
    assert (memory(demand), memory(demand, s.WRITTEN_BACK)) == (40 + 16, 40)


def test_a_line_in_a_core_s_own_cache_is_still_its_node_s() -> None:
    accesses = [(0, 5, t.STORE), *((0, line, 0) for line in range(101, 117)), (1, 5, 0)]
    assert by_supplier(demand_of(accesses, (0, 1), shared_lines=16)) == [[0, 0], [1, 0]]


def test_a_write_back_into_the_shared_cache_asks_nothing_of_the_memory() -> None:
    demand = demand_of([(0, 5, 0), (0, 5, t.WRITEBACK), (0, 5, 0)], (0,))
    assert (memory(demand), memory(demand, s.WRITTEN_BACK), demand.hits.sum()) == (1, 0, 1)


EVICT = [(0, line, 0) for line in range(101, 118)], [(1, line, 0) for line in range(101, 118)]


@pytest.mark.parametrize(
    ("accesses", "nodes", "writes"),
    [
        # Handed to a reader of another node: written on the way, and not again when the copies leave.
        ([(0, 5, t.STORE), (0, 5, t.WRITEBACK), (1, 5, 0), *EVICT[0], *EVICT[1]], (0, 1), 1),
        ([(0, 5, t.STORE), (1, 5, 0), (0, 5, t.WRITEBACK), *EVICT[0], *EVICT[1]], (0, 1), 1),
        # Handed to a writer of another node: one write, by the second one, whenever the first one's copy leaves.
        ([(0, 5, t.STORE), (1, 5, t.STORE), (1, 5, t.WRITEBACK), *EVICT[1], (0, 5, t.WRITEBACK), *EVICT[0]], (0, 1), 1),
        # To a reader of the same node: it stays in the shared cache, and is written when that gives it up.
        ([(0, 5, t.STORE), (1, 5, 0), (0, 5, t.WRITEBACK)], (0, 0), 0),
        ([(0, 5, t.STORE), (1, 5, 0), (0, 5, t.WRITEBACK), *EVICT[0]], (0, 0), 1),
        # Changed again after it was handed over: written again.
        ([(0, 5, t.STORE), (1, 5, 0), (0, 5, t.STORE), (0, 5, t.WRITEBACK), *EVICT[0]], (0, 1), 2),
        # Fetched by a load and changed in the core's own cache, which leaves no record of the store.
        ([(0, 5, 0), (0, 5, t.WRITEBACK), *EVICT[0]], (0, 1), 1),
    ],
)
def test_each_change_is_written_to_memory_once(accesses: list[Access], nodes: tuple[int, ...], writes: int) -> None:
    assert memory(demand_of(accesses, nodes, shared_lines=16), s.WRITTEN_BACK) == writes


def test_nobody_is_served_from_a_stale_write_back() -> None:
    accesses = [(0, 5, t.STORE), (1, 5, t.STORE), (2, 5, 0), (0, 5, t.WRITEBACK), (3, 5, 0)]
    demand = demand_of(accesses, (0, 1, 2, 3))
    assert by_supplier(demand) == [[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert memory(demand) == 2  # the first store, and the last read: memory is up to date


def test_a_neighbour_gets_a_changed_line_that_the_shared_cache_no_longer_has() -> None:
    accesses = [(0, 5, t.STORE), *EVICT[0], (1, 5, 0)]
    assert demand_of(accesses, (0, 0), shared_lines=16).hits[0, 1].sum() == 1


def test_a_write_back_of_a_line_that_another_node_took_since_is_no_news() -> None:
    demand = demand_of([(0, 5, t.STORE), (1, 5, t.STORE), (0, 5, t.WRITEBACK), (1, 5, 0)], (0, 1))
    assert demand.hits[0, 1].sum() == 1
    assert by_supplier(demand) == [[0, 0], [1, 0]]


def test_kinds_follow_the_flags() -> None:
    kind_of = {
        0: s.INDEPENDENT,
        t.STORE: s.INDEPENDENT,
        t.STREAMING: s.STREAMED,
        t.STREAMING | t.STORE: s.STREAMED,
        t.DEPENDENT: s.DEPENDENT,
        t.COHERENCE: s.INDEPENDENT,  # changed lines of another thread, read in bulk
        t.COHERENCE | t.DEPENDENT: s.DEPENDENT,
        t.COHERENCE | t.STREAMING: s.STREAMED,
        t.WRITEBACK: s.WRITTEN_BACK,
    }
    accesses = [(0, n + 1, flags) for n, flags in enumerate(kind_of)]
    assert s.lines_of(phased_of(accesses, 1), machine_of(), seed=1).kind.tolist() == list(kind_of.values())


def test_a_transfer_keeps_the_kind_of_its_access() -> None:
    demand = demand_of([(0, 5, t.STORE), (0, 6, t.STORE), (1, 5, t.STREAMING), (1, 6, t.DEPENDENT)], (0, 1))
    assert demand.transfers[0, 1, :, 0].tolist() == [1, 0, 1, 0]


def test_sampling_leaves_as_many_fewer_sets() -> None:
    segments = [Segment(region=A, instructions=9, records=[(8, 0, 0)])]
    machine = machine_of(shared_bytes=64 * 16 * 32, shared_ways=16)
    for shift, sets in ((0, 32), (3, 4), (8, 1)):
        phased = phase_trace(trace_of(segments, shift=shift), census_of((A, 1, 1.0)), 1)
        assert s.lines_of(phased, machine, seed=1).sets == sets


def expected(accesses: list[Access], node_of: tuple[int, ...], set_of: dict[int, int], ways: int) -> dict[str, int]:
    """Replay by MESI in the plainest way: a list a set and node, the line used last at its end, and who is modified.

    ``modified``: by line, the thread that has it in its core's own cache (None: nobody) and the node, if one has it.
    ``void``: (thread, line) whose modified copy somebody asked for; its write-back writes nothing.
    """
    cache: dict[tuple[int, int], list[int]] = {}
    modified: dict[int, tuple[int | None, int]] = {}
    void: set[tuple[int, int]] = set()
    count: Counter[str] = Counter()

    def held(node: int, line: int) -> list[int]:
        return cache.setdefault((node, set_of[line]), [])

    def bring(node: int, line: int) -> bool:
        lines = held(node, line)
        there = line in lines
        if there:
            lines.remove(line)
        elif len(lines) == ways:
            gone = lines.pop(0)
            if modified.get(gone) == (None, node):
                del modified[gone]
                count["written"] += 1
        lines.append(line)
        return there

    def invalidate(line: int, keeper: int) -> None:
        for other in set(node_of) - {keeper}:
            if line in held(other, line):
                held(other, line).remove(line)

    for thread, line, flags in accesses:
        node = node_of[thread]
        core, owner = modified.get(line, (None, None))
        if flags & t.WRITEBACK:
            if (thread, line) not in void and core in (None, thread) and owner in (None, node):
                invalidate(line, node)
                bring(node, line)
                modified[line] = (None, node)
            void.discard((thread, line))
            continue
        store = bool(flags & t.STORE)
        if core is not None and core != thread:
            void.add((core, line))
        void.discard((thread, line))
        if store:
            invalidate(line, node)
            modified[line] = (thread, node)
        elif owner is not None and owner != node:
            del modified[line]
            count["written"] += 1
        elif owner is not None and core != thread:
            modified[line] = (None, node)
        there = bring(node, line)
        if owner is not None:
            count["hit" if owner == node else "moved"] += 1
        else:
            count["hit" if there else "memory"] += 1
    return {name: count[name] for name in ("hit", "moved", "memory", "written")}


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 20), st.sampled_from([0, 0, t.STORE, t.WRITEBACK])), max_size=80
    ),
    st.tuples(*[st.integers(0, 3)] * 4),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([1, 2, 3]),
)
def test_the_replay_is_that_of_a_plain_model(
    accesses: list[Access], node_of: tuple[int, ...], sets: int, ways: int
) -> None:
    machine = machine_of((4,) * 4, shared_bytes=64 * sets * ways, shared_ways=ways)
    lines = s.lines_of(phased_of(accesses, 4), machine, seed=1)
    demand = s.replay(lines, places_on(node_of, machine))
    address = np.unique(lines.phased.line).tolist()
    set_of = dict(zip(address, lines.set_of_line.tolist(), strict=True))
    wanted = expected(accesses, node_of, set_of, ways)
    found = {
        "hit": int(demand.hits.sum()),
        "moved": int(demand.transfers.sum()),
        "memory": memory(demand),
        "written": memory(demand, s.WRITTEN_BACK),
    }
    assert found == wanted
    placed = (np.arange(len(lines.page)) % 4).astype(np.int32)
    assert demand.by_memory_node(placed).sum() == wanted["memory"] + wanted["written"]


def refused(**changes: object) -> bool:
    """Return whether the library refuses an input of two records of two lines, with some arrays changed."""
    arrays = {
        "line": np.array([0, 1], np.int32),
        "flags": np.zeros(2, np.uint8),
        "thread": np.array([0, 1], np.uint16),
        "set": np.array([0, 1], np.uint32),
        "node": np.array([0, 1], np.int32),
    }
    numbers = {"records": 2, "lines": 2, "threads": 2, "nodes": 2, "sets": 2, "ways": 2}
    for name, value in changes.items():
        if name in arrays:
            arrays[name] = np.array(value, arrays[name].dtype)
        else:
            numbers[name] = int(str(value))
    given_ = s._Input(**numbers, **{name: array.ctypes.data for name, array in arrays.items()})
    out = (np.full(2, 99, np.uint8), np.zeros(2, np.int8), np.zeros(2, np.int32))
    code = s._library().replay_shared_caches(ctypes.byref(given_), *(array.ctypes.data for array in out))
    assert (code, out[0].tolist()) in [(0, [1, 1]), (-1, [99, 99])]
    return bool(code)


def test_the_library_takes_good_indices_and_refuses_the_others_before_it_writes() -> None:
    assert not refused()
    for line in ([0, 2], [-1, 0]):
        assert refused(line=line)
    assert refused(thread=[0, 2])
    assert refused(set=[0, 2])
    for node in ([0, 2], [-1, 0]):
        assert refused(node=node)
    for nodes in (0, -1, 65):
        assert refused(nodes=nodes)
    for name in ("sets", "ways"):
        assert refused(**{name: 0})


def test_pages_on_nodes_that_do_not_exist_are_refused_in_one_line() -> None:
    demand = demand_of([(0, 5, 0), (1, 5, 0)], (0, 1))
    for node in (-1, 2):
        with pytest.raises(InvalidInputError, match="index is out of range") as error:
            demand.by_memory_node(np.array([node], np.int32))
        assert "\n" not in str(error.value)
    with pytest.raises(InvalidInputError, match="cannot replay the trace"):
        demand.by_memory_node(np.array([], np.int32))
