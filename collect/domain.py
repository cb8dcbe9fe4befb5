"""Domains: what threads are spread over inside a NUMA node, its L3 caches; pure."""

from functools import lru_cache

from numapredict.collect.topology import Core, Topology

_LEVEL = 3


@lru_cache(maxsize=1024)
def domains_of(topology: Topology, node: int) -> tuple[tuple[Core, ...], ...]:
    """Return the cores of each L3 cache of a node (logical index), in the order of the node's cores.

    An L3 cache that several nodes share is a domain of each. Cores without one, such as the low-power ones of some
    hybrid processors, are in no domain, but where no core of the node has one: then all are one.
    """
    cache_of = {
        core: number for number, cache in enumerate(topology.caches) if cache.level == _LEVEL for core in cache.cores
    }
    found: dict[int, list[Core]] = {}
    for core in topology.nodes[node].cores:
        if core.index in cache_of:
            found.setdefault(cache_of[core.index], []).append(core)
    return tuple(map(tuple, found.values())) or (topology.nodes[node].cores,)


def cores_by_l3(topology: Topology, node: int) -> tuple[Core, ...]:
    """Return all cores of a node, those of an L3 cache together, and last those without one."""
    within = dict.fromkeys(core for cores in domains_of(topology, node) for core in cores)
    return (*within, *(core for core in topology.nodes[node].cores if core not in within))


def l3_sizes(topology: Topology, node: int) -> tuple[int, ...]:
    """Return the numbers of cores of a node's L3 caches, nothing where one has them all."""
    sizes = tuple(map(len, domains_of(topology, node)))
    return sizes if sizes != (len(topology.nodes[node].cores),) else ()


def count_domains(topology: Topology, thread_nodes: int) -> int:
    """Return the number of L3 caches of the first nodes with cores."""
    return sum(len(domains_of(topology, node.index)) for node in topology.cpu_nodes[:thread_nodes])


def most_domains(topology: Topology) -> int:
    """Return the largest number of L3 caches that a node has, 1 where they do not split any."""
    return max(len(domains_of(topology, node.index)) for node in topology.cpu_nodes)


def domains_used(topology: Topology, slots_pus: tuple[int, ...]) -> int:
    """Return how many L3 caches these PUs (OS indices) have between them."""
    wanted = set(slots_pus)
    return sum(
        any(wanted.intersection(core.pus) for core in cores)
        for node in topology.cpu_nodes
        for cores in domains_of(topology, node.index)
    )
