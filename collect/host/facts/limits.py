"""Facts of what this process may use: the limits of its control group, in version 1 and 2, and of its parents.

Source: Linux, admin-guide/cgroup-v2.rst ("cpu.max", "memory.max"), scheduler/sched-bwc.rst, cgroup-v1/memory.rst.
"""

from collections.abc import Iterator
from pathlib import Path

from numapredict.collect.host.cgroup import levels, own_cgroup_folders
from numapredict.collect.host.facts.fact import UNKNOWN, Fact
from numapredict.collect.host.host import allowance
from numapredict.collect.host.kernel_file import kernel_line, kernel_numbers, kernel_text
from numapredict.collect.index_list import index_list

_NONE = "no limit"
_UNLIMITED_BYTES = 1 << 60  # version 1 writes a limit of nearly 2^63 for none
_LEAST_LEFT = 0.1


def online_pus(root: Path) -> frozenset[int]:
    """Return the PUs that are online, as OS indices; empty where the kernel does not list them."""
    return kernel_numbers(root / "sys/devices/system/cpu/online")


def quota_pus(root: Path) -> float | None:
    """Return how many PUs' time this process's groups may use, None without a quota."""
    quotas = [quota for place, version2 in _places(root, "cpu") if (quota := _quota(place, version2)) is not None]
    return min(quotas, default=None)


def processor_quota(root: Path) -> Fact:
    """Return the group's quota of processor time, in PUs, independent of how many it may run on."""
    least, name = quota_pus(root), "processor quota"
    if least is None:
        return Fact(name, _NONE)
    allowed = allowance(root).pus or online_pus(root)
    if allowed and least >= len(allowed):
        return Fact(name, f"{least:g} PUs' time, no less than there are")
    return Fact(
        name,
        f"{least:g} PUs' time" + (f" on {len(allowed)} PUs" if allowed else ""),
        disturbs=True,
        why="when it is used up, all threads stop until the next period, usually 100 ms",
        remedy="use PUs instead of a share of their time: docker run --cpuset-cpus, AllowedCPUs= of systemd",
    )


def memory_limit(root: Path) -> Fact:
    """Return the group's memory limit and use."""
    found = []
    for place, version2 in _places(root, "memory"):
        files = ("memory.max", "memory.current") if version2 else ("memory.limit_in_bytes", "memory.usage_in_bytes")
        limit, used = (_number(place / name) for name in files)
        if limit is not None and limit < _UNLIMITED_BYTES:
            found.append((limit - (used or 0), limit, used or 0))
    if not found:
        return Fact("memory limit", _NONE)
    left, limit, used = min(found)
    value = f"{limit / 2**30:.1f} GiB, {used / 2**30:.1f} used"
    if left >= _LEAST_LEFT * limit:
        return Fact("memory limit", value)
    why = "what goes beyond it is swapped, or the program is killed"
    return Fact(
        "memory limit", value, disturbs=True, why=why, remedy="ask for more memory, or end what else runs in it"
    )


def allowed_pus(root: Path) -> Fact:
    """Return which PUs and nodes' memory this process may use, by its affinity and its control group."""
    allowed, online = allowance(root), online_pus(root)
    if allowed.pus is None or not online:
        return Fact("PUs", UNKNOWN)
    mine = allowed.pus & online
    if mine == online:
        return Fact("PUs", f"all {len(online)}")
    return Fact(
        "PUs",
        f"{len(mine)} of {len(online)} ({index_list(mine)})",
        why="numapredict looks at this part of the machine alone",
    )


def _places(root: Path, controller: str) -> Iterator[tuple[Path, bool]]:
    """Return the folders that may limit this process, its group's and all parents', and if they are version 2."""
    for folder in own_cgroup_folders(root, controller):
        for place in levels(root, folder):
            yield place, folder.version2


def _quota(place: Path, version2: bool) -> float | None:
    """Return a group's quota in PUs, or None without one."""
    if version2:
        words = kernel_text(place / "cpu.max").split()
    else:
        words = [kernel_line(place / f"cpu.cfs_{name}_us") for name in ("quota", "period")]
    if len(words) != 2 or not all(word.isdigit() for word in words) or not int(words[1]):
        return None  # "max 100000", -1, or no file
    return int(words[0]) / int(words[1])


def _number(path: Path) -> int | None:
    text = kernel_line(path)
    return int(text) if text.isdigit() else None
