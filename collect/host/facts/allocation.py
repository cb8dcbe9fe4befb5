"""How much of this computer a process may use, and what limits it: a batch system, a control group, or its affinity."""

import os
from collections.abc import Mapping as Variables
from pathlib import Path

import msgspec

from numapredict.collect.host.batch_job import Job, batch_job
from numapredict.collect.host.facts.limits import online_pus
from numapredict.collect.host.facts.memory import node_memories
from numapredict.collect.host.facts.processors import most_siblings
from numapredict.collect.host.facts.surroundings import container
from numapredict.collect.host.host import cpuset
from numapredict.collect.topology import Topology


class Allocation(msgspec.Struct, frozen=True):
    """The part of this computer that a topology was restricted to.

    ``pus`` of ``all_pus`` may be used, on ``nodes`` of ``all_nodes``, with the memory of ``memory_nodes`` of
    ``all_memory_nodes``; nodes by their OS index. ``threads_a_core`` is the most PUs that one core has there,
    ``all_threads_a_core`` that of the whole computer, 0 where the kernel does not report it.
    """

    giver: str
    job: Job | None
    pus: int
    all_pus: int
    nodes: tuple[int, ...]
    memory_nodes: tuple[int, ...]
    all_memory_nodes: tuple[int, ...]
    threads_a_core: int
    all_threads_a_core: int = 0

    @property
    def restricts(self) -> bool:
        """Return whether a part of the computer is left out."""
        return self.pus < self.all_pus or len(self.memory_nodes) < len(self.all_memory_nodes)


def allocation(
    topology: Topology, root: Path = Path("/"), variables: Variables[str, str] | None = None
) -> Allocation | None:
    """Return how this computer's ``topology`` was restricted, or None where the kernel does not report it."""
    online = online_pus(root)
    mine = frozenset(pu for node in topology.nodes for core in node.cores for pu in core.pus)
    if not online or not mine <= online:
        return None
    job = batch_job(os.environ if variables is None else variables)
    memory_nodes = tuple(node.os_index for node in topology.memory_nodes)
    return Allocation(
        giver=job.name if job else _giver(mine, online, root),
        job=job,
        pus=len(mine),
        all_pus=len(online),
        nodes=tuple(node.os_index for node in topology.cpu_nodes),
        memory_nodes=memory_nodes,
        all_memory_nodes=tuple(memory.node for memory in node_memories(root)) or memory_nodes,
        threads_a_core=topology.threads_per_core,
        all_threads_a_core=most_siblings(root),
    )


def _giver(mine: frozenset[int], online: frozenset[int], root: Path) -> str:
    """Return what restricts a process outside any job: its control group, or else the affinity mask it started with."""
    group = cpuset(root)
    if (group.pus is not None and group.pus & online == mine < online) or (mine == online and group.memory_nodes):
        return "the container" if container(root).value != "no" else "the control group of this process"
    return "the affinity mask of this process"
