"""Counterparts of MCTOP's thread placements: the mappings of ours that do most nearly the same with threads and pages.

As MCTOP describes them: SEQUENTIAL follows the system's numbers (cores before their second threads), MIN_LAT takes the
fewest nodes, BW_ROUND_ROBIN goes round all of them, HWCS fills a core's threads first, NONE binds nothing, so that the
kernel spreads threads. Pages are left to first touch by all.
"""

from numapredict.collect.data.counterparts import Counterparts
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.space import canonical
from numapredict.collect.topology import Topology


def counterpart(policy: str, threads: int, topology: Topology) -> Mapping:
    """Return the nearest mapping to a placement of MCTOP."""
    nodes, cores = len(topology.cpu_nodes), topology.core_count
    most = max(len(core.pus) for node in topology.cpu_nodes for core in node.cores)
    siblings = policy.endswith("HWCS") or policy == "MIN_LAT_HWCS_BALANCE"
    per_core = min(most, 2) if siblings or threads > cores else 1
    spread = policy.startswith(("BW_", "NONE"))
    used = min(nodes, threads) if spread else -(-threads * nodes // (cores * per_core))
    mapping = Mapping(threads, used, "scatter" if spread else "contiguous", used, "first-touch", per_core)
    return canonical(mapping, topology)


def counterparts_of(mappings: tuple[AnyMapping, ...], topology: Topology) -> Counterparts:
    """Return the counterparts of mappings named POLICY-THREADS."""
    pairs = []
    for mapping in mappings:
        policy, threads = mapping.label.rsplit("-", 1)
        pairs.append((mapping, counterpart(policy, int(threads), topology)))
    return Counterparts(topology, tuple(pairs))
