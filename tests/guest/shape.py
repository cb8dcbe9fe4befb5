"""The NUMA topology that a guest gets."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.guest.errors import GuestError

MOST_CPUS = 255  # more need an interrupt remapping IOMMU on q35
MOST_NODES = 128  # QEMU's MAX_NODES
LEAST_MEMORY_MB = 128  # the first node also holds the kernel and the initial file system
LOCAL = 10  # by definition of ACPI's SLIT
FARTHEST = 254  # 255 means unreachable


@dataclass(frozen=True)
class Shape:
    """Nodes with the same number of CPUs and as much memory each, further nodes of memory alone, and distances.

    A CPU is a hardware thread, of which each core has `threads_per_core`. A node has `dies`, each with an L3
    cache, as the processors of Intel's are that QEMU emulates (CPUID 4).
    `distances[from][to]` may be asymmetric; without any, firmware says nothing and Linux takes 20 between nodes.
    Raises GuestError where QEMU or Linux would refuse the topology or quietly replace it by another.
    """

    nodes: int
    cpus_per_node: int
    memory_only_nodes: int = 0
    memory_mb: int = 384
    distances: tuple[tuple[int, ...], ...] = ()
    threads_per_core: int = 1
    dies: int = 1

    def __post_init__(self) -> None:
        if self.nodes < 1 or self.cpus_per_node < 1 or self.memory_only_nodes < 0:
            raise GuestError(f"shape {self.nodes}x{self.cpus_per_node} has no node, no CPU or a negative number")
        if self.threads_per_core < 1 or self.cpus_per_node % self.threads_per_core:
            raise GuestError(f"{self.cpus_per_node} CPUs a node are not {self.threads_per_core} for each core")
        if self.dies < 1 or self.cpus_per_node // self.threads_per_core % self.dies:
            raise GuestError(f"{self.cpus_per_node} CPUs a node are not as many cores on each of {self.dies} dies")
        if self.cpus > MOST_CPUS:
            raise GuestError(f"shape {self.nodes}x{self.cpus_per_node} has {self.cpus} CPUs; {MOST_CPUS} are possible")
        if self.all_nodes > MOST_NODES:
            raise GuestError(f"{self.all_nodes} nodes are asked for; {MOST_NODES} are possible")
        if self.memory_mb < LEAST_MEMORY_MB:
            raise GuestError(f"{self.memory_mb} MB a node are too few; give {LEAST_MEMORY_MB} or more")
        _check_distances(self.distances, self.all_nodes)

    @property
    def cpus(self) -> int:
        """Count the CPUs of all nodes."""
        return self.nodes * self.cpus_per_node

    @property
    def all_nodes(self) -> int:
        """Count the nodes, those without CPUs too; these come last."""
        return self.nodes + self.memory_only_nodes

    @classmethod
    def parse(
        cls, text: str, distances: str = "", memory_only_nodes: int = 0, memory_mb: int = 384, smt: int = 1
    ) -> "Shape":
        """Read `4x4` (nodes x cores a node); distances are `ring`, a file, or rows as in `10,16;22,10`.

        `smt` is the number of CPUs of each core.
        """
        match = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text)
        if match is None:
            raise GuestError(f"shape {text!r} is not nodes x cores a node, as in 4x4")
        nodes, cpus = int(match[1]), int(match[2]) * smt
        rows = parse_distances(distances, nodes + memory_only_nodes)
        return cls(nodes, cpus, memory_only_nodes, memory_mb, rows, smt)

    def qemu_arguments(self) -> list[str]:
        """Give QEMU's arguments for CPUs, memory and NUMA; the memory is shareable, as virtiofs requires."""
        cores = self.cpus_per_node // self.threads_per_core // self.dies
        dies = f"dies={self.dies}," if self.dies > 1 else ""
        sockets = f"sockets={self.nodes},{dies}cores={cores},threads={self.threads_per_core}"
        arguments = ["-smp", f"{self.cpus},{sockets}", "-m", f"{self.all_nodes * self.memory_mb}M"]
        for node in range(self.all_nodes):
            memory = f"memory{node}"
            first = node * self.cpus_per_node
            cpus = f"cpus={first}-{first + self.cpus_per_node - 1}," if node < self.nodes else ""
            arguments += ["-object", f"memory-backend-memfd,id={memory},size={self.memory_mb}M,share=on"]
            arguments += ["-numa", f"node,nodeid={node},{cpus}memdev={memory}"]
        for source, row in enumerate(self.distances):
            for target, distance in enumerate(row):
                arguments += ["-numa", f"dist,src={source},dst={target},val={distance}"]
        return arguments


def parse_distances(text: str, nodes: int) -> tuple[tuple[int, ...], ...]:
    """Read distances: nothing, `ring` (11 more a hop), a file of rows, or rows between semicolons."""
    if not text:
        return ()
    if text == "ring":
        return tuple(tuple(LOCAL + 11 * _hops(a, b, nodes) for b in range(nodes)) for a in range(nodes))
    lines = re.split(r"[;\n]", Path(text).read_text() if Path(text).is_file() else text)
    try:
        return tuple(tuple(int(word) for word in re.split(r"[,\s]+", line.strip())) for line in lines if line.strip())
    except ValueError as error:
        raise GuestError(f"distances {text!r} are neither ring, nor a file, nor rows as in 10,16;22,10") from error


def _hops(a: int, b: int, nodes: int) -> int:
    return min((a - b) % nodes, (b - a) % nodes)


def _check_distances(distances: tuple[tuple[int, ...], ...], nodes: int) -> None:
    if not distances:
        return
    if len(distances) != nodes or any(len(row) != nodes for row in distances):
        raise GuestError(f"{nodes} nodes need {nodes} rows of {nodes} distances, not {distances}")
    for source, row in enumerate(distances):
        for target, distance in enumerate(row):
            good = distance == LOCAL if source == target else LOCAL < distance <= FARTHEST
            if not good:
                wanted = f"{LOCAL}" if source == target else f"{LOCAL + 1} to {FARTHEST}"
                raise GuestError(f"the distance from node {source} to {target} is {distance}; it can be {wanted}")
