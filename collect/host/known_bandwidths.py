"""The bandwidths that `numapredict topology --measure` found on this computer: kept for topologies of it."""

import contextlib
from pathlib import Path

import msgspec

from numapredict.collect.host.bounded_file import MIB, read_bounded
from numapredict.collect.host.cache import cache_folder
from numapredict.collect.host.durable import replace_file
from numapredict.collect.host.node_name import node_name
from numapredict.collect.topology import Bandwidths, Topology
from numapredict.native.errors import InvalidTopologyError


def keep_bandwidths(topology: Topology, found: Bandwidths) -> None:
    """Keep what was measured of a topology; where the cache cannot be written, weights go by distance as before."""
    path = _path(topology)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, msgspec.json.encode(found))


def with_known_bandwidths(topology: Topology) -> Topology:
    """Return the topology with the bandwidths that are kept for it, as it is where there are none or damaged ones."""
    with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError, InvalidTopologyError):
        found = msgspec.json.decode(read_bounded(_path(topology), MIB), type=Bandwidths)
        return msgspec.structs.replace(topology, bandwidths=found)
    return topology


def _path(topology: Topology) -> Path:
    numbers = "-".join(str(node.os_index) for node in topology.nodes)
    return cache_folder() / "bandwidths" / f"{node_name()}-{topology.fingerprint}-{numbers[:100]}.json"
