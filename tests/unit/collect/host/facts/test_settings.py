"""Facts of processors, memory and surroundings, from planted files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from numapredict.collect.host.facts.fact import Fact
from numapredict.collect.host.facts.memory import free_memory, huge_pages, numa_balancing
from numapredict.collect.host.facts.processors import governor, threads_a_core, turbo
from numapredict.collect.host.facts.surroundings import container, emulated, modelled_machine
from tests.planted_files import plant

CPUS = "sys/devices/system/cpu"
GOVERNOR = "cpufreq/scaling_governor"


def meminfo(node: int, total_kB: int, free_kB: int, files_kB: int = 0) -> dict[str, str]:
    text = (
        f"Node {node} MemTotal:       {total_kB} kB\nNode {node} MemFree:        {free_kB} kB\n"
        f"Node {node} MemUsed:        {total_kB - free_kB} kB\nNode {node} FilePages:      {files_kB} kB\n"
    )
    return {f"sys/devices/system/node/node{node}/meminfo": text}


TWO_NODES = meminfo(0, 1 << 21, 1 << 20) | meminfo(1, 1 << 21, 1 << 20)


def asked(ask: Callable[[Path], Fact], root: Path, files: dict[str, str]) -> Fact:
    plant(root, files)
    return ask(root)


@pytest.mark.parametrize(
    ("ask", "files", "value", "disturbs"),
    [
        (governor, {}, "unknown", False),
        (governor, {f"{CPUS}/cpu{pu}/{GOVERNOR}": "performance\n" for pu in range(4)}, "performance", False),
        (governor, {f"{CPUS}/cpu{pu}/{GOVERNOR}": "powersave\n" for pu in range(4)}, "powersave", True),
        (
            governor,
            {f"{CPUS}/cpu0/{GOVERNOR}": "performance\n", f"{CPUS}/cpu1/{GOVERNOR}": "schedutil\n"},
            "performance on 1 PUs, schedutil on 1 PUs",
            True,
        ),
        (turbo, {}, "unknown", False),
        (turbo, {f"{CPUS}/intel_pstate/no_turbo": "0\n"}, "on", True),
        (turbo, {f"{CPUS}/intel_pstate/no_turbo": "1\n"}, "off", False),
        (turbo, {f"{CPUS}/cpufreq/boost": "1\n"}, "on", True),
        (turbo, {f"{CPUS}/cpufreq/boost": "0\n"}, "off", False),
        (threads_a_core, {}, "unknown", False),
        (
            threads_a_core,
            {f"{CPUS}/cpu0/topology/core_cpus_list": "0,64\n", f"{CPUS}/cpu64/topology/core_cpus_list": "0,64\n"},
            "2",
            False,
        ),
        (threads_a_core, {f"{CPUS}/cpu0/topology/thread_siblings_list": "0-3\n"}, "4", False),
        (
            threads_a_core,
            {f"{CPUS}/cpu0/topology/core_cpus_list": "0\n", f"{CPUS}/smt/control": "off\n"},
            "1 (switched off)",
            False,
        ),
        (numa_balancing, TWO_NODES, "not in this kernel", False),
        (numa_balancing, {**TWO_NODES, "proc/sys/kernel/numa_balancing": "0\n"}, "off", False),
        (numa_balancing, {**TWO_NODES, "proc/sys/kernel/numa_balancing": "1\n"}, "on", True),
        (numa_balancing, {**TWO_NODES, "proc/sys/kernel/numa_balancing": "2\n"}, "2", True),
        (numa_balancing, {**meminfo(0, 9, 9), "proc/sys/kernel/numa_balancing": "1\n"}, "on", False),
        (
            huge_pages,
            {"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n"},
            "always",
            False,
        ),
        (free_memory, {}, "unknown", False),
        (free_memory, TWO_NODES, "node 0 1.0 of 2.0 GiB, node 1 1.0 of 2.0 GiB", False),
        (emulated, {}, "no", False),
        (emulated, {"sys/class/dmi/id/sys_vendor": "QEMU\n"}, "by QEMU", True),
        (modelled_machine, {"proc/cpuinfo": "flags\t\t: fpu vme\n"}, "no", False),
        (modelled_machine, {"proc/cpuinfo": "flags\t\t: fpu hypervisor vme\n"}, "yes", True),
        (modelled_machine, {"proc/cpuinfo": "model name\t: the hypervisor\n"}, "no", False),
        (
            modelled_machine,
            {"sys/class/dmi/id/sys_vendor": "VMware, Inc.\n", "sys/class/dmi/id/product_name": "VMware7,1\n"},
            "yes (VMware, Inc. VMware7,1)",
            True,
        ),
        (modelled_machine, {"sys/class/dmi/id/sys_vendor": "Dell Inc.\n"}, "no", False),
        (modelled_machine, {"sys/hypervisor/type": "xen\n"}, "yes (xen)", True),
        (container, {"proc/self/cgroup": "0::/user.slice/session-1.scope\n"}, "no", False),
        (container, {".dockerenv": ""}, "Docker", False),
        (container, {"run/.containerenv": ""}, "Podman", False),
        (container, {".singularity.d/": ""}, "Apptainer", False),
        (container, {"proc/self/cgroup": "0::/kubepods.slice/kubepods-pod1.slice\n"}, "kubepods", False),
        (container, {"proc/self/cgroup": "4:memory:/docker/0a1b\n"}, "docker", False),
    ],
)
def test_a_fact(tmp_path: Path, ask: Callable[[Path], Fact], files: dict[str, str], value: str, disturbs: bool) -> None:
    fact = asked(ask, tmp_path, files)
    assert (fact.value, fact.disturbs) == (value, disturbs)
    assert bool(fact.remedy) == disturbs
    assert not disturbs or fact.why


@pytest.mark.parametrize("name", ["intel_pstate/no_turbo", "cpufreq/boost"])
def test_the_remedy_for_turbo_switches_it_off(tmp_path: Path, name: str) -> None:
    on = {"intel_pstate/no_turbo": "0", "cpufreq/boost": "1"}[name]
    words = asked(turbo, tmp_path, {f"{CPUS}/{name}": on}).remedy.split()
    assert words[-1] == f"/{CPUS}/{name}"
    plant(tmp_path, {f"{CPUS}/{name}": words[words.index("echo") + 1]})
    assert turbo(tmp_path).value == "off"


def test_a_full_node_beside_others(tmp_path: Path) -> None:
    fact = asked(free_memory, tmp_path, meminfo(0, 1000, 500) | meminfo(2, 1000, 99))
    assert fact.disturbs
    assert "node 2 may go elsewhere" in fact.why
    assert "numastat" in fact.remedy
    with_files = asked(free_memory, tmp_path, meminfo(2, 1000, 99, files_kB=800))
    assert "drop_caches" in with_files.remedy
    assert not asked(free_memory, tmp_path, meminfo(2, 1000, 100)).disturbs


def test_a_full_only_node_displaces_nothing(tmp_path: Path) -> None:
    assert not asked(free_memory, tmp_path, meminfo(0, 1000, 1)).disturbs


def test_a_node_without_memory_is_not_full(tmp_path: Path) -> None:
    fact = asked(free_memory, tmp_path, TWO_NODES | meminfo(2, 0, 0))
    assert not fact.disturbs
    assert "node 2" not in fact.value
