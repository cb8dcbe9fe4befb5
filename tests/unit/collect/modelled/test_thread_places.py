import msgspec
import numpy as np
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.modelled.description import Die, SharedCache
from numapredict.collect.modelled.shared_caches import DEPENDENT, INDEPENDENT, STREAMED, WRITTEN_BACK
from numapredict.collect.modelled.thread_places import ThreadPlaces, places_of, places_on
from numapredict.collect.placement import ThreadSlot, resolve
from tests.traces import machine_of
from tests.unit.collect.modelled.test_contention import N, load_of, time_of

MACHINE = msgspec.structs.replace(
    machine_of((4, 4)), threads_per_core=2, smt_throughput=1.3, shared_cache=SharedCache(65536, 16, 20.0, cores=2)
)


@pytest.mark.parametrize("label", ["8x2-contiguous-locality", "4x2-scatter-locality", "3x1-contiguous-bind"])
def test_the_places_of_a_mapping_are_the_cores_of_its_slots(label: str) -> None:
    slots = resolve(parse_label(label), MACHINE.topology).slots
    places = places_of(slots, MACHINE)
    cores = {pu: (node.index, core.index) for node in MACHINE.topology.nodes for core in node.cores for pu in core.pus}
    assert list(zip(places.node, places.core, strict=True)) == [cores[slot.pu] for slot in slots]
    assert places.siblings.tolist() == [1] * len(slots)


def test_the_second_hardware_thread_of_a_core_is_in_the_same_place() -> None:
    places = places_of((ThreadSlot(1, 5), ThreadSlot(1, 13), ThreadSlot(0, 0)), MACHINE)
    assert places.core == (5, 5, 0)
    assert places.siblings.tolist() == [2, 2, 1]
    assert places.throughput.tolist() == [1.3, 1.3, 1.0]
    assert places.same_core.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]


def test_threads_on_nodes_take_their_cores_in_turn() -> None:
    assert places_on((1, 0, 1, 1, 1, 1), MACHINE).core == (4, 0, 5, 6, 7, 4)


def test_each_shared_cache_that_is_used_has_a_number_and_a_node() -> None:
    places = ThreadPlaces(MACHINE, (1, 0, 1, 1), (7, 1, 6, 4))
    assert places.cache == (0, 1, 0, 2)
    assert places.cache_node.tolist() == [1, 0, 1]
    whole = msgspec.structs.replace(MACHINE, shared_cache=SharedCache(65536, 16, 20.0))
    assert ThreadPlaces(whole, (1, 0, 1, 1), (7, 1, 6, 4)).cache == (0, 1, 0, 0)


def test_caches_of_a_part_of_a_node_begin_with_its_first_core() -> None:
    uneven = msgspec.structs.replace(machine_of((3, 4)), shared_cache=SharedCache(65536, 16, 20.0, cores=2))
    assert ThreadPlaces(uneven, (1, 1, 1, 1), (3, 4, 5, 6)).cache == (0, 0, 1, 1)
    assert ThreadPlaces(uneven, (0, 0, 0), (0, 1, 2)).cache == (0, 0, 1)


@pytest.mark.parametrize(
    ("core", "caches_of_cores"), [((1,), 1), ((0, 0), 1), ((0, 1), 2), ((0, 0, 2), 1), ((0, 1, 0, 1, 2), 1.5)]
)
def test_a_victim_cache_has_the_private_caches_of_cores_with_a_thread(
    core: tuple[int, ...], caches_of_cores: float
) -> None:
    victim = msgspec.structs.replace(MACHINE, shared_cache=SharedCache(65536, 16, 20.0, cores=2, inclusive=False))
    node = (0,) * len(core)
    assert ThreadPlaces(victim, node, core).private_bytes == caches_of_cores * MACHINE.private_cache.size_bytes
    assert ThreadPlaces(MACHINE, node, core).private_bytes == 0


def test_each_further_thread_of_a_core_gains_as_much() -> None:
    four = msgspec.structs.replace(machine_of((2, 2)), threads_per_core=4, smt_throughput=1.6)
    for threads, gain in ((1, 1.0), (2, 1.2), (3, 1.4), (4, 1.6)):
        assert ThreadPlaces(four, (0,) * threads, (0,) * threads).throughput == pytest.approx([gain] * threads)


def test_two_threads_of_a_core_are_one_active_core() -> None:
    turbo = msgspec.structs.replace(MACHINE, turbo_GHz=(4.0, 2.0))
    assert ThreadPlaces(turbo, (0, 0), (3, 3)).instruction_ns.tolist() == [0.25, 0.25]
    assert ThreadPlaces(turbo, (0, 0, 1), (3, 2, 4)).instruction_ns.tolist() == [0.5, 0.5, 0.25]


SIBLINGS = msgspec.structs.replace(machine_of((2, 2)), threads_per_core=2, smt_throughput=1.25)


