"""What synchronisation costs teams of threads, by their size and the nodes that they are on."""

import msgspec

from numapredict.collect.describing.cores import counts_to
from numapredict.collect.describing.probe import Question
from numapredict.collect.describing.sample import Prober, Sample
from numapredict.collect.topology import Topology


class MeasuredTeam(msgspec.Struct, frozen=True):
    """The costs of a team of ``threads``, the same number on each of ``nodes``: see SynchronisationTable."""

    threads: int
    nodes: int
    fork_join_us: Sample
    barrier_us: Sample
    atomic_ns: Sample
    lock_ns: Sample


def measure_teams(topology: Topology, prober: Prober) -> tuple[MeasuredTeam, ...]:
    """Measure the teams of ``measured_teams`` with libgomp."""
    found = []
    for threads, nodes in measured_teams(topology):
        pus = tuple(core.pus[0] for node in topology.cpu_nodes[:nodes] for core in node.cores[: threads // nodes])
        found.append(MeasuredTeam(threads=threads, nodes=nodes, **prober.ask(Question("team", pus)).figures))
    return tuple(found)


def measured_teams(topology: Topology) -> tuple[tuple[int, int], ...]:
    """Return (threads, nodes): 1, 2, 4 and so on to all nodes, 1, 2, 4 and so on to all cores on each of them."""
    nodes = topology.cpu_nodes
    return tuple(
        (count * cores, count)
        for count in counts_to(len(nodes))
        for cores in counts_to(min(len(node.cores) for node in nodes[:count]))
        if count * cores > 1
    )
