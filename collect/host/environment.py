"""The settings of this computer that influence measured times, as pairs for a dataset."""

import platform
import re
from pathlib import Path

from numapredict.collect.host.kernel_file import kernel_line
from numapredict.native.version import version

ROOT = Path("/")
_NUMA_BALANCING = "proc/sys/kernel/numa_balancing"
NUMA_BALANCING = ROOT / _NUMA_BALANCING
_HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"
_GOVERNOR = ROOT / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
_CPU = ROOT / "proc/cpuinfo"
_VENDOR = "sys/class/dmi/id/sys_vendor"
_CLOCKS = "sys/devices/system/clocksource/clocksource0/available_clocksource"


def memory_settings(root: Path = ROOT) -> tuple[tuple[str, str], ...]:
    """Return the kernel's settings of automatic NUMA balancing and transparent huge pages, as pairs."""
    setting = kernel_line(root / _NUMA_BALANCING)
    balancing = {"0": "off", "1": "on"}.get(setting, setting or "not in this kernel")
    chosen = re.search(r"\[(\w+)\]", kernel_line(root / _HUGE_PAGES))
    return (
        ("numa_balancing", balancing),
        ("transparent_hugepage", chosen[1] if chosen else "not in this kernel"),
    )


def emulation(root: Path = ROOT) -> str:
    """Return the emulator of this computer, under which times mean nothing; an empty text for a real processor.

    A QEMU guest without a hypervisor's clock runs on an emulated processor.
    """
    kvm = "kvm-clock" in kernel_line(root / _CLOCKS)
    return "QEMU" if kernel_line(root / _VENDOR) == "QEMU" and not kvm else ""


def host_environment() -> tuple[tuple[str, str], ...]:
    """Return versions and settings of this computer as pairs; none of them names the computer or its user."""
    return (
        ("numapredict", version()),
        ("python", platform.python_version()),
        ("kernel", f"{platform.system()} {platform.release()}"),
        ("processor", _processor()),
        ("emulated", emulation() or "no"),
        ("governor", kernel_line(_GOVERNOR) or "unknown"),
        *memory_settings(),
    )


def _processor() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", kernel_line(_CPU), re.MULTILINE)
    return found[1].strip() if found else platform.machine()
