"""The private and the shared cache of a computer's cores, in the form of a description."""

from collections.abc import Sequence

import msgspec

from numapredict.collect.host.hwloc import CacheDetail
from numapredict.collect.topology import Cache, Topology

_LINE_BYTES = 64
_ASSUMED_WAYS = 16


class FoundCache(msgspec.Struct, frozen=True):
    """One kind of cache, and where its figures come from: ``source`` of its size, ``ways_source`` of its ways."""

    size_bytes: int
    ways: int
    source: str
    ways_source: str


class FoundCaches(msgspec.Struct, frozen=True):
    """Each core's last private cache, and the cache that ``sharing`` cores of a node share.

    ``inclusive`` is None where the processor does not report it.
    """

    private: FoundCache
    shared: FoundCache
    sharing: int
    line_bytes: int = _LINE_BYTES
    inclusive: bool | None = None


def found_caches(topology: Topology, details: Sequence[CacheDetail] = ()) -> FoundCaches:
    """Return the caches of the first core: the last level as the shared one, the level before it as the private one.

    A shared cache that spans nodes counts in equal parts for each of them.
    """
    node = topology.cpu_nodes[0]
    core = node.cores[0].index
    own = sorted((cache for cache in topology.caches if core in cache.cores), key=lambda cache: cache.level)
    if not own:
        assumed = FoundCache(1 << 20, _ASSUMED_WAYS, "assumption: nothing reports caches here", _ways_words(0))
        return FoundCaches(assumed, msgspec.structs.replace(assumed, size_bytes=16 << 20), len(node.cores))
    last, private = own[-1], own[-2] if len(own) > 1 else own[-1]
    spanned = sum(any(each.index in last.cores for each in other.cores) for other in topology.cpu_nodes)
    sharing = min(len(last.cores), len(node.cores))
    detail = {each.level: each for each in details}
    return FoundCaches(
        private=_found(private, 1, detail.get(private.level)),
        shared=_found(last, spanned, detail.get(last.level)),
        sharing=sharing,
        line_bytes=last.line_bytes,
        inclusive=detail[last.level].inclusive if last.level in detail else None,
    )


def _found(cache: Cache, nodes: int, detail: CacheDetail | None) -> FoundCache:
    known = detail.ways if detail is not None else 0
    lines = cache.size_bytes // nodes // cache.line_bytes
    ways = known if known and lines % known == 0 else _divisor(lines)
    part = f", in equal parts for the {nodes} nodes that share it" if nodes > 1 else ""
    return FoundCache(
        size_bytes=lines * cache.line_bytes,
        ways=ways,
        source=f"hwloc: L{cache.level}{part}",
        ways_source=_ways_words(known, cache.level) if ways == known else _ways_words(0),
    )


def _ways_words(ways: int, level: int = 0) -> str:
    return (
        f"hwloc: L{level}" if ways else "assumption: nothing reports the ways; 16 are common, fewer where 16 do not fit"
    )


def _divisor(lines: int) -> int:
    return next(ways for ways in range(_ASSUMED_WAYS, 0, -1) if lines % ways == 0)
