"""A topology in words, for a person."""

import textwrap

from numapredict.collect.domain import cores_by_l3, domains_of, l3_sizes, most_domains
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
    for node in topology.cpu_nodes:
        if l3_sizes(topology, node.index):
            groups = (
                index_list([pu for core in cores for pu in core.pus]) for cores in domains_of(topology, node.index)
            )
            rest = cores_by_l3(topology, node.index)[sum(l3_sizes(topology, node.index)) :]
            without = index_list([pu for core in rest for pu in core.pus])
            text = f"L3 caches of node {node.os_index}, by PUs: {'; '.join(groups)}"
            text += f"; without one: {without}" if without else ""
            lines += textwrap.wrap(text, 100, subsequent_indent="    ")
    if topology.core_kinds > 1:
        cores = [core for node in topology.nodes for core in node.cores]
        kinds = [
            index_list([pu for core in cores if core.kind == kind for pu in core.pus])
            for kind in sorted({core.kind for core in cores})
        ]
        lines.append(f"kinds of cores, the fastest first, by PUs: {'; '.join(kinds)}")
    return "\n".join(lines)


def shape_of(topology: Topology) -> str:
    """Return a topology's shape in a few words: `4 NUMA nodes with 8 cores each`."""
    counts = [len(node.cores) for node in topology.cpu_nodes]
    nodes = len(counts)
    cores = counted(counts[0], "core") if len(set(counts)) == 1 else f"{min(counts)} to {max(counts)} cores"
    text = f"{counted(nodes, 'NUMA node')} with {cores}{' each' if nodes > 1 else ''}"
    if most_domains(topology) > 1:
        caches = {len(domains_of(topology, node.index)) for node in topology.cpu_nodes}
        text += f", {'up to ' * (len(caches) > 1)}{max(caches)} L3 caches{' a node' if nodes > 1 else ''}"
    if topology.core_kinds > 1:
        text += f", {topology.core_kinds} kinds of cores"
    if topology.threads_per_core > 1:
        text += f", {topology.threads_per_core} threads a core"
    extra = [node for node in topology.nodes if not node.cores]
    return text + (f" and {len(extra)} with memory only" if extra else "")


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:g} MiB" if size_bytes >= 2**20 else f"{size_bytes / 2**10:g} KiB"
