from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.modelled import contention as c
from numapredict.collect.modelled.description import MachineDescription
from numapredict.collect.modelled.shared_caches import DEPENDENT, INDEPENDENT, KINDS, STREAMED, WRITTEN_BACK
from numapredict.collect.modelled.thread_places import places_on
from tests.traces import machine_of

N = 1000
CHAIN = [(0, 1), (1, 0), (1, 2), (2, 1)]  # three nodes in a row
NS = 1e-9


def load_of(nodes: int, node: tuple[int, ...], dynamic: bool = False) -> c.Demand:
    """Return one phase in which the threads, on these nodes, do nothing yet."""
    threads = len(node)
    return c.Demand(
        memory=np.zeros((1, threads, KINDS, nodes)),
        transfers=np.zeros((1, threads, KINDS, nodes)),
        hits=np.zeros((1, threads, KINDS)),
        instructions=np.zeros((1, threads)),
        exclusive_ns=np.zeros((1, threads)),
        dynamic=np.array([dynamic]),
        members=np.ones((1, threads), dtype=bool),
        places=places_on(node, machine_of((8,) * nodes)),
    )


def time_of(load: c.Demand, machine: MachineDescription) -> float:
    """Return the phase's time in ns."""
    there = replace(load, places=places_on(load.places.node, machine))
    return float(c.solve(there, c.costs_of(machine))[0]) / NS


def test_nothing_to_do_takes_no_time() -> None:
    assert time_of(load_of(2, (0, 1)), machine_of()) == pytest.approx(0, abs=1e-3)


def test_computing_takes_its_cycles_on_the_slowest_thread() -> None:
    load = load_of(2, (0, 0, 1))
    load.instructions[0] = [N, 5 * N, 2 * N]
    assert time_of(load, machine_of()) == pytest.approx(5 * N)
    faster = msgspec.structs.replace(machine_of(), frequency_GHz=2.0, cycles_per_instruction=0.5)
    assert time_of(load, faster) == pytest.approx(5 * N / 4)


@pytest.mark.parametrize(("node", "latency"), [(0, 100), (1, 150), (2, 200)])
def test_a_chain_of_dependent_misses_takes_their_latencies(node: int, latency: int) -> None:
    load = load_of(3, (0,))
    load.memory[0, 0, DEPENDENT, node] = N
    machine = machine_of((1, 1, 1), links=CHAIN)
    assert time_of(load, machine) == pytest.approx(N * latency, rel=1e-3)


def test_dependent_misses_wait_after_the_computing_and_streams_overlap_it() -> None:
    load = load_of(2, (0,))
    load.memory[0, 0, DEPENDENT, 0] = N
    load.memory[0, 0, STREAMED, 0] = N
    load.instructions[0, 0] = 20 * N
    assert time_of(load, machine_of(thread_GBps=6.4)) == pytest.approx(N * 100 + 20 * N, rel=1e-3)
    load.instructions[0, 0] = N
    assert time_of(load, machine_of(thread_GBps=6.4)) == pytest.approx(N * 100 + 10 * N, rel=1e-3)


@pytest.mark.parametrize("node", [0, 1])
def test_one_stream_takes_a_thread_s_bandwidth(node: int) -> None:
    load = load_of(2, (0,))
    load.memory[0, 0, STREAMED, node] = N
    machine = machine_of(thread_GBps=12.8)
    assert time_of(load, machine) == pytest.approx(N * 64 / machine.thread_read_GBps[0][node], rel=1e-3)


