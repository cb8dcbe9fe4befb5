"""Facts of the memory: automatic NUMA balancing, huge pages, and how much is free on each node."""

import re
from pathlib import Path

import msgspec

from numapredict.collect.host.environment import memory_settings
from numapredict.collect.host.facts.fact import Fact
from numapredict.collect.host.kernel_file import kernel_text

_NODES = "sys/devices/system/node"
_LEAST_FREE = 0.1
"""With a smaller share free, part of a program's allocations go to other nodes; a rule of thumb."""


class NodeMemory(msgspec.Struct, frozen=True):
    """A node's memory by its OS index; ``files_bytes`` is page cache, which the kernel frees on demand."""

    node: int
    total_bytes: int
    free_bytes: int
    files_bytes: int


def node_memories(root: Path) -> tuple[NodeMemory, ...]:
    """Return the memory of each node that has any."""
    found = []
    for folder in (root / _NODES).glob("node[0-9]*"):
        text = kernel_text(folder / "meminfo")
        total, free, files = (_bytes(text, key) for key in ("MemTotal", "MemFree", "FilePages"))
        if total:
            found.append(NodeMemory(int(folder.name.removeprefix("node")), total, free, files))
    return tuple(sorted(found, key=lambda memory: memory.node))


def numa_balancing(root: Path) -> Fact:
    """Return whether automatic NUMA balancing is on: the kernel then moves pages to where they are used."""
    value = dict(memory_settings(root))["numa_balancing"]
    nodes = len(node_memories(root))
    if value in {"off", "not in this kernel"} or nodes < 2:
        return Fact("NUMA balancing", value)
    return Fact(
        "NUMA balancing",
        value,
        disturbs=True,
        why="the kernel moves pages, and stops threads to see what they use",
        remedy="sudo sysctl kernel.numa_balancing=0",
    )


def huge_pages(root: Path) -> Fact:
    """Return the setting of transparent huge pages."""
    value = dict(memory_settings(root))["transparent_hugepage"]
    why = "memory is placed 2 MB at a time" if value == "always" else ""
    return Fact("transparent huge pages", value, why=why)


def free_memory(root: Path) -> Fact:
    """Return how much memory is free on each node: a full node's pages go to another one, without an error."""
    memories = node_memories(root)
    value = ", ".join(
        f"node {each.node} {each.free_bytes / 2**30:.1f} of {each.total_bytes / 2**30:.1f} GiB" for each in memories
    )
    short = [each for each in memories if each.free_bytes < _LEAST_FREE * each.total_bytes]
    if len(memories) < 2 or not short:
        return Fact("free memory", value or "unknown")
    nodes = " and ".join(str(each.node) for each in short)
    files = any(each.free_bytes + each.files_bytes >= _LEAST_FREE * each.total_bytes for each in short)
    return Fact(
        "free memory",
        value,
        disturbs=True,
        why=f"pages meant for node {nodes} may go elsewhere",
        remedy="sync; echo 1 | sudo tee /proc/sys/vm/drop_caches"
        if files
        else "end what holds it: numastat -m, top -o RES",
    )


def _bytes(text: str, key: str) -> int:
    """Return a figure of a node's meminfo (``Node 0 MemFree: 12 kB``) in bytes, 0 where it is not there."""
    found = re.search(rf"^Node [0-9]+ {key}:\s+([0-9]{{1,15}}) kB$", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
