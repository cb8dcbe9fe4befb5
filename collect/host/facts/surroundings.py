"""Facts of what the computer is: real, virtual or emulated, and whether this process runs in a container."""

import re
from pathlib import Path

from numapredict.collect.host.environment import emulation
from numapredict.collect.host.facts.fact import Fact
from numapredict.collect.host.kernel_file import kernel_line, kernel_text

_DMI = "sys/class/dmi/id"
# What container runtimes leave in the root folder; the last is Apptainer's and Singularity's.
_MARKS = ((".dockerenv", "Docker"), ("run/.containerenv", "Podman"), (".singularity.d", "Apptainer"))
_CGROUPS = re.compile(
    r"/(docker|kubepods|libpod|lxc|containerd|buildkit|garden)[-./:]|/(docker|kubepods|lxc)$", re.MULTILINE
)
# DMI texts of hypervisors that set no processor flag, as on Arm; systemd-detect-virt(1) checks the same vendors.
_HYPERVISORS = re.compile(
    r"QEMU|KVM|VMware|VirtualBox|innotek|Xen|Virtual Machine|Bochs|Parallels|OpenStack|Google Compute"
)


def emulated(root: Path) -> Fact:
    """Return whether the processor is emulated, and by what."""
    found = emulation(root)
    if not found:
        return Fact("emulated", "no")
    why = "times mean nothing, and only placement can be tried"
    return Fact("emulated", f"by {found}", disturbs=True, why=why, remedy="measure on a real processor")


def virtual_machine(root: Path) -> Fact:
    """Return whether this computer is a virtual machine, by the processor's hypervisor flag and the firmware's DMI."""
    flagged = re.search(r"^flags\s*:.*\bhypervisor\b", kernel_text(root / "proc/cpuinfo"), re.MULTILINE)
    described = " ".join(text for name in ("sys_vendor", "product_name") if (text := kernel_line(root / _DMI / name)))
    kind = kernel_line(root / "sys/hypervisor/type")
    if not flagged and not kind and not _HYPERVISORS.search(described):
        return Fact("virtual machine", "no")
    named = described or kind
    return Fact(
        "virtual machine",
        f"yes ({named})" if named else "yes",
        disturbs=True,
        why="the hypervisor may move processors and memory between nodes, and mostly hides counters",
        remedy="measure on the computer itself, or have each virtual processor and node pinned",
    )


def container(root: Path) -> Fact:
    """Return whether this process runs in a container."""
    name = next((name for mark, name in _MARKS if (root / mark).exists()), "")
    if not name:
        found = _CGROUPS.search(kernel_text(root / "proc/self/cgroup"))
        name = (found[1] or found[2]) if found else ""
    if not name:
        return Fact("container", "no")
    return Fact("container", name, why="it may forbid counters, memory policies and moving pages")
