"""How much memory each thread of a replay writes to, so that none of the region's data is left in the caches."""

from numapredict.collect.placement import Placement

PRIVATE_TIMES = 2
"""Of a thread's private cache: caches that do not replace the line that was used least recently keep some others."""


def fill_bytes(placement: Placement) -> int:
    """Return the bytes for each thread: twice its private cache, and its share of the one that threads share.

    The share is that of the threads which the placement puts on a cache's cores, and the most of any thread.
    """
    topology = placement.topology
    core_of = {pu: core.index for node in topology.nodes for core in node.cores for pu in core.pus}
    cores = [core_of[pu] for pu in placement.pus]
    most = 0
    for core in set(cores):
        around = [cache for cache in topology.caches if core in cache.cores]
        private = max((cache.size_bytes for cache in around if len(cache.cores) == 1), default=0)
        shared = max((cache for cache in around if len(cache.cores) > 1), key=lambda cache: cache.level, default=None)
        share = shared.size_bytes // sum(other in shared.cores for other in cores) if shared is not None else 0
        most = max(most, PRIVATE_TIMES * private + share)
    return most