@pytest.mark.parametrize(
    ("kind", "ratio"), [(STREAMED, 2.0), (INDEPENDENT, 1.6), (DEPENDENT, 1.0)], ids=["stream", "gather", "chain"]
)
@pytest.mark.parametrize("hits", [False, True], ids=["memory", "shared cache"])
def test_threads_of_one_core_share_what_keeps_it_busy(kind: int, ratio: float, hits: bool) -> None:
    # Two threads of a core do 1.25 times the work of one; but for streams, bound by lines under way, and for chains,
    # which leave the core idle. The shared cache has no bandwidth of its own: its streams are hits like others.
    machine = msgspec.structs.replace(machine_of((2, 2)), threads_per_core=2, smt_throughput=1.25)
    load, costs = load_of(2, (0, 0)), c.costs_of(machine)
    lines = load.hits[0, :, kind] if hits else load.memory[0, :, kind, 0]
    lines[:] = N
    one, both = (replace(places_on((0, 0), machine), core=core) for core in ((0, 1), (0, 0)))
    found = c.solve(replace(load, places=both), costs) / c.solve(replace(load, places=one), costs)
    assert found[0] == pytest.approx(1.6 if hits and kind == STREAMED else ratio, rel=0.02)


def test_independent_misses_overlap() -> None:
    load = load_of(2, (0,))
    load.memory[0, 0, INDEPENDENT, 0] = N
    assert time_of(load, machine_of()) == pytest.approx(N * 100 / c.MISSES_IN_FLIGHT, rel=1e-3)
    slow = machine_of(thread_GBps=1.0)  # no more in flight than the bandwidth allows
    assert time_of(load, slow) == pytest.approx(N * 64, rel=1e-3)


@pytest.mark.parametrize(
    ("apart", "time"),
    # A window of 100 instructions, 1 ns each, and misses of 250 ns, so many instructions apart.
    [
        (10, 250 / 5),  # ten in a window, five under way: the computing hides
        (20, 250 / 5),
        (50, 250 / 2),  # two in a window wait together
        (100, 250),
        (400, 400 + 250 - 100),  # alone: the window hides as much of the wait as it takes to fill
    ],
)
def test_independent_misses_hide_as_far_as_the_window_reaches(apart: int, time: float) -> None:
    load = load_of(2, (0,))
    load.memory[0, 0, INDEPENDENT, 0] = N
    load.instructions[0, 0] = N * apart
    assert time_of(load, machine_of(local_ns=250.0, thread_GBps=100.0)) == pytest.approx(N * time, rel=2e-3)


@pytest.mark.parametrize("apart", [0, 20, 100, 1000])
@pytest.mark.parametrize("thread_GBps", [1.0, 3.0, 20.0])
def test_an_independent_miss_never_costs_more_than_a_dependent_one(apart: int, thread_GBps: float) -> None:
    times = []
    for kind in (INDEPENDENT, DEPENDENT):
        load = load_of(2, (0,))
        load.memory[0, 0, kind, 1] = N
        load.instructions[0, 0] = N * apart
        times.append(time_of(load, machine_of(local_ns=250.0, thread_GBps=thread_GBps)))
    assert times[0] <= times[1] * (1 + 1e-4)


def test_a_controller_takes_its_time_for_lines_written_back() -> None:
    load = load_of(2, (0,) * 8)
    load.memory[0, :, STREAMED, 0] = N
    load.memory[0, :, WRITTEN_BACK, 0] = N
    machine = machine_of((8, 8), thread_GBps=20.0, node_GBps=20.0)  # writes: 10
    assert time_of(load, machine) == pytest.approx(8 * N * 6.4, rel=1e-3)


def test_a_miss_waits_in_the_queue_of_a_link() -> None:
    machine = machine_of((8, 8), thread_GBps=10.0, link_GBps=5.0, node_GBps=1000.0)
    load = load_of(2, (0,) * 8)
    load.memory[0, :7, STREAMED, 1] = N
    load.memory[0, 7, DEPENDENT, 1] = N / 10
    crowd = 7 * N * 12.8
    assert 0.5 * crowd > N / 10 * 150
    assert time_of(load, machine) > 1.01 * crowd


def test_a_larger_window_hides_more() -> None:
    load = load_of(2, (0,))
    load.memory[0, 0, INDEPENDENT, 0] = N
    load.instructions[0, 0] = 60 * N
    times = [
        time_of(load, msgspec.structs.replace(machine_of(local_ns=250.0), reorder_window=window))
        for window in (60, 120, 240)
    ]
    assert times[0] > 1.9 * times[1] > 3.5 * times[2]


