"""Packages: which PUs and NUMA nodes each one has, by sysfs.

Memory controllers are counted per package, on all of the computer's nodes, not only those that a program may use.
Sources: Documentation/ABI/stable/sysfs-devices-system-cpu and sysfs-devices-node of the kernel.
"""

from pathlib import Path

import msgspec

from numapredict.collect.host.kernel_file import kernel_line, kernel_numbers


class Package(msgspec.Struct, frozen=True):
    """One package: its number, its PUs in order, and the NUMA nodes that its PUs belong to, all as OS indices."""

    number: int
    pus: tuple[int, ...]
    nodes: tuple[int, ...]


def packages(root: Path = Path("/")) -> tuple[Package, ...]:
    """Return the packages with online PUs by number, none if sysfs lists none; in tests ``root`` replaces /."""
    pus: dict[int, list[int]] = {}
    for folder in (root / "sys/devices/system/cpu").glob("cpu[0-9]*"):
        number = kernel_line(folder / "topology/physical_package_id")
        if number.isdecimal():  # -1 where the firmware says nothing; offline PUs have no such file
            pus.setdefault(int(number), []).append(int(folder.name.removeprefix("cpu")))
    of_node = {
        int(folder.name.removeprefix("node")): kernel_numbers(folder / "cpulist")
        for folder in (root / "sys/devices/system/node").glob("node[0-9]*")
    }
    return tuple(
        Package(number, tuple(sorted(own)), tuple(sorted(node for node in of_node if of_node[node] & set(own))))
        for number, own in sorted(pus.items())
    )
