"""Facts of the processors, from planted files."""

from collections.abc import Callable
from pathlib import Path

import pytest

from numapredict.collect.host.facts.fact import Fact
from numapredict.collect.host.facts.processors import governor, threads_a_core, turbo
from tests.planted_files import plant
from tests.unit.collect.host.facts.asked import asked, assert_fact

CPUS = "sys/devices/system/cpu"
GOVERNOR = "cpufreq/scaling_governor"


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
    ],
)
def test_a_fact(tmp_path: Path, ask: Callable[[Path], Fact], files: dict[str, str], value: str, disturbs: bool) -> None:
    assert_fact(asked(ask, tmp_path, files), value, disturbs)


@pytest.mark.parametrize("name", ["intel_pstate/no_turbo", "cpufreq/boost"])
def test_the_remedy_for_turbo_switches_it_off(tmp_path: Path, name: str) -> None:
    on = {"intel_pstate/no_turbo": "0", "cpufreq/boost": "1"}[name]
    words = asked(turbo, tmp_path, {f"{CPUS}/{name}": on}).remedy.split()
    assert words[-1] == f"/{CPUS}/{name}"
    plant(tmp_path, {f"{CPUS}/{name}": words[words.index("echo") + 1]})
    assert turbo(tmp_path).value == "off"