def test_a_stream_takes_turns_with_independent_misses() -> None:
    load = load_of(2, (0,))
    load.memory[0, 0, STREAMED, 0] = N
    load.memory[0, 0, INDEPENDENT, 0] = N
    load.instructions[0, 0] = N
    machine = machine_of(thread_GBps=6.4)
    assert time_of(load, machine) == pytest.approx(N * (10 + 100 / 5), rel=1e-3)


@pytest.mark.parametrize("streams", [2, 4, 8])
def test_streams_share_a_full_controller_without_loss(streams: int) -> None:
    load = load_of(2, (0,) * streams)
    load.memory[0, :, STREAMED, 0] = N
    machine = machine_of((8, 8), thread_GBps=10.0, node_GBps=20.0)
    assert time_of(load, machine) == pytest.approx(max(N * 6.4, streams * N * 3.2), rel=1e-3)


def test_a_miss_waits_in_the_queue_that_streams_fill() -> None:
    machine = machine_of((8, 8), thread_GBps=10.0, node_GBps=20.0)
    load = load_of(2, (0,) * 8)
    load.memory[0, :7, STREAMED, 0] = N
    load.memory[0, 7, DEPENDENT, 0] = N / 10
    crowd = 7 * N * 3.2
    alone = N / 10 * 100
    assert alone < 0.5 * crowd
    assert time_of(load, machine) > 1.01 * crowd


def test_a_read_and_its_write_back_cost_a_written_line() -> None:
    load = load_of(2, (0,))
    load.memory[0, 0, STREAMED, 0] = N
    load.memory[0, 0, WRITTEN_BACK, 0] = N
    machine = machine_of()
    assert time_of(load, machine) == pytest.approx(N * 64 / machine.thread_write_GBps[0][0], rel=1e-3)


def test_hits_in_the_shared_cache_cost_less_than_memory() -> None:
    for kind, flight in ((STREAMED, c.HITS_IN_FLIGHT), (INDEPENDENT, c.HITS_IN_FLIGHT), (DEPENDENT, 1)):
        load = load_of(2, (0,))
        load.hits[0, 0, kind] = N
        assert time_of(load, machine_of()) == pytest.approx(N * 20 / flight)


@pytest.mark.parametrize(("kind", "ns"), [(DEPENDENT, 150), (INDEPENDENT, 150 / c.MISSES_IN_FLIGHT), (STREAMED, 9.6)])
def test_a_transfer_costs_what_the_way_to_the_other_node_costs(kind: int, ns: float) -> None:
    load = load_of(2, (0,))
    load.transfers[0, 0, kind, 1] = N
    assert time_of(load, machine_of()) == pytest.approx(N * ns, rel=1e-3)


def test_transfers_fill_links_and_no_controller() -> None:
    load = load_of(2, (0,) * 8)
    load.transfers[0, :, STREAMED, 1] = N
    assert time_of(load, machine_of((8, 8), link_GBps=5.0)) >= 8 * N * 64 / 5
    assert time_of(load, machine_of((8, 8), node_GBps=5.0)) == pytest.approx(N * 9.6, rel=1e-3)


def test_a_phase_is_never_shorter_than_its_busiest_controller() -> None:
    load = load_of(2, (0,) * 8)
    load.memory[0, :, STREAMED, 0] = N
    machine = machine_of((8, 8), thread_GBps=10.0, node_GBps=20.0)
    busy = 8 * N * 64 / 20
    assert busy <= time_of(load, machine) < 1.5 * busy
    spread = load_of(2, (0,) * 4 + (1,) * 4)
    spread.memory[0, :4, STREAMED, 0] = N
    spread.memory[0, 4:, STREAMED, 1] = N
    assert time_of(spread, machine) == pytest.approx(
        time_of(load_of_some(load, 4), machine)
    )  # two controllers do not disturb each other


