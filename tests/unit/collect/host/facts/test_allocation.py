"""What this process may use of the computer, and who says so: from planted files, and under a real mask and group."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from numapredict.collect.host.facts.allocation import Allocation, allocation
from numapredict.collect.host.facts.allocation_text import allocation_in_words, contradictions_in_words
from numapredict.collect.host.facts.limits import online_pus
from tests.planted_files import plant
from tests.shapes import shape

# A computer of 64 PUs on 4 nodes; the topology is the part of 16 cores on two of them, nodes 10 and 11 by the shape.
COMPUTER = {"sys/devices/system/cpu/online": "0-63\n"} | {
    f"sys/devices/system/node/node{node}/meminfo": f"Node {node} MemTotal: 1000 kB\n" for node in (10, 11, 12, 13)
}
PART = shape([8, 8])
SLURM = {"SLURM_JOB_ID": "123", "SLURM_CPUS_ON_NODE": "16"}
CPUSET = {
    "proc/self/cgroup": "0::/batch\n",
    "proc/self/mountinfo": "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    "sys/fs/cgroup/batch/cpuset.cpus.effective": "0-15\n",
    "sys/fs/cgroup/batch/cpuset.mems.effective": "10-11\n",
}


def given(root: Path, files: dict[str, str] | None = None, variables: dict[str, str] | None = None) -> Allocation:
    plant(root, COMPUTER | (files or {}))
    found = allocation(PART, root, variables or {})
    assert found is not None
    return found


def test_a_job_that_has_a_part(tmp_path: Path) -> None:
    found = given(tmp_path, CPUSET, SLURM | {"SLURM_MEM_PER_NODE": "32768"})
    assert found.restricts
    assert allocation_in_words(found) == (
        "SLURM job 123 gave 16 of this computer's 64 PUs: nodes 10 and 11; 32.0 GiB of memory"
    )
    assert list(contradictions_in_words(found)) == []


@pytest.mark.parametrize(
    ("files", "giver"),
    [
        ({}, "the affinity mask of this process"),
        (CPUSET, "the control group of this process"),
        (CPUSET | {".dockerenv": ""}, "the container"),
        ({".dockerenv": ""}, "the affinity mask of this process"),
        (CPUSET | {"sys/fs/cgroup/batch/cpuset.cpus.effective": "0-31\n"}, "the affinity mask of this process"),
    ],
)
def test_without_a_job_what_restricts_is_named(tmp_path: Path, files: dict[str, str], giver: str) -> None:
    words = allocation_in_words(given(tmp_path, files))
    assert words == f"{giver} allows 16 of this computer's 64 PUs: nodes 10 and 11"


def test_memory_that_lies_elsewhere_is_named(tmp_path: Path) -> None:
    plant(tmp_path, COMPUTER)
    found = allocation(shape([8, 8], memory=[1 << 30, 0]), tmp_path, SLURM)
    assert found is not None
    assert allocation_in_words(found).endswith("nodes 10 and 11, with the memory of node 10 alone")


def test_all_pus_with_a_part_of_the_memory_is_a_restriction(tmp_path: Path) -> None:
    found = given(tmp_path, {"sys/devices/system/cpu/online": "0-15\n"})
    assert found.restricts
    assert allocation_in_words(found).startswith("the affinity mask of this process allows all 16 PUs of this computer")


def test_the_whole_computer_is_no_restriction(tmp_path: Path) -> None:
    plant(tmp_path, {"sys/devices/system/cpu/online": "0-15\n"})
    found = allocation(PART, tmp_path, SLURM)
    assert found is not None
    assert not found.restricts
    assert allocation_in_words(found) == "SLURM job 123 gave all 16 PUs of this computer"


def test_a_topology_of_another_computer_was_not_allocated(tmp_path: Path) -> None:
    plant(tmp_path, {"sys/devices/system/cpu/online": "0-7\n"})
    assert allocation(PART, tmp_path, SLURM) is None
    assert allocation(PART, tmp_path / "nothing", SLURM) is None


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"SLURM_CPUS_ON_NODE": "16"}, ""),
        ({"SLURM_CPUS_ON_NODE": "4"}, "has 4 PUs here, but this process is not bound to that: it takes 16"),
        ({"SLURM_CPUS_ON_NODE": "1"}, "has 1 PU here, but this process is not bound"),
        ({"SLURM_CPUS_ON_NODE": "32"}, "has 32 PUs here, but this process may use only 16: for all"),
        ({"SLURM_CPUS_ON_NODE": "32", "SLURM_CPUS_PER_TASK": "16"}, ""),  # a task of two
        ({"SLURM_CPUS_ON_NODE": "32", "SLURM_CPU_BIND": "cores"}, "may use only 16 (cores)"),
        ({}, ""),
    ],
)
def test_a_job_that_says_something_else(tmp_path: Path, variables: dict[str, str], said: str) -> None:
    lines = list(contradictions_in_words(given(tmp_path, CPUSET, {"SLURM_JOB_ID": "123"} | variables)))
    assert len(lines) == bool(said)
    assert said in "".join(lines)


def test_a_batch_system_may_count_cores(tmp_path: Path) -> None:
    plant(tmp_path, COMPUTER)
    found = allocation(shape([8, 8], pus=2), tmp_path, SLURM)
    assert found is not None
    assert found.pus == 32
    assert list(contradictions_in_words(found)) == []


ASK = (sys.executable, "-c", "import sys; from numapredict.predictor.command_line.main import main; sys.exit(main())")
CLEAN = {name: text for name, text in os.environ.items() if not name.startswith(("SLURM_", "PBS_", "LSB_", "HWLOC_"))}


def said(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=240, env=CLEAN | variables, check=False)


needs_two = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core has one order only")


@needs_two
def test_a_real_affinity_mask_is_named_where_it_restricts() -> None:
    pu, pus = min(os.sched_getaffinity(0)), len(online_pus(Path("/")))
    bound = ("taskset", "--cpu-list", str(pu), *ASK)
    mask = f"the affinity mask of this process allows 1 of this computer's {pus} PUs: node "
    assert mask in said(*bound, "topology").stdout
    job = {"SLURM_JOB_ID": "7", "SLURM_CPUS_ON_NODE": "1"}
    assert f"SLURM job 7 gave 1 of this computer's {pus} PUs: node " in said(*bound, "topology", **job).stdout
    as_json = said(*bound, "topology", "--json")
    json.loads(as_json.stdout)
    assert mask in as_json.stderr
    assert mask in said(*bound, "predict", "true").stderr
    ran = said(*bound, "run", "--mapping", "1x1-contiguous-bind", "--", "echo", "done")
    assert ran.stdout == "done\n"
    assert f"numapredict: {mask}" in ran.stderr


def test_nothing_is_said_of_a_machine_that_is_not_this_computer() -> None:
    job = {"SLURM_JOB_ID": "7", "SLURM_CPUS_ON_NODE": "1"}
    for options in (("--machine", "broadwell-2x10"), ()):
        shown = said(*ASK, "topology", *options, HWLOC_SYNTHETIC="numa:2(memory=1GB) core:1 pu:1", **job)
        assert "SLURM" not in shown.stdout + shown.stderr
        assert "2 NUMA nodes" in shown.stdout


@contextlib.contextmanager
def control_group(pu: int) -> Iterator[Path]:
    """Make a control group of one PU, of whichever version is here; skip where that is not allowed."""
    old, new = Path("/sys/fs/cgroup/cpuset"), Path("/sys/fs/cgroup")
    mount = old if old.is_dir() else new
    group = mount / f"numapredict-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("no control group can be made here")
    try:
        try:
            (group / "cpuset.mems").write_text("0")
            (group / "cpuset.cpus").write_text(str(pu))
        except OSError:
            pytest.skip("no control group can be made here")
        yield group
    finally:
        group.rmdir()


@needs_two
def test_a_real_control_group_is_named_where_it_restricts() -> None:
    pu, pus = min(os.sched_getaffinity(0)), len(online_pus(Path("/")))
    with control_group(pu) as group:
        shown = said("sh", "-c", 'echo $$ >"$0" && exec "$@"', str(group / "cgroup.procs"), *ASK, "topology").stdout
    named = ("the control group of this process", "the container")
    assert shown.splitlines()[-1] in {f"{who} allows 1 of this computer's {pus} PUs: node 0" for who in named}


def test_a_job_with_one_pu_of_each_core_is_said_to_have_no_siblings(tmp_path: Path) -> None:
    siblings = {f"sys/devices/system/cpu/cpu{pu}/topology/core_cpus_list": f"{pu},{pu + 32}\n" for pu in range(16)}
    words = allocation_in_words(given(tmp_path, siblings, SLURM))
    assert "at most 1 PU of a core: no mapping has more threads on one" in words
