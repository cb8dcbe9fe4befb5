from numapredict.collect.describing.cores import counts_to
from numapredict.collect.describing.sample import Pace, Prober
from numapredict.collect.describing.teams import measure_teams, measured_teams
from numapredict.collect.terminal.progress import Count
from tests.unit.collect.describing.made_up import answering, captured, idle


def test_counts_double_and_end_with_all() -> None:
    assert [counts_to(most) for most in (1, 2, 3, 8, 12)] == [(1,), (1, 2), (1, 2, 3), (1, 2, 4, 8), (1, 2, 4, 8, 12)]


def test_teams_stand_evenly_on_one_node_two_nodes_and_so_on() -> None:
    topology, _ = captured("four-node")
    cores = len(topology.nodes[0].cores)
    teams = measured_teams(topology)
    assert len(set(teams)) == len(teams)
    assert {nodes for _, nodes in teams} == {1, 2, 4}
    assert (1, 1) not in teams
    assert {(2, 1), (2, 2), (4, 4), (cores, 1), (2 * cores, 2), (4 * cores, 4)} <= set(teams)
    assert all(threads % nodes == 0 for threads, nodes in teams)


def test_each_thread_of_a_team_has_a_core_of_its_own_on_the_right_node() -> None:
    topology, _ = captured("four-node")
    asked: list[tuple[str, ...]] = []
    found = measure_teams(topology, Prober(Count(9, "teams"), Pace(), answering(topology, asked), idle))
    pus = {(team.threads, team.nodes): words[1] for team, words in zip(found, asked, strict=True)}
    first = [node.cores[0].pus[0] for node in topology.cpu_nodes]
    assert pus[4, 4] == ",".join(map(str, first))