def load_of_some(load: c.Demand, threads: int) -> c.Demand:
    """Return the same load with the first threads only."""
    return c.Demand(
        load.memory[:, :threads],
        load.transfers[:, :threads],
        load.hits[:, :threads],
        load.instructions[:, :threads],
        load.exclusive_ns[:, :threads],
        load.dynamic,
        load.members[:, :threads],
        places_on(load.places.node[:threads], load.places.machine),
    )


def test_a_phase_is_never_shorter_than_its_busiest_link() -> None:
    load = load_of(2, (0,) * 8)
    load.memory[0, :, STREAMED, 1] = N
    machine = machine_of((8, 8), thread_GBps=10.0, link_GBps=5.0)
    busy = 8 * N * 64 / 5
    assert busy <= time_of(load, machine) < 1.5 * busy


def test_writing_back_over_a_link_takes_its_write_bandwidth() -> None:
    load = load_of(2, (0,) * 8)
    load.memory[0, :, STREAMED, 1] = N
    load.memory[0, :, WRITTEN_BACK, 1] = N
    machine = machine_of((8, 8), thread_GBps=10.0, link_GBps=5.0)  # writes: 2.5
    assert time_of(load, machine) >= 8 * N * 64 / 2.5


def test_a_route_of_two_hops_fills_both_links() -> None:
    machine = machine_of((4, 4, 4), links=CHAIN, link_GBps=5.0)
    far = load_of(3, (0,) * 4 + (1,) * 4)
    far.memory[0, :4, STREAMED, 2] = N  # 0 -> 1 -> 2
    alone = time_of(far, machine)
    assert alone >= 4 * N * 64 / 5
    far.memory[0, 4:, STREAMED, 2] = N  # 1 -> 2, the same second link
    assert time_of(far, machine) >= 8 * N * 64 / 5
    far.memory[0, 4:, STREAMED, 2] = 0
    far.memory[0, 4:, STREAMED, 0] = N  # 1 -> 0, the other direction
    assert time_of(far, machine) == pytest.approx(alone, rel=1e-3)


def test_a_full_resource_makes_those_wait_who_use_it_and_no_other() -> None:
    machine = machine_of((8, 8), thread_GBps=10.0, node_GBps=20.0)
    load = load_of(2, (0,) * 7 + (1,))
    load.memory[0, :7, STREAMED, 0] = N
    crowd = time_of(load, machine)
    load.memory[0, 7, DEPENDENT, 1] = crowd / 100  # just as long, on the idle node
    assert time_of(load, machine) == pytest.approx(crowd, rel=0.01)
    load.memory[0, 7] = 0
    load.memory[0, 7, DEPENDENT, 0] = crowd / 150  # remote: 150 ns each, and a queue at the end
    assert time_of(load, machine) > 1.05 * crowd


def test_chunks_handed_out_even_the_threads() -> None:
    for dynamic, time in ((True, 2.5 * N), (False, 4 * N)):
        load = load_of(2, (0, 0, 1, 1), dynamic)
        load.instructions[0] = [N, 2 * N, 3 * N, 4 * N]
        assert time_of(load, machine_of()) == pytest.approx(time)


def test_a_description_without_links_has_none_to_fill() -> None:
    load = load_of(1, (0, 0))
    load.memory[0, :, STREAMED, 0] = N
    assert time_of(load, machine_of((2,))) == pytest.approx(N * 6.4, rel=1e-3)


counts = st.integers(0, 5000)


@st.composite
def loads(draw: st.DrawFn, threads: int = 4, nodes: int = 3) -> c.Demand:
    load = load_of(nodes, tuple(draw(st.integers(0, nodes - 1)) for _ in range(threads)), draw(st.booleans()))
    for array in (load.memory, load.transfers, load.hits, load.instructions, load.exclusive_ns):
        array[...] = np.reshape(draw(st.lists(counts, min_size=array.size, max_size=array.size)), array.shape)
    return load


TIGHT = machine_of((4, 4, 4), links=CHAIN, node_GBps=20.0, link_GBps=5.0)


