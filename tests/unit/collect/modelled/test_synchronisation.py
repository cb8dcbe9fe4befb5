import itertools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.modelled.description import TeamCost, load_description, machine_names
from numapredict.collect.modelled.synchronisation import Synchronisation
from tests.traces import machine_of

KNOWN = (
    TeamCost(2, 1, 1.0, 0.5, 20.0, 100.0),
    TeamCost(4, 1, 2.0, 1.0, 40.0, 200.0),
    TeamCost(8, 2, 6.0, 3.0, 80.0, 400.0),
)
MACHINE = msgspec.structs.replace(machine_of((4, 4)), team_costs=KNOWN)


def fork_join_ns(*nodes: int) -> float:
    return Synchronisation(MACHINE).waits(nodes).fork_join_ns


def test_a_known_team_costs_what_the_description_says() -> None:
    waits = Synchronisation(MACHINE).waits((0, 0, 0, 0))
    assert (waits.fork_join_ns, waits.barrier_ns, waits.atomic_ns, waits.lock_ns) == (2000, 1000, 40, 200)
    assert fork_join_ns(*[0, 1] * 4) == 6000


def test_other_teams_lie_between() -> None:
    assert fork_join_ns(0, 0, 0) == pytest.approx(1500)
    assert fork_join_ns(*[0] * 6) == pytest.approx(3000)  # the last line goes on
    assert fork_join_ns(0, 0, 1, 1) == pytest.approx(6000 * 3 / 7)
    assert fork_join_ns(0) == 0


def test_it_counts_on_how_many_nodes_a_team_is_and_not_on_which() -> None:
    four = Synchronisation(msgspec.structs.replace(machine_of((4,) * 4), team_costs=KNOWN))
    assert four.waits((2, 2, 3, 3)).fork_join_ns == four.waits((0, 0, 1, 1)).fork_join_ns
    assert four.waits((3,) * 4).fork_join_ns == 2000


def test_a_cost_that_falls_with_the_threads_stays_at_the_last_known() -> None:
    costs = (TeamCost(2, 1, 3.0, 2.0, 60.0, 300.0), TeamCost(4, 1, 2.0, 1.0, 40.0, 200.0))
    waits = Synchronisation(msgspec.structs.replace(MACHINE, team_costs=costs)).waits((0,) * 6)
    assert (waits.fork_join_ns, waits.barrier_ns, waits.atomic_ns, waits.lock_ns) == (2000, 1000, 40, 200)


def test_without_figures_a_team_pays_for_each_thread_and_more_for_far_ones() -> None:
    machine = machine_of((8, 8))  # a cycle takes 1 ns, a hit 20, the other node's memory 150
    waits = Synchronisation(machine).waits((0,) * 8)
    assert waits.barrier_ns == pytest.approx(800 + 8 * 3 * 20)
    assert waits.fork_join_ns == pytest.approx(3000 + 2 * 8 * 3 * 20)
    assert (waits.atomic_ns, waits.lock_ns) == pytest.approx((60, 5.6 * 60))
    both = Synchronisation(machine).waits((0, 1))
    assert (both.barrier_ns, both.lock_ns) == pytest.approx((800 + 2 * 150, 1.6 * 150))


@pytest.mark.parametrize("name", machine_names())
def test_larger_teams_never_wait_less_on_a_described_machine(name: str) -> None:
    machine = load_description(name)
    synchronisation = Synchronisation(machine)
    cores = min(node.cores for node in machine.nodes if node.cores)
    used = [index for index, node in enumerate(machine.nodes) if node.cores]
    for nodes in range(1, len(used) + 1):
        teams = [tuple(home for home in used[:nodes] for _ in range(each)) for each in range(1, cores + 1)]
        for smaller, larger in itertools.pairwise(teams):
            assert synchronisation.waits(smaller).barrier_ns <= synchronisation.waits(larger).barrier_ns


@given(st.lists(st.integers(0, 1), min_size=1, max_size=40))
def test_no_team_gains_time(nodes: list[int]) -> None:
    for machine in (MACHINE, machine_of((4, 4))):
        waits = Synchronisation(machine).waits(tuple(nodes))
        assert min(waits.fork_join_ns, waits.barrier_ns, waits.atomic_ns, waits.lock_ns) >= 0
        assert len(nodes) == 1 or waits.barrier_ns > 0


def test_pairs_under_other_caches_take_longer_as_often_as_the_costs_have_a_transfer() -> None:
    costs = Synchronisation(msgspec.structs.replace(MACHINE, other_cache_ns=70.0))
    packed, spread = costs.waits((0,) * 4), costs.waits((0,) * 4, 0.5)
    assert spread.fork_join_ns - packed.fork_join_ns == 2 * 4 * 35
    assert spread.barrier_ns - packed.barrier_ns == 4 * 35
    assert spread.atomic_ns - packed.atomic_ns == 35
    assert spread.lock_ns - packed.lock_ns == pytest.approx(4.2 * 35)
    assert costs.waits((0,) * 4) == Synchronisation(MACHINE).waits((0,) * 4, 0.5) == packed
