"""The settings of this computer that influence measured times, as pairs for a dataset."""

import importlib.metadata
import platform
import re
from pathlib import Path

NUMA_BALANCING = Path("/proc/sys/kernel/numa_balancing")
_HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
_CPU = Path("/proc/cpuinfo")
_VENDOR = Path("/sys/class/dmi/id/sys_vendor")
_CLOCKS = Path("/sys/devices/system/clocksource/clocksource0/available_clocksource")


def memory_settings() -> tuple[tuple[str, str], ...]:
    """Return whether the kernel moves pages by itself, and whether it makes huge ones, as pairs."""
    balancing = {"0": "off", "1": "on"}.get(_line(NUMA_BALANCING), _line(NUMA_BALANCING) or "not in this kernel")
    chosen = re.search(r"\[(\w+)\]", _line(_HUGE_PAGES))
    return (
        ("numa_balancing", balancing),
        ("transparent_hugepage", chosen[1] if chosen else "not in this kernel"),
    )


def package_version() -> str:
    """Return the version of numapredict that is installed."""
    try:
        return importlib.metadata.version("numapredict")
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def emulation() -> str:
    """Return by what this computer is emulated, in which case times mean nothing; an empty text for a real processor.

    A guest of QEMU that has no clock of a hypervisor's runs on an emulated processor.
    """
    return "QEMU" if _line(_VENDOR) == "QEMU" and "kvm-clock" not in _line(_CLOCKS) else ""


def host_environment() -> tuple[tuple[str, str], ...]:
    """Return versions and settings of this computer as pairs; none of them names the computer or its user."""
    return (
        ("numapredict", package_version()),
        ("python", platform.python_version()),
        ("kernel", f"{platform.system()} {platform.release()}"),
        ("processor", _processor()),
        ("emulated", emulation() or "no"),
        ("governor", _line(_GOVERNOR) or "unknown"),
        *memory_settings(),
    )


def _line(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _processor() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", _line(_CPU), re.MULTILINE)
    return found[1].strip() if found else platform.machine()
