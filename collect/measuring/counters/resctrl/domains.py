"""Which L3 caches resctrl counts separately, and which NUMA nodes they serve, by sysfs.

A domain's number is the cache's id in sysfs, and its folder ``mon_L3_NN`` (Linux, filesystems/resctrl.rst,
"Cache IDs").
"""

import re
from pathlib import Path

import msgspec

from numapredict.collect.host.kernel_file import kernel_line
from numapredict.collect.index_list import parse_index_list
from numapredict.native.errors import CounterError


class Domain(msgspec.Struct, frozen=True):
    """One L3 cache: its id, and the PUs of each NUMA node that it serves, all by OS index."""

    cache_id: int
    pus_of_nodes: tuple[tuple[int, frozenset[int]], ...]

    @property
    def folder(self) -> str:
        """Return the name of its folder in a group's ``mon_data``."""
        return f"mon_L3_{self.cache_id:02d}"


class DomainFolder(msgspec.Struct, frozen=True):
    """A folder below ``mon_data`` that counts for one node's PUs, all of them or a part."""

    node: int
    folder: str
    pus: frozenset[int]


def l3_domains(root: Path) -> tuple[Domain, ...]:
    """Return the L3 caches of the PUs that are online; raise CounterError where the kernel gives no ids."""
    devices = root / "sys/devices/system"
    node_of = _nodes_of_pus(devices)
    found: dict[int, Domain] = {}
    for index in sorted((devices / "cpu").glob("cpu[0-9]*/cache/index[0-9]*")):
        if kernel_line(index / "level") != "3":
            continue
        cache_id = kernel_line(index / "id")
        if not re.fullmatch(r"[0-9]{1,9}", cache_id):
            raise CounterError(f"{index} has no id, so resctrl's L3 domains cannot be matched with NUMA nodes")
        if int(cache_id) in found:
            continue
        members: dict[int, set[int]] = {}
        for pu in _numbers(index / "shared_cpu_list"):
            members.setdefault(node_of.get(pu, 0), set()).add(pu)
        pus = tuple((node, frozenset(members[node])) for node in sorted(members))
        found[int(cache_id)] = Domain(int(cache_id), pus)
    return tuple(found[cache_id] for cache_id in sorted(found))


def places(domains: tuple[Domain, ...], mon_data: Path) -> tuple[DomainFolder, ...]:
    """Return where in ``mon_data`` each node's traffic is counted.

    An L3 cache that sub-NUMA clusters share has a folder ``mon_sub_L3_NN`` for each node, NN being its number, from
    Linux 6.10 on (filesystems/resctrl.rst, "Notes on Sub-NUMA Cluster mode"). Raises CounterError without.
    """
    found = []
    for domain in domains:
        if len(domain.pus_of_nodes) == 1:
            ((node, pus),) = domain.pus_of_nodes
            found.append(DomainFolder(node, domain.folder, pus))
            continue
        for node, pus in domain.pus_of_nodes:
            folder = f"{domain.folder}/mon_sub_L3_{node:02d}"
            if not (mon_data / folder).is_dir():
                nodes = " and ".join(str(node) for node, _ in domain.pus_of_nodes)
                raise CounterError(
                    f"L3 cache {domain.cache_id} serves the NUMA nodes {nodes}, which this kernel does not "
                    "distinguish: use Linux 6.10 or later, or switch sub-NUMA clustering off in the firmware"
                )
            found.append(DomainFolder(node, folder, pus))
    return tuple(found)


def _nodes_of_pus(devices: Path) -> dict[int, int]:
    """Return the NUMA node of each PU; empty on a kernel without NUMA, which has the one node 0."""
    nodes = {}
    for folder in (devices / "node").glob("node[0-9]*"):
        for pu in _numbers(folder / "cpulist"):
            nodes[pu] = int(folder.name.removeprefix("node"))
    return nodes


def _numbers(path: Path) -> frozenset[int]:
    try:
        return parse_index_list(kernel_line(path))
    except ValueError as error:
        raise CounterError(f"{path}: {error}") from None