def test_two_threads_of_a_core_compute_a_little_more_than_one() -> None:
    load = load_of(2, (0, 0))
    load.instructions[0] = [N, N]
    assert time_of(load, SIBLINGS) == pytest.approx(N)
    load = load_of(2, (0, 0, 0, 0))  # the first and third on one core, the others on the second
    load.instructions[0] = [N, 3 * N, N, N]
    assert time_of(load, SIBLINGS) == pytest.approx(4 * N / 1.25)
    load.instructions[0, 2] = 9 * N
    assert time_of(load, SIBLINGS) == pytest.approx(9 * N)  # its sibling is done long before


def test_two_threads_of_a_core_share_the_lines_under_way_and_wait_side_by_side() -> None:
    for kind, ns in ((STREAMED, 2 * 6.4), (DEPENDENT, 100)):
        load = load_of(2, (0, 0, 0))
        load.memory[0, [0, 2], kind, 0] = N
        assert time_of(load, SIBLINGS) == pytest.approx(N * ns, rel=1e-3)


def test_threads_of_a_core_have_a_part_of_its_window_each() -> None:
    times = []
    for threads in (1, 3):
        load = load_of(2, (0,) * threads)
        load.memory[0, 0, INDEPENDENT, 0] = N
        load.instructions[0, 0] = 25 * N
        times.append(time_of(load, SIBLINGS))
    # A window of 100 instructions has four misses, half a window two, whose wait it hides in part.
    assert times == pytest.approx([N * 25, N * 50], rel=2e-3)


def test_the_clock_falls_with_the_active_cores_of_a_package() -> None:
    two = msgspec.structs.replace(machine_of((2, 2)), turbo_GHz=(4.0, 2.0, 1.0))
    for node, clock in (((0,), 4.0), ((0, 1), 4.0), ((0, 0), 2.0), ((0, 0, 1, 1), 2.0)):
        load = load_of(2, node)
        load.instructions[0, 0] = N
        assert time_of(load, two) == pytest.approx(N / clock)
    one = msgspec.structs.replace(two, packages=(0, 0))
    for node, clock in (((0, 1), 2.0), ((0, 0, 1), 1.0), ((0, 0, 1, 1), 1.0), ((0, 0, 0), 2.0)):
        load = load_of(2, node)
        load.instructions[0, 0] = N
        assert time_of(load, one) == pytest.approx(N / clock), node


def test_a_team_over_more_caches_than_it_needs_has_more_pairs_apart() -> None:
    def spread(*cores: int) -> float:
        places = ThreadPlaces(MACHINE, tuple(core // 4 for core in cores), cores)
        return places.spread(np.ones(len(cores), dtype=bool))

    assert spread(0, 1) == spread(0, 1, 2, 3) == spread(0, 4) == spread(0) == 0  # two cores a cache, four a node
    assert spread(0, 2) == 1
    assert spread(0, 2, 4, 5) == pytest.approx(2 / 12)  # of 12 ordered pairs, those on the first node
    alone = msgspec.structs.replace(MACHINE, shared_cache=SharedCache(65536, 16, 20.0))
    assert ThreadPlaces(alone, (0, 0), (0, 2)).spread(np.ones(2, dtype=bool)) == 0
    several = ThreadPlaces(MACHINE, (0, 0, 0), (0, 1, 2))
    assert several.spread(np.array([True, False, True])) == 1


def test_each_die_that_is_used_has_a_column() -> None:
    described = msgspec.structs.replace(MACHINE, die=Die(2, 10.0, 5.0))
    assert ThreadPlaces(described, (1, 0, 1, 1), (7, 1, 6, 4)).dies.tolist() == [
        [1, 0, 0],
        [0, 1, 0],
        [1, 0, 0],
        [0, 0, 1],
    ]
    assert ThreadPlaces(MACHINE, (0, 1), (0, 4)).dies.shape == (2, 0)


def test_the_cores_of_a_die_share_its_link_whatever_memory_they_read() -> None:
    machine = msgspec.structs.replace(machine_of((8, 8)), die=Die(4, 12.8, 6.4))
    for node, link_of_one in (((0, 0, 0, 0), 4), ((0, 0, 1, 1), 2)):
        load = load_of(2, node)
        load.memory[0, :, STREAMED, 1] = N
        load.transfers[0, :, STREAMED, 0] = N
        assert time_of(load, machine) == pytest.approx(2 * N * link_of_one * 64 / 12.8, rel=1e-3)
    load = load_of(2, (0, 0))
    load.memory[0, :, STREAMED, 1] = load.memory[0, :, WRITTEN_BACK, 1] = N
    assert time_of(load, machine) == pytest.approx(2 * N * 64 / 6.4, rel=1e-3)  # a written line is fetched, too
