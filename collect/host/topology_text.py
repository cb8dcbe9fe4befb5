"""A topology in words, for a person."""

from numapredict.collect.index_list import index_list
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology


def describe(topology: Topology) -> str:
    """Return a table of a topology's nodes and their distances."""
    lines = [f"{topology.name}: {shape_of(topology)}", "", "node  cores  PUs of the cores     memory  distances"]
    for node in topology.nodes:
        pus = index_list([pu for core in node.cores for pu in core.pus]) or "none"
        memory = f"{node.memory_bytes / 2**30:.1f} GiB" if node.memory_bytes else "none"
        row = " ".join(f"{distance:4.0f}" for distance in topology.distances[node.index])
        lines.append(f"{node.os_index:4}  {len(node.cores):5}  {pus:<17} {memory:>9}  {row}")
    caches = {}
    for cache in topology.caches:
        caches[cache.level] = f"L{cache.level} {_size(cache.size_bytes)} shared by {len(cache.cores)}"
    if caches:
        lines += ["", "caches: " + ", ".join(caches[level] for level in sorted(caches))]
    return "\n".join(lines)


def shape_of(topology: Topology) -> str:
    """Return a topology's shape in a few words: `4 NUMA nodes with 8 cores each`."""
    counts = [len(node.cores) for node in topology.cpu_nodes]
    nodes = len(counts)
    cores = counted(counts[0], "core") if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)} cores"
    text = f"{counted(nodes, 'NUMA node')} with {cores}{' each' if nodes > 1 else ''}"
    if topology.threads_per_core > 1:
        text += f", {topology.threads_per_core} threads a core"
    extra = [node for node in topology.nodes if not node.cores]
    return text + (f" and {len(extra)} with memory only" if extra else "")


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:g} MiB" if size_bytes >= 2**20 else f"{size_bytes / 2**10:g} KiB"
