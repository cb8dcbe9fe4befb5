"""What a program is compared with on a described machine: all cores, or as many threads as the caller asks for."""

import math

from numapredict.collect.limits import Limits
from numapredict.collect.mapping import Mapping
from numapredict.collect.space import canonical
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology
from numapredict.native.errors import UsageError


def described_baseline(default: Mapping, asked: int | None, limits: Limits, topology: Topology) -> Mapping:
    """Return the mapping of the program as it is: ``default``, or with the threads that OMP_NUM_THREADS ``asked`` for.

    Limits of threads and nodes hold for it as well. Raises UsageError for more threads than the machine has PUs.
    """
    nodes = len(topology.cpu_nodes)
    if limits.nodes:
        nodes = min(max(limits.nodes), nodes)
    threads = asked or min(default.threads, _cores(topology, nodes))
    if limits.threads and threads not in limits.threads:
        most = _cores(topology, nodes) * topology.threads_per_core
        threads = max((number for number in limits.threads if number <= most), default=max(limits.threads))
    nodes = min(nodes, threads)
    cores = _cores(topology, nodes)
    if threads > cores * topology.threads_per_core:
        what = f"OMP_NUM_THREADS={asked}" if threads == asked else f"--threads {threads}"
        room = f"{counted(cores * topology.threads_per_core, 'hardware thread')} on {counted(nodes, 'node')}"
        raise UsageError(f"{what}: {topology.name} has {room}: ask for at most as many")
    mapping = Mapping(threads, nodes, "contiguous", nodes, "first-touch", math.ceil(threads / cores))
    return canonical(mapping, topology)


def _cores(topology: Topology, nodes: int) -> int:
    return sum(len(node.cores) for node in topology.cpu_nodes[:nodes])
