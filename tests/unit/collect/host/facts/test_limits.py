"""Limits of control groups, of both versions, and of the groups around them."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from numapredict.collect.host.facts.facts import facts
from numapredict.collect.host.facts.limits import allowed_pus, memory_limit, online_pus, processor_quota
from numapredict.collect.measuring.diagnosis import facts_in_words
from tests.planted_files import plant

GiB = 1 << 30
V2 = {
    "proc/self/cgroup": "0::/batch/job\n",
    "proc/self/mountinfo": "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    "sys/devices/system/cpu/online": "0-7\n",
}
V1 = {
    "proc/self/cgroup": "5:cpu,cpuacct:/batch/job\n4:memory:/batch/job\n",
    "proc/self/mountinfo": (
        "13 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
        "14 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    ),
    "sys/devices/system/cpu/online": "0-7\n",
}
JOB, PARENT = "sys/fs/cgroup/batch/job", "sys/fs/cgroup/batch"
V1_CPU, V1_MEMORY = "sys/fs/cgroup/cpu/batch", "sys/fs/cgroup/memory/batch"


@pytest.mark.parametrize(
    ("files", "value", "disturbs"),
    [
        ({}, "no limit", False),
        ({f"{JOB}/cpu.max": "max 100000\n"}, "no limit", False),
        ({f"{JOB}/cpu.max": "250000 100000\n"}, "2.5 PUs' time", True),
        ({f"{JOB}/cpu.max": "max 100000\n", f"{PARENT}/cpu.max": "50000 100000\n"}, "0.5 PUs' time", True),
        ({f"{JOB}/cpu.max": "300000 100000\n", f"{PARENT}/cpu.max": "900000 100000\n"}, "3 PUs' time", True),
        ({f"{JOB}/cpu.max": "900000 100000\n", f"{PARENT}/cpu.max": "300000 100000\n"}, "3 PUs' time", True),
        (
            {f"{JOB}/cpu.max": "800000 100000\n", "proc/self/status": "Cpus_allowed_list:\t0-7\n"},
            "8 PUs' time, no less than there are",
            False,
        ),
        (
            {f"{JOB}/cpu.max": "300000 100000\n", "proc/self/status": "Cpus_allowed_list:\t0-3\n"},
            "3 PUs' time on 4 PUs",
            True,
        ),
        ({f"{JOB}/cpu.max": "nonsense\n"}, "no limit", False),
    ],
)
def test_processor_time(tmp_path: Path, files: dict[str, str], value: str, disturbs: bool) -> None:
    plant(tmp_path, V2 | files)
    fact = processor_quota(tmp_path)
    assert fact.value.startswith(value)
    assert fact.disturbs == disturbs


def test_processor_time_of_version_1(tmp_path: Path) -> None:
    plant(tmp_path, V1)
    plant(tmp_path, {f"{V1_CPU}/job/cpu.cfs_quota_us": "-1\n", f"{V1_CPU}/job/cpu.cfs_period_us": "100000\n"})
    assert processor_quota(tmp_path).value == "no limit"
    plant(tmp_path, {f"{V1_CPU}/cpu.cfs_quota_us": "150000\n", f"{V1_CPU}/cpu.cfs_period_us": "100000\n"})
    assert processor_quota(tmp_path).value == "1.5 PUs' time on 8 PUs"


@pytest.mark.parametrize(
    ("used", "value", "disturbs"),
    [(GiB, "4.0 GiB, 1.0 used", False), (4 * GiB - GiB // 4, "4.0 GiB, 3.8 used", True)],
)
def test_memory(tmp_path: Path, used: int, value: str, disturbs: bool) -> None:
    plant(tmp_path, V2 | {f"{JOB}/memory.max": "max\n", f"{PARENT}/memory.max": f"{4 * GiB}\n"})
    plant(tmp_path, {f"{PARENT}/memory.current": f"{used}\n"})
    fact = memory_limit(tmp_path)
    assert (fact.value, fact.disturbs) == (value, disturbs)


def test_the_group_with_the_least_memory_left_counts(tmp_path: Path) -> None:
    plant(tmp_path, V2 | {f"{JOB}/memory.max": f"{2 * GiB}\n", f"{JOB}/memory.current": "0\n"})
    plant(tmp_path, {f"{PARENT}/memory.max": f"{4 * GiB}\n", f"{PARENT}/memory.current": f"{3 * GiB}\n"})
    assert memory_limit(tmp_path).value == "4.0 GiB, 3.0 used"
    plant(tmp_path, {f"{JOB}/memory.current": f"{GiB + GiB // 2}\n"})
    assert memory_limit(tmp_path).value == "2.0 GiB, 1.5 used"


def test_memory_of_version_1(tmp_path: Path) -> None:
    plant(tmp_path, V1 | {f"{V1_MEMORY}/job/memory.limit_in_bytes": "9223372036854771712\n"})
    assert memory_limit(tmp_path).value == "no limit"
    plant(tmp_path, {f"{V1_MEMORY}/job/memory.limit_in_bytes": f"{2 * GiB}\n"})
    plant(tmp_path, {f"{V1_MEMORY}/job/memory.usage_in_bytes": f"{GiB}\n"})
    assert memory_limit(tmp_path).value == "2.0 GiB, 1.0 used"


def test_which_pus_are_allowed(tmp_path: Path) -> None:
    assert allowed_pus(tmp_path).value == "unknown"
    plant(tmp_path, V2 | {"proc/self/status": "Cpus_allowed_list:\t0-63\n"})
    assert allowed_pus(tmp_path).value == "all 8"
    plant(tmp_path, {f"{JOB}/cpuset.cpus.effective": "1-2,5\n"})
    assert allowed_pus(tmp_path).value == "3 of 8 (1-2,5)"


def test_all_facts_of_an_empty_computer_are_harmless(tmp_path: Path) -> None:
    found = facts(tmp_path, lambda _: None)
    assert not any(fact.disturbs for fact in found)
    assert len({fact.name for fact in found}) == len(found) == 14


def test_all_facts_of_this_computer_are_one_line_each() -> None:
    found = facts(wait=lambda _: time.sleep(0.05))
    shown = list(facts_in_words(found))
    assert all(line.strip() and "\n" not in line for line in shown)
    assert len(shown) == len(found) + sum(bool(fact.remedy) for fact in found)


def test_the_words_mark_what_disturbs_and_name_the_command(tmp_path: Path) -> None:
    plant(tmp_path, {"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n"})
    found = facts(tmp_path, lambda _: None)
    shown = list(facts_in_words(found))
    at = next(index for index, line in enumerate(shown) if "governor" in line)
    assert shown[at].startswith("! governor ")
    assert shown[at + 1].strip() == "-> sudo cpupower frequency-set -g performance"
    assert sum(line.startswith("!") for line in shown) == 1


def test_a_real_affinity_is_seen() -> None:
    pu, online = min(os.sched_getaffinity(0)), len(online_pus(Path("/")))
    ask = (
        "from pathlib import Path; from numapredict.collect.host.facts.limits import allowed_pus as p;"
        "print(p(Path('/')).value)"
    )
    said = subprocess.run(
        ["taskset", "--cpu-list", str(pu), sys.executable, "-c", ask], capture_output=True, text=True, check=True
    ).stdout
    assert said.strip() == (f"1 of {online} ({pu})" if online > 1 else "all 1")
