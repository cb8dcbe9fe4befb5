"""Which NUMA node a memory controller's counts belong to, by /sys/devices/system.

The kernel counts controllers by package, and names one CPU of each to count on. With several NUMA nodes in a package
(sub-NUMA clusters, NPS2 and NPS4) nothing in sysfs says which controller is whose.
"""

from pathlib import Path

from numapredict.collect.host import parse_index_list

_SYSTEM = "sys/devices/system"


def sole_node(root: Path, cpu: int) -> int | None:
    """Return the OS index of the only node with CPUs in a CPU's package, or None where there are several or none."""
    package = _package(root, cpu)
    nodes = {
        int(folder.name.removeprefix("node"))
        for folder in (root / _SYSTEM / "node").glob("node[0-9]*")
        if folder.name.removeprefix("node").isdecimal()
        and any(_package(root, member) == package for member in _members(folder))
    }
    return nodes.pop() if package and len(nodes) == 1 else None


def _package(root: Path, cpu: int) -> str:
    return _text(root / _SYSTEM / f"cpu/cpu{cpu}/topology/physical_package_id")


def _members(node: Path) -> frozenset[int]:
    try:
        return parse_index_list(_text(node / "cpulist"))
    except ValueError:
        return frozenset()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
