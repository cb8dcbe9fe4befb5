"""Why the kernel forbids counting with perf, to all users or to this one, and what would allow it.

Sources: perf_event_open(2), errors; Documentation/admin-guide/perf-security.rst and sysctl/kernel.rst
(perf_event_paranoid) of the Linux kernel; Debian and Ubuntu add levels above 2, at which users may count nothing.
Docker's default seccomp profile allows perf_event_open only with CAP_PERFMON or CAP_SYS_ADMIN.
"""

import errno
import os
import re
from collections.abc import Collection
from pathlib import Path

from numapredict.collect.host.kernel_file import kernel_text
from numapredict.collect.measuring.counters.perf.event_table import family_of
from numapredict.collect.measuring.counters.perf.events import core_pmu
from numapredict.collect.measuring.counters.perf.processor import processor_of
from numapredict.collect.measuring.counters.source import Obstacle
from numapredict.native.errors import MissingNativePartError
from numapredict.native.library import launcher_program

_PARANOID = "proc/sys/kernel/perf_event_paranoid"
_CAPABILITIES = (1 << 38) | (1 << 21)  # linux/capability.h: CAP_PERFMON, CAP_SYS_ADMIN
_TASKS_ALLOWED, CPUS_ALLOWED = 2, 0


def hardware_refusal(root: Path) -> Obstacle | None:
    """Return why this computer has no events to count, or None where it has."""
    if not (root / _PARANOID).is_file():
        return Obstacle("this kernel has no perf events (no /proc/sys/kernel/perf_event_paranoid)")
    processor = processor_of(root)
    if processor is None:
        return Obstacle("/proc/cpuinfo does not say which processor this is")
    family = family_of(processor)
    if family is None:
        return Obstacle(f"no memory events are known for this processor ({processor})")
    if core_pmu(family, root) is None:
        reason = f"the kernel offers no hardware counters of this {family.name} processor"
        if processor.guest:
            return Obstacle(
                f"{reason}: this is a virtual machine without a PMU",
                ("run on the host, or on a bare-metal instance", "on the host: give the guest a PMU (QEMU: -cpu host)"),
            )
        return Obstacle(f"{reason} (in a virtual machine its host must pass them on)")
    return None


def permission_refusal(root: Path) -> Obstacle | None:
    """Return why perf_event_paranoid forbids this user to count his programs, or None where it allows it."""
    level = paranoid_level(root)
    if level is None or level <= _TASKS_ALLOWED or _is_capable(root):
        return None
    return Obstacle(
        f"kernel.perf_event_paranoid is {level}: users may not count even their own programs", remedies(_TASKS_ALLOWED)
    )


def refusal_of_errors(numbers: Collection[int], root: Path) -> Obstacle:
    """Return the obstacle behind the errno values with which the kernel refused to count the program's events."""
    names = ", ".join(sorted({errno.errorcode.get(number, str(number)) for number in numbers}))
    answer = f"perf_event_open answers {names}"
    if {errno.EACCES, errno.EPERM, errno.ENOSYS} & set(numbers):
        return permission_refusal(root) or Obstacle(
            f"{answer} though kernel.perf_event_paranoid allows it: a container's seccomp filter, or a security "
            "module, forbids it",
            (
                "docker run --cap-add PERFMON (or podman run --cap-add PERFMON)",
                "docker run --security-opt seccomp=FILE with a profile that allows perf_event_open",
            ),
        )
    if errno.EMFILE in numbers:
        return Obstacle(f"{answer}: more events than open files are allowed", ("ulimit -H -n 65536 as root",))
    if errno.EBUSY in numbers:
        return Obstacle(f"{answer}: another tool holds the counters", ("stop the other profiler",))
    return Obstacle(f"{answer}: the kernel or a hypervisor does not offer these events")


def paranoid_level(root: Path) -> int | None:
    """Return kernel.perf_event_paranoid, or None where it cannot be read."""
    try:
        return int((root / _PARANOID).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def remedies(level: int) -> tuple[str, ...]:
    """Return the commands that allow counting: for the launcher alone, then for all users, by perf_event_paranoid."""
    try:
        launcher = str(launcher_program())
    except MissingNativePartError:
        launcher = "numapredict-launch"
    return (f"sudo setcap cap_perfmon+ep {launcher}", f"sudo sysctl kernel.perf_event_paranoid={level}")


def _is_capable(root: Path) -> bool:
    """Return whether this process has a capability that lifts perf_event_paranoid."""
    match = re.search(r"^CapEff:\s*([0-9a-f]+)$", kernel_text(root / "proc/self/status"), re.MULTILINE)
    return match is not None and bool(int(match[1], 16) & _CAPABILITIES)


def words_of(number: int) -> str:
    """Return an errno value's name and description."""
    return f"{errno.errorcode.get(number, str(number))}, {os.strerror(number)}"
