"""The kernel's performance monitoring units, as /sys/bus/event_source/devices describes them.

The form of the files: Documentation/ABI/testing/sysfs-bus-event_source-devices-format and -events of the Linux kernel.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from numapredict.collect.host.kernel_file import kernel_line, kernel_numbers
from numapredict.native.errors import CounterError

_DEVICES = "sys/bus/event_source/devices"
_CONFIGS = ("config", "config1", "config2")
_UNITS = {"Bytes": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}

Configs = tuple[int, int, int]


class Pmu(msgspec.Struct, frozen=True):
    """One PMU: its type for perf_event_open(2), and the CPUs to count on where several CPUs share it."""

    folder: Path
    pmu_type: int
    cpus: tuple[int, ...]

    @property
    def name(self) -> str:
        """Return its name, as `cpu` or `uncore_imc_0`."""
        return self.folder.name

    def configs(self, fields: Mapping[str, int]) -> Configs:
        """Return config, config1 and config2 of an event; raise CounterError where the PMU has no such field."""
        words = [0, 0, 0]
        for field, value in fields.items():
            place = kernel_line(self.folder / "format" / field)
            match = re.fullmatch(r"(config[12]?):([0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*)", place)
            if match is None:
                raise CounterError(f"the PMU {self.name} has no field {field!r}")
            left = value
            for bit in _bits(match[2]):
                words[_CONFIGS.index(match[1])] |= (left & 1) << bit
                left >>= 1
            if left:
                raise CounterError(f"{field}={value:#x} does not fit into {place!r} of the PMU {self.name}")
        return words[0], words[1], words[2]

    def alias(self, name: str) -> tuple[dict[str, int], float] | None:
        """Return an event that the kernel names, as fields and bytes per count, or None.

        None too where its unit is not one of bytes: the meaning of its counts is then unknown.
        """
        terms = kernel_line(self.folder / "events" / name)
        unit = kernel_line(self.folder / "events" / f"{name}.unit")
        matches = [re.fullmatch(r"(\w+)(?:=(0x[0-9a-fA-F]+|[0-9]+))?", term) for term in terms.split(",")]
        try:
            scale = float(kernel_line(self.folder / "events" / f"{name}.scale") or "nan") * _UNITS[unit]
        except (ValueError, KeyError):
            return None
        if not scale > 0 or not all(matches):
            return None
        return {match[1]: int(match[2] or "1", 0) for match in matches if match}, scale


def pmus_of(root: Path, pattern: str) -> tuple[Pmu, ...]:
    """Return the PMUs in a computer's file tree whose whole name matches a pattern, in the order of their names."""
    try:
        folders = sorted((root / _DEVICES).iterdir())
    except OSError:
        return ()
    found = []
    for folder in folders:
        pmu_type = kernel_line(folder / "type")
        if re.fullmatch(pattern, folder.name) and pmu_type.isdecimal():
            found.append(Pmu(folder, int(pmu_type), tuple(sorted(kernel_numbers(folder / "cpumask")))))
    return tuple(found)


def _bits(text: str) -> list[int]:
    """Return the bits of a field, the lowest first: "0-7,32-35" goes on at 32."""
    bits: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        bits += range(int(first), int(last or first) + 1)
    return bits
