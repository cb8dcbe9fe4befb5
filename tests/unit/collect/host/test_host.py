"""The computer at hand: what it may use, from captured texts, and which description of it counts."""

import os
import shutil
from pathlib import Path

import pytest

from numapredict.collect.host import host
from numapredict.collect.host.host import Allowance, allowance, allowance_of_status, host_topology, topology_from_file
from numapredict.native.errors import InvalidTopologyError, MissingNativePartError

MACHINES = Path(__file__).parents[3] / "machines"

STATUS = """Name:\tcat
Cpus_allowed:\tff0f
Cpus_allowed_list:\t0-3,8-15
Mems_allowed:\t00000000,00000005
Mems_allowed_list:\t0,2
voluntary_ctxt_switches:\t0
"""
V2_CGROUP = "0::/user.slice/session-1.scope\n"
V2_MOUNTS = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1_CGROUP = "9:name=systemd:/\n4:memory:/batch/job\n3:cpu,cpuset:/batch/job\n0::/\n"
V1_MOUNTS = """10 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
13 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
14 35 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
20 41 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_CPUID_PATH", "HWLOC_COMPONENTS"):
        monkeypatch.delenv(name, raising=False)


def write(root: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_status_says_what_is_allowed() -> None:
    assert allowance_of_status(STATUS) == Allowance(frozenset([*range(4), *range(8, 16)]), frozenset([0, 2]))
    assert allowance_of_status("") == Allowance()
    assert allowance_of_status("Cpus_allowed_list:\tnonsense\n") == Allowance()


def test_what_both_allow() -> None:
    one = Allowance(frozenset([1, 2]), None)
    other = Allowance(frozenset([2, 3]), frozenset([0]))
    assert one & other == other & one == Allowance(frozenset([2]), frozenset([0]))
    assert one & Allowance() == one


def test_missing_files_allow_everything(tmp_path: Path) -> None:
    assert allowance(tmp_path) == Allowance()


def test_the_cgroup_and_the_status_restrict_together(tmp_path: Path) -> None:
    scope = "sys/fs/cgroup/user.slice/session-1.scope"
    write(
        tmp_path,
        {
            "proc/self/status": STATUS,
            "proc/self/cgroup": V2_CGROUP,
            "proc/self/mountinfo": V2_MOUNTS,
            f"{scope}/cpuset.cpus.effective": "2-9\n",
            f"{scope}/cpuset.mems.effective": "0-1\n",
            "sys/fs/cgroup/cpuset.cpus.effective": "0\n",
        },
    )
    assert allowance(tmp_path) == Allowance(frozenset([2, 3, 8, 9]), frozenset([0]))


def test_a_cgroup_without_a_cpuset_inherits_its_parents(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": V2_CGROUP,
            "proc/self/mountinfo": V2_MOUNTS,
            "sys/fs/cgroup/user.slice/cpuset.cpus.effective": "4-5\n",
            "sys/fs/cgroup/user.slice/cpuset.mems.effective": "\n",
            "sys/fs/cgroup/cpuset.cpus.effective": "0-63\n",
            "cpuset.cpus.effective": "77\n",
        },
    )
    assert allowance(tmp_path) == Allowance(frozenset([4, 5]), None)


def test_nothing_above_the_mount_is_a_cgroup(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": V2_CGROUP,
            "proc/self/mountinfo": V2_MOUNTS,
            "sys/fs/cpuset.cpus.effective": "77\n",
        },
    )
    assert allowance(tmp_path) == Allowance()


def test_version_1_is_read_at_its_own_path(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": V1_CGROUP,
            "proc/self/mountinfo": V1_MOUNTS,
            "sys/fs/cgroup/cpuset/batch/job/cpuset.effective_cpus": "6\n",
            "sys/fs/cgroup/cpuset/batch/job/cpuset.effective_mems": "3\n",
        },
    )
    assert allowance(tmp_path) == Allowance(frozenset([6]), frozenset([3]))


def answer_with(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let hwloc's tool answer with a captured topology."""
    monkeypatch.setattr(host, "_lstopo", lambda *_: (MACHINES / f"{name}.xml").read_bytes())


def test_this_computer_is_restricted_to_affinity_cpuset_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, "smt")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 8, 4, 5, 6})
    monkeypatch.setattr(host, "allowance", lambda _: Allowance(frozenset([8, 9, 4, 99]), frozenset([1])))
    topology = host_topology()
    assert [[core.pus for core in node.cores] for node in topology.nodes] == [[(8,)], [(4,)]]
    assert [bool(node.memory_bytes) for node in topology.nodes] == [False, True]


def test_this_computer_is_whole_where_nothing_restricts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, "memory-only")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    monkeypatch.setattr(host, "allowance", lambda _: Allowance())
    assert [len(node.cores) for node in host_topology().nodes] == [4, 4, 0]


