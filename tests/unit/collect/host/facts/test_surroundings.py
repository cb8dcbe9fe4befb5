"""Facts of what the processes run in, from planted files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from numapredict.collect.host.facts.fact import Fact
from numapredict.collect.host.facts.surroundings import container, emulated, virtual_machine
from tests.unit.collect.host.facts.asked import asked, assert_fact


@pytest.mark.parametrize(
    ("ask", "files", "value", "disturbs"),
    [
        (emulated, {}, "no", False),
        (emulated, {"sys/class/dmi/id/sys_vendor": "QEMU\n"}, "by QEMU", True),
        (virtual_machine, {"proc/cpuinfo": "flags\t\t: fpu vme\n"}, "no", False),
        (virtual_machine, {"proc/cpuinfo": "flags\t\t: fpu hypervisor vme\n"}, "yes", True),
        (virtual_machine, {"proc/cpuinfo": "model name\t: the hypervisor\n"}, "no", False),
        (
            virtual_machine,
            {"sys/class/dmi/id/sys_vendor": "VMware, Inc.\n", "sys/class/dmi/id/product_name": "VMware7,1\n"},
            "yes (VMware, Inc. VMware7,1)",
            True,
        ),
        (virtual_machine, {"sys/class/dmi/id/sys_vendor": "Dell Inc.\n"}, "no", False),
        (virtual_machine, {"sys/hypervisor/type": "xen\n"}, "yes (xen)", True),
        (container, {"proc/self/cgroup": "0::/user.slice/session-1.scope\n"}, "no", False),
        (container, {".dockerenv": ""}, "Docker", False),
        (container, {"run/.containerenv": ""}, "Podman", False),
        (container, {".singularity.d/": ""}, "Apptainer", False),
        (container, {"proc/self/cgroup": "0::/kubepods.slice/kubepods-pod1.slice\n"}, "kubepods", False),
        (container, {"proc/self/cgroup": "4:memory:/docker/0a1b\n"}, "docker", False),
    ],
)
def test_a_fact(tmp_path: Path, ask: Callable[[Path], Fact], files: dict[str, str], value: str, disturbs: bool) -> None:
    assert_fact(asked(ask, tmp_path, files), value, disturbs)
