"""The recorded outputs and what each must be read as."""

from pathlib import Path

import msgspec

from numapredict.collect.host.packages import Package
from numapredict.collect.topology import Core, Node, Topology

FOLDER = Path(__file__).parent
OS_INDEX = 10  # the first node's, so that a test fails that confuses it with the logical one


def os_indices(nodes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the nodes' OS indices."""
    return tuple(node + OS_INDEX for node in nodes)


class Recorded(msgspec.Struct, frozen=True):
    """A run: the group, the program's PUs, the PUs of each node, the nodes of each package, the bytes of each node."""

    group: str
    pus: tuple[int, ...]
    nodes: tuple[tuple[int, ...], ...]
    packages: tuple[tuple[int, ...], ...]
    local_remote_controller_bytes: tuple[tuple[float | None, float | None, float | None], ...]

    @property
    def topology(self) -> Topology:
        """Return the computer's topology, every PU as a core of its own."""
        nodes = tuple(
            Node(index, index + OS_INDEX, tuple(Core(pu, (pu,)) for pu in pus), 1 << 30)
            for index, pus in enumerate(self.nodes)
        )
        distances = tuple(tuple(10.0 if row == column else 20.0 for column in nodes) for row in nodes)
        return Topology("recorded", nodes, (), distances)

    @property
    def all_packages(self) -> tuple[Package, ...]:
        """Return the computer's packages."""
        return tuple(
            Package(number, tuple(sorted(pu for node in nodes for pu in self.nodes[node])), os_indices(nodes))
            for number, nodes in enumerate(self.packages)
        )


def recorded(name: str) -> tuple[Recorded, str]:
    """Return a run and LIKWID's output of it."""
    reported = msgspec.json.decode((FOLDER / f"{name}.json").read_bytes(), type=Recorded)
    return reported, (FOLDER / f"{name}.csv").read_text(encoding="utf-8")


def sysfs(root: Path, reported: Recorded) -> Path:
    """Write a run's computer as sysfs tells it, with the registers' device, and return the root."""
    for package in reported.all_packages:
        for pu in package.pus:
            file = root / f"sys/devices/system/cpu/cpu{pu}/topology/physical_package_id"
            file.parent.mkdir(parents=True)
            file.write_text(f"{package.number}\n")
    for node, pus in enumerate(reported.nodes):
        file = root / f"sys/devices/system/node/node{node + OS_INDEX}/cpulist"
        file.parent.mkdir(parents=True)
        file.write_text(",".join(map(str, pus)) + "\n")
    registers = root / "dev/cpu/0/msr"
    registers.parent.mkdir(parents=True)
    registers.touch()
    return root