@given(loads(), st.integers(0, 3), st.integers(0, KINDS - 1), st.integers(0, 2), st.integers(1, 20000))
def test_more_to_do_is_never_faster(load: c.Demand, thread: int, kind: int, node: int, more: int) -> None:
    before = time_of(load, TIGHT)
    load.memory[0, thread, kind, node] += more
    assert time_of(load, TIGHT) >= before * (1 - 1e-4)


@given(loads(), st.integers(0, 3), st.integers(1, 50000))
def test_more_to_compute_is_never_faster(load: c.Demand, thread: int, more: int) -> None:
    before = time_of(load, TIGHT)
    load.instructions[0, thread] += more
    assert time_of(load, TIGHT) >= before * (1 - 1e-4)


@given(loads())
def test_local_is_never_slower_than_remote(load: c.Demand) -> None:
    remote = load_of(3, load.places.node)
    local = load_of(3, load.places.node)
    for thread, node in enumerate(load.places.node):
        local.memory[0, thread, :, node] = load.memory[0, thread, :, 0]
        remote.memory[0, thread, :, (node + 1) % 3] = load.memory[0, thread, :, 0]
    assert time_of(local, TIGHT) <= time_of(remote, TIGHT) * (1 + 1e-4)


@given(loads())
def test_the_time_is_the_one_that_leads_to_itself(load: c.Demand) -> None:
    """Found by many more steps, it is the same: the answer does not hang on where the search stopped."""
    found = time_of(load, TIGHT)
    rounds = c.ROUNDS
    try:
        for more in (rounds + 1, rounds + 20):
            c.ROUNDS = more
            assert time_of(load, TIGHT) == pytest.approx(found, rel=1e-4, abs=1e-3)
    finally:
        c.ROUNDS = rounds


@given(loads(), st.integers(2, 50))
def test_twice_the_work_takes_twice_the_time(load: c.Demand, factor: int) -> None:
    longer = c.Demand(
        *(part * factor for part in (load.memory, load.transfers, load.hits, load.instructions, load.exclusive_ns)),
        load.dynamic,
        load.members,
        load.places,
    )
    assert time_of(longer, TIGHT) == pytest.approx(factor * time_of(load, TIGHT), rel=1e-4, abs=1e-3)


@pytest.mark.parametrize(
    ("use", "wait"),
    # Pollaczek-Khinchine for fixed service times: use^2 / (2 (1 - use)), held at the use of 0.95.
    [(0.0, 0.0), (0.5, 0.25), (0.8, 1.6), (0.95, 9.025), (1.0, 9.025), (3.0, 9.025)],
)
def test_the_wait_in_a_queue_is_that_of_the_formula(use: float, wait: float) -> None:
    assert float(c._queue(np.array([use]))[0]) == pytest.approx(wait)


def test_a_hit_costs_its_latency_in_a_chain_and_a_fifth_of_it_otherwise() -> None:
    machine = machine_of()
    costs = c.costs_of(machine)
    for kind, part in ((STREAMED, 0.2), (INDEPENDENT, 0.2), (DEPENDENT, 1.0)):
        load = load_of(len(machine.nodes), (0,))
        load.hits[0, 0, kind] = N
        assert c.solve(load, costs)[0] == pytest.approx(N * part * machine.shared_cache.latency_ns * NS, rel=1e-4)


def test_locks_are_taken_one_after_the_other() -> None:
    load = load_of(2, (0, 0, 1, 1))
    load.instructions[0] = [N, N, N, N]
    load.exclusive_ns[0] = [N / 10] * 4
    assert time_of(load, machine_of()) == pytest.approx(1.1 * N)  # each waits for its own while the others compute
    load.exclusive_ns[0] = [N] * 4
    assert time_of(load, machine_of()) == pytest.approx(4 * N)


def test_a_dynamic_phase_evens_out_the_threads_of_its_team_alone() -> None:
    load = load_of(2, (0, 0, 1, 1), dynamic=True)
    load.instructions[0] = [N, 3 * N, 0, 0]
    load.members[0] = [True, True, False, False]
    assert time_of(load, machine_of()) == pytest.approx(2 * N)