def test_another_computer_is_not_restricted_to_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, "four-node")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    monkeypatch.setenv("HWLOC_FSROOT", "/some/copy")
    assert host_topology().core_count == 32
    monkeypatch.delenv("HWLOC_FSROOT")
    monkeypatch.setenv("HWLOC_XMLFILE", str(MACHINES / "two-node.xml"))
    assert host_topology().core_count == 20


def test_the_file_has_precedence_as_it_has_in_hwloc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HWLOC_XMLFILE", str(MACHINES / "uneven.xml"))
    monkeypatch.setenv("HWLOC_SYNTHETIC", "node:2 core:1 pu:1")
    assert host_topology().name == "uneven"


def test_a_wrong_file_is_an_error_and_not_this_computer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HWLOC_XMLFILE", str(tmp_path / "missing.xml"))
    with pytest.raises(InvalidTopologyError, match=r"missing\.xml' cannot be read: No such file"):
        host_topology()
    (tmp_path / "missing.xml").write_text("Machine (4GB total)")
    with pytest.raises(InvalidTopologyError, match="not well-formed XML"):
        host_topology()


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidTopologyError, match="Is a directory"):
        topology_from_file(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidTopologyError, match="no regular file"):
        topology_from_file(tmp_path / "pipe")
    with pytest.raises(InvalidTopologyError, match="no regular file"):
        topology_from_file(Path("/dev/zero"))
    with pytest.raises(InvalidTopologyError, match="cannot be read"):
        topology_from_file(Path("nul\0byte"))
    with (tmp_path / "large.xml").open("wb") as file:
        file.truncate(200_000_000)
    with pytest.raises(InvalidTopologyError, match="more than 16 MiB"):
        topology_from_file(tmp_path / "large.xml")


def test_without_hwloc_the_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingNativePartError, match="install the Debian package hwloc"):
        host_topology()


def tool(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a script in the place of hwloc's tool."""
    path = folder / "lstopo-no-graphics"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_what_the_tool_says_becomes_the_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool(tmp_path, "echo first >&2; echo second >&2; exit 3", monkeypatch)
    with pytest.raises(InvalidTopologyError, match=r"--disallowed found no topology: first$"):
        host_topology()
    tool(tmp_path, "exit 3", monkeypatch)
    with pytest.raises(InvalidTopologyError, match="exit code 3"):
        host_topology()
    tool(tmp_path, "exit 0", monkeypatch)
    with pytest.raises(InvalidTopologyError, match="exit code 0"):
        host_topology()


def test_a_tool_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(host, "_TIME_OUT_S", 0.2)
    tool(tmp_path, "exec sleep 60", monkeypatch)
    with pytest.raises(InvalidTopologyError, match="did not end within"):
        host_topology()


def test_a_file_that_is_no_program_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool(tmp_path, "", monkeypatch)
    (tmp_path / "lstopo-no-graphics").write_bytes(b"\x7fELF nonsense")
    with pytest.raises(InvalidTopologyError, match="could not be run"):
        host_topology()


def test_the_tool_never_sees_what_would_change_its_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool(tmp_path, 'test -z "$HWLOC_SYNTHETIC" || exit 9\ncat "' + str(MACHINES / "one-node.xml") + '"', monkeypatch)
    monkeypatch.setenv("HWLOC_SYNTHETIC", "anything")
    assert host_topology().core_count == 2


needs_hwloc = pytest.mark.skipif(shutil.which("lstopo-no-graphics") is None, reason="hwloc's tools are not installed")


@needs_hwloc
def test_the_real_tool_describes_this_computer() -> None:
    topology = host_topology()
    assert {pu for node in topology.nodes for core in node.cores for pu in core.pus} == os.sched_getaffinity(0)
    assert topology.memory_nodes


@needs_hwloc
def test_the_real_tool_describes_synthetic_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", "pack:2 [numa(memory=1073741824)] l3:1(size=8388608) core:3 pu:2")
    topology = host_topology()
    assert topology.name == "synthetic"
    assert [(len(node.cores), node.memory_bytes) for node in topology.nodes] == [(3, 1 << 30)] * 2
    assert [cache.size_bytes for cache in topology.caches] == [8388608] * 2


@needs_hwloc
@pytest.mark.parametrize("description", ["foo:::", "-h", "node:0", "node:2(memory=", "\0"])
def test_malformed_descriptions_are_errors_and_not_this_computer(description: str) -> None:
    with pytest.raises(InvalidTopologyError) as error:
        host._synthetic_topology(description)
    assert "\n" not in str(error.value)


def test_synthetic_machines_have_a_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", "node:10000(memory=5) [numa(memory=3)] core:100 pu:1000")
    with pytest.raises(InvalidTopologyError, match="describes 1000000000 PUs"):
        host_topology()
