"""Facts of the processors: what sets their clock frequency, and how many PUs a core has.

Sources: Linux, admin-guide/pm/cpufreq.rst and intel_pstate.rst; ABI/testing/sysfs-devices-system-cpu.
"""

from collections import Counter
from pathlib import Path

from numapredict.collect.host.facts.fact import UNKNOWN, Fact
from numapredict.collect.host.kernel_file import kernel_line, kernel_numbers

_CPUS = "sys/devices/system/cpu"
_STEADY = "performance"


def governor(root: Path) -> Fact:
    """Return what decides the clock frequency, over all PUs."""
    found = Counter(kernel_line(path) for path in sorted((root / _CPUS).glob("cpu[0-9]*/cpufreq/scaling_governor")))
    found.pop("", None)
    if not found:
        return Fact("governor", UNKNOWN, why="the firmware or a hypervisor decides on the clock frequency")
    if list(found) == [_STEADY]:
        return Fact("governor", _STEADY)
    value = (
        next(iter(found)) if len(found) == 1 else ", ".join(f"{name} on {count} PUs" for name, count in found.items())
    )
    why = "the clock frequency follows the load, and run times follow it"
    return Fact("governor", value, disturbs=True, why=why, remedy="sudo cpupower frequency-set -g performance")


def turbo(root: Path) -> Fact:
    """Return whether the clock may exceed its base frequency with few busy cores and thermal headroom."""
    files = (("cpufreq/boost", "1", "0"), ("intel_pstate/no_turbo", "0", "1"))
    for name, on, off in files:
        setting = kernel_line(root / _CPUS / name)
        if setting == on:
            return Fact(
                "turbo",
                "on",
                disturbs=True,
                why="a run with fewer threads has a faster clock, and a warm processor a slower one",
                remedy=f"for repeatable times: echo {off} | sudo tee /{_CPUS}/{name}",
            )
        if setting == off:
            return Fact("turbo", "off")
    return Fact("turbo", UNKNOWN)


def threads_a_core(root: Path) -> Fact:
    """Return whether cores run several threads at once (simultaneous multithreading)."""
    active = kernel_line(root / _CPUS / "smt/active")
    most = most_siblings(root)
    if most > 1:
        return Fact(
            "threads a core",
            str(most),
            why=f"mappings that end in -smt{most} put so many threads on each core, all others use its first PU",
        )
    if not most and not active:
        return Fact("threads a core", UNKNOWN)
    switched = " (switched off)" if kernel_line(root / _CPUS / "smt/control") in {"off", "forceoff"} else ""
    return Fact("threads a core", f"1{switched}")


def most_siblings(root: Path) -> int:
    """Return the most PUs that one core has, 0 where the kernel does not report it."""
    return max((len(_siblings(path)) for path in (root / _CPUS).glob("cpu[0-9]*/topology")), default=0)


def _siblings(folder: Path) -> frozenset[int]:
    """Return the PUs of a core; the file's name changed in Linux 5.3."""
    return kernel_numbers(folder / "core_cpus_list") or kernel_numbers(folder / "thread_siblings_list")
