"""How alike machines are, so that a search that knows of many goes by those most like its own."""

from collections.abc import Sequence

import numpy as np

from numapredict.collect.domain import most_domains
from numapredict.collect.topology import Topology
from numapredict.predictor.searching.gains_file import MachineGains
from numapredict.predictor.searching.known_gains import Array

MOST_MACHINES = 8
"""A search goes by so many other machines: its time and memory grow with the square of the known programs."""


def machine_features(topology: Topology) -> Array:
    """Return what of a machine decides how programs react to mappings, float64[6], each as log2.

    Nodes with cores, cores a node, L3 caches a node, PUs a core, distance of other nodes over the own one (as the
    firmware says it), and MiB of last-level cache a core; 0 where it is not known.
    """
    nodes, cores = len(topology.cpu_nodes), topology.core_count
    distances = np.array(topology.distances, dtype=np.float64).reshape(len(topology.distances), -1)
    own = np.diag(distances) if distances.size else np.ones(1)
    apart = distances[~np.eye(len(distances), dtype=bool)] if distances.size else np.empty(0)
    last = max((cache.level for cache in topology.caches), default=0)
    cache_MiB = sum(cache.size_bytes for cache in topology.caches if cache.level == last) / 2**20 / cores
    ratio = apart.mean() / own.mean() if apart.size else 1.0
    return np.log2([nodes, cores / nodes, most_domains(topology), topology.threads_per_core, ratio, cache_MiB or 1.0])


def most_alike(topology: Topology, machines: Sequence[MachineGains], most: int = MOST_MACHINES) -> list[MachineGains]:
    """Return at most so many machines, those nearest to a topology, in the order given."""
    if len(machines) <= most:
        return list(machines)
    own = machine_features(topology)
    off = [float(((machine_features(each.topology) - own) ** 2).sum()) for each in machines]
    return [machines[at] for at in sorted(np.argsort(off, kind="stable")[:most].tolist())]
