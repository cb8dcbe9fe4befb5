"""resctrl on fake trees (tests/golden/resctrl/README.md): which bytes belong to which node, and what is refused."""

import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from numapredict.collect.measuring.counters.resctrl.source import ResctrlSource
from numapredict.collect.measuring.counters.source import Traffic
from numapredict.collect.topology import Topology
from numapredict.native.errors import CounterError
from numapredict.native.library import launcher_program
from tests.planted_files import plant
from tests.resctrl import FakeKernel, topology_of

INTEL, AMD, SUB_NUMA = "intel-2-sockets", "amd-two-l3-a-node", "intel-sub-numa"
PUS = tuple(range(8))
TOPOLOGIES = {
    INTEL: topology_of({0: (0, 1), 1: (2, 3)}),
    AMD: topology_of({0: (0, 1, 2, 3), 1: (4, 5, 6, 7)}),
    SUB_NUMA: topology_of({0: (0, 1), 1: (2, 3), 2: (4, 5), 3: (6, 7)}),
}
EXPECTED = {  # local, remote of each node: see the numbers in the trees
    INTEL: ((61_341_696_000.0, 12_058_624_000.0), (1_048_576_000.0, 19_922_944_000.0)),
    AMD: ((6_500_000_000.0, 1_500_000_000.0), (100_000_000.0, 1_500_000_000.0)),
    SUB_NUMA: (
        (5_000_000_000.0, 1_000_000_000.0),
        (1_000_000_000.0, 2_000_000_000.0),
        (0.0, 0.0),
        (4_000_000_000.0, 0.0),
    ),
}
FIRST, SECOND = "mon_L3_00", "mon_L3_01"


def source_of(kernel: FakeKernel, topology: Topology) -> ResctrlSource:
    return ResctrlSource(topology, kernel.root, kernel)


def count(
    kernel: FakeKernel,
    topology: Topology,
    changes: dict[str, str] | None = None,
    pus: tuple[int, ...] = PUS,
    during: Callable[[Path], None] | None = None,
) -> Traffic:
    """Count a run that leaves the counters as the tree has it, or as ``changes``."""
    with source_of(kernel, topology).counting(pus, kernel.root) as counting:
        kernel.run(kernel.made[-1], changes)
        if during:
            during(kernel.made[-1])
        return counting.traffic()


@pytest.mark.parametrize("name", [INTEL, AMD, SUB_NUMA])
def test_each_nodes_bytes(tmp_path: Path, name: str) -> None:
    kernel = FakeKernel(name, tmp_path)
    assert source_of(kernel, TOPOLOGIES[name]).obstacle() is None
    traffic = count(kernel, TOPOLOGIES[name])
    assert tuple((node.local_bytes, node.remote_bytes) for node in traffic.nodes) == EXPECTED[name]
    assert traffic.source == "resctrl"
    assert traffic.tells_local
    assert all(node.controller_bytes is None for node in traffic.nodes)
    assert kernel.groups == []


def test_nodes_are_named_by_the_operating_system(tmp_path: Path) -> None:
    # A process that may use the second socket alone: its node is the first of its topology, and node 1 of the kernel.
    traffic = count(FakeKernel(INTEL, tmp_path), topology_of({1: (2, 3)}), pus=(2, 3))
    assert [(node.local_bytes, node.remote_bytes) for node in traffic.nodes] == [EXPECTED[INTEL][1]]


def test_a_node_without_cores_moves_nothing(tmp_path: Path) -> None:
    traffic = count(FakeKernel(INTEL, tmp_path), topology_of({0: (0, 1), 1: (2, 3), 2: ()}))
    assert (traffic.nodes[2].local_bytes, traffic.nodes[2].remote_bytes) == (0.0, 0.0)


def test_lines_written_back_are_noted_where_they_count_as_remote(tmp_path: Path) -> None:
    amd = FakeKernel(AMD, tmp_path / "amd")
    assert "written back" in " ".join(count(amd, TOPOLOGIES[AMD]).notes)
    assert count(FakeKernel(INTEL, tmp_path / "intel"), TOPOLOGIES[INTEL]).notes == ()
    plant(amd.root, {"sys/fs/resctrl/info/L3_MON/mbm_total_bytes_config": "0=0x3f;1=0x3f;8=0x3f;9=0x3f\n"})
    assert count(amd, TOPOLOGIES[AMD]).notes == ()
    words = "local_reads,remote_reads,dirty_victim_writes_all\n"
    plant(amd.root, {"sys/fs/resctrl/info/L3_MON/event_configs/mbm_total_bytes/event_filter": words})
    assert "written back" in " ".join(count(amd, TOPOLOGIES[AMD]).notes)


def test_a_counter_that_wraps_goes_on(tmp_path: Path) -> None:
    kernel = FakeKernel(INTEL, tmp_path)
    with source_of(kernel, TOPOLOGIES[INTEL]).counting(PUS, tmp_path) as counting:
        start = {f"{FIRST}/mbm_{event}_bytes": f"{2**64 - 1000}\n" for event in ("total", "local")}
        kernel.run(kernel.made[-1], start)
        counting.before = counting._read()
        kernel.run(kernel.made[-1], {f"{FIRST}/mbm_total_bytes": "5000\n", f"{FIRST}/mbm_local_bytes": "2000\n"})
        node = counting.traffic().nodes[0]
    assert (node.local_bytes, node.remote_bytes) == (3000.0, 3000.0)


def test_a_counter_that_fell_is_refused(tmp_path: Path) -> None:
    changes = {f"{SECOND}/mbm_total_bytes": "65535\n"}  # one less than before the run
    with pytest.raises(CounterError, match="mbm_total_bytes fell from 65536 to 65535"):
        count(FakeKernel(INTEL, tmp_path), TOPOLOGIES[INTEL], changes)


@pytest.mark.parametrize(("local", "allowed"), [(101, True), (103, False)])
def test_more_local_than_there_is_in_all(tmp_path: Path, local: int, allowed: bool) -> None:
    kernel = FakeKernel(INTEL, tmp_path)
    changes = {f"{FIRST}/mbm_total_bytes": "100000\n", f"{FIRST}/mbm_local_bytes": f"{local}000\n"}
    if allowed:  # within what reading one after the other can explain
        node = count(kernel, TOPOLOGIES[INTEL], changes).nodes[0]
        assert (node.local_bytes, node.remote_bytes) == (100_000.0, 0.0)
        return
    with pytest.raises(CounterError, match="contradict"):
        count(kernel, TOPOLOGIES[INTEL], changes)


@pytest.mark.parametrize("word", ["Unavailable", "Error", "Unassigned"])
def test_a_word_where_the_program_ran_is_refused_and_elsewhere_is_nothing(tmp_path: Path, word: str) -> None:
    kernel = FakeKernel(AMD, tmp_path)
    changes = {"mon_L3_09/mbm_local_bytes": f"{word}\n"}
    with pytest.raises(CounterError, match=f"mon_L3_09 said {word} where the program ran"):
        count(kernel, TOPOLOGIES[AMD], changes)
    traffic = count(kernel, TOPOLOGIES[AMD], changes, pus=(0, 1, 2, 3, 4, 5))
    assert (traffic.nodes[1].local_bytes, traffic.nodes[1].remote_bytes) == (0.0, 700_000_000.0)


def test_a_counter_that_came_back_has_lost_bytes(tmp_path: Path) -> None:
    kernel = FakeKernel(AMD, tmp_path)

    def lend(_: Path) -> None:
        kernel.first_reads["mon_L3_09/mbm_total_bytes"] = "Unavailable\n"

    with pytest.raises(CounterError, match="mon_L3_09 said Unavailable where the program ran"):
        count(kernel, TOPOLOGIES[AMD], during=lend)
    assert kernel.first_reads == {}
    # The first read of a new group is expected to say so, and begins the counting.
    kernel.first_reads["mon_L3_08/mbm_total_bytes"] = "Unavailable\n"
    assert count(kernel, TOPOLOGIES[AMD]).nodes[1].remote_bytes == EXPECTED[AMD][1][1]
    assert kernel.first_reads == {}


def test_a_word_that_is_none_of_the_kernels_is_refused(tmp_path: Path) -> None:
    for text in ("", "12 34\n", "-5\n", "1e9\n", f"{2**64}\n", "nan\n"):
        kernel = FakeKernel(INTEL, tmp_path / repr(text))
        with pytest.raises(CounterError, match=r"mon_L3_00/mbm_total_bytes says .* which is no number"):
            count(kernel, TOPOLOGIES[INTEL], {f"{FIRST}/mbm_total_bytes": text})
        assert kernel.groups == []


def test_counters_that_stay_zero_are_refused(tmp_path: Path) -> None:
    zeros = {f"{place}/mbm_{event}_bytes": "0\n" for place in (FIRST, SECOND) for event in ("total", "local")}
    with pytest.raises(CounterError, match="stayed 0 on every node"):
        count(FakeKernel(INTEL, tmp_path), TOPOLOGIES[INTEL], zeros | {f"{SECOND}/mbm_total_bytes": "65536\n"})


def test_counters_that_are_handed_out_by_request_are_requested(tmp_path: Path) -> None:
    kernel = FakeKernel(INTEL, tmp_path)
    kernel._of_group[f"mon_data/{FIRST}/mbm_local_bytes"] = "Unassigned\n"
    asked: list[str] = []
    count(kernel, TOPOLOGIES[INTEL], during=lambda group: asked.append((group / "mbm_L3_assignments").read_text()))
    assert asked == ["mbm_total_bytes:*=e\n"]  # the last of two: a file keeps no history, as the kernel would


def test_who_stays_in_the_group_is_noted_and_goes_back(tmp_path: Path) -> None:
    kernel = FakeKernel(INTEL, tmp_path)
    notes = count(kernel, TOPOLOGIES[INTEL], during=lambda group: plant(group, {"tasks": "77\n78\n"})).notes
    assert notes == ("2 processes of the program went on after it ended; what they move now is not counted",)
    assert (kernel.resctrl / "tasks").read_text().split()[-2:] == ["77", "78"]


INFO = "sys/fs/resctrl/info/L3_MON"


@pytest.mark.parametrize(
    ("changes", "reason", "remedy"),
    [
        (
            {f"{INFO}/mon_features": "llc_occupancy\nmbm_total_bytes\n"},
            "resctrl counts no mbm_local_bytes on this processor",
            "",
        ),
        ({f"{INFO}/mon_features": ""}, "resctrl counts no mbm_local_bytes and no mbm_total_bytes on", ""),
        (
            {f"{INFO}/mbm_total_bytes_config": "0=0x7f;1=0x33;8=0x7f;9=0x7f\n"},
            "mbm_total_bytes was set up to count other things",
            "echo '0=0x7f;1=0x7f;8=0x7f;9=0x7f' | sudo tee ",
        ),
        (
            {f"{INFO}/mbm_local_bytes_config": "0=0x15;1=0x30\n"},
            "mbm_local_bytes was set up",
            "echo '0=0x15;1=0x15' | sudo tee ",
        ),
        ({"sys/devices/system/cpu/cpu0/cache/index3/id": ""}, "index3 has no id", ""),
    ],
)
def test_what_is_in_the_way(tmp_path: Path, changes: dict[str, str], reason: str, remedy: str) -> None:
    kernel = FakeKernel(AMD, tmp_path)
    plant(tmp_path, changes)
    source = source_of(kernel, TOPOLOGIES[AMD])
    obstacle = source.obstacle()
    assert obstacle is not None
    assert reason in obstacle.reason
    assert "".join(obstacle.remedies).startswith(remedy)
    assert bool(obstacle.remedies) == bool(remedy)
    with pytest.raises(CounterError) as error, source.counting(PUS, tmp_path):
        pass
    assert obstacle.reason in str(error.value)
    assert kernel.made == []


def test_sub_numa_clusters_need_a_kernel_that_counts_them_apart(tmp_path: Path) -> None:
    obstacle = source_of(FakeKernel("intel-sub-numa-old-kernel", tmp_path), TOPOLOGIES[SUB_NUMA]).obstacle()
    assert obstacle is not None
    assert "L3 cache 0 serves the NUMA nodes 0 and 1" in obstacle.reason


def test_a_node_without_an_l3_cache_is_not_counted_as_idle(tmp_path: Path) -> None:
    obstacle = source_of(FakeKernel(INTEL, tmp_path), topology_of({0: (0, 1), 5: (8,)})).obstacle()
    assert obstacle is not None
    assert "NUMA node 5 has no L3 cache" in obstacle.reason


def test_without_the_mount_the_command_is_named(tmp_path: Path) -> None:
    plant(tmp_path, {"proc/filesystems": "nodev\tsysfs\nnodev\tresctrl\n\text4\n", "sys/fs/resctrl/": ""})
    obstacle = ResctrlSource(TOPOLOGIES[INTEL], tmp_path).obstacle()
    assert obstacle is not None
    assert obstacle.remedies == ("sudo mount -t resctrl resctrl /sys/fs/resctrl",)


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ("fpu hypervisor cqm_mbm_total", "this virtual machine has no memory bandwidth monitoring"),
        ("fpu cqm_mbm_total", "this processor has no memory bandwidth monitoring"),
        ("fpu cqm_mbm_total cqm_mbm_local", "this kernel was built without resctrl"),
    ],
)
def test_what_cannot_be_mounted_is_explained(tmp_path: Path, flags: str, reason: str) -> None:
    plant(tmp_path, {"proc/filesystems": "\text4\n", "proc/cpuinfo": f"processor\t: 0\nflags\t\t: {flags}\nbugs\t:\n"})
    obstacle = ResctrlSource(TOPOLOGIES[INTEL], tmp_path).obstacle()
    assert obstacle is not None
    assert obstacle.reason.startswith(reason)


def test_this_computer_says_why_or_counts() -> None:
    mounted = Path("/sys/fs/resctrl/info").is_dir()
    obstacle = ResctrlSource(topology_of({0: (0,)})).obstacle()
    assert mounted or (obstacle is not None and obstacle.reason)


def _said_to_nobody(source: ResctrlSource) -> str:
    """Return the source's obstacle in words, as another user meets it; forked, who may not read our modules either."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            os.write(writer, str(source.obstacle()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_without_rights_to_make_groups_the_least_privilege_is_named() -> None:
    import tempfile

    with tempfile.TemporaryDirectory(prefix="numapredict-resctrl-") as folder:  # tmp_path is root's alone
        root = Path(folder)
        kernel = FakeKernel(INTEL, root)
        for path in (root, *root.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() else 0o644)

        source = ResctrlSource(topology_of({0: (0, 1), 1: (2, 3)}), root)
        assert "no monitoring group may be made in" in _said_to_nobody(source)
        assert f"'sudo chown \"$USER\" {kernel.resctrl}/mon_groups'" in _said_to_nobody(source)
        os.chown(kernel.resctrl / "mon_groups", 65534, 65534)
        assert _said_to_nobody(source) == "None"


def test_a_group_goes_with_its_control_group(tmp_path: Path) -> None:
    # The kernel refuses a process of a control group in a monitoring group that lies in another one.
    kernel = FakeKernel(INTEL, tmp_path)
    plant(tmp_path, {"proc/self/cpu_resctrl_groups": "res:batch\nmon:\n", "sys/fs/resctrl/batch/mon_groups/": ""})
    source = source_of(kernel, TOPOLOGIES[INTEL])
    for place in (FIRST, SECOND):
        plant(tmp_path, {f"sys/fs/resctrl/batch/mon_data/{place}/": ""})
    with source.counting(PUS, tmp_path):
        assert kernel.made[-1].parent == kernel.resctrl / "batch/mon_groups"


def test_all_ids_in_use(tmp_path: Path) -> None:
    kernel = FakeKernel(INTEL, tmp_path)
    plant(tmp_path, {f"{INFO}/num_rmids": "2\n", "sys/fs/resctrl/mon_groups/mine/": ""})
    source = source_of(kernel, TOPOLOGIES[INTEL])
    with pytest.raises(CounterError) as error, source.counting(PUS, tmp_path):
        pass
    assert "No space left on device (Out of RMIDs)" in str(error.value)
    assert f"sudo rmdir {kernel.resctrl}/mon_groups/mine" in str(error.value)
    assert "\n" not in str(error.value)
    assert kernel.groups == ["mine"]


def test_ids_in_limbo(tmp_path: Path) -> None:
    kernel = FakeKernel(INTEL, tmp_path)
    kernel.refusal = OSError(errno.EBUSY, os.strerror(errno.EBUSY))
    with (
        pytest.raises(CounterError, match="try again in some seconds"),
        source_of(kernel, TOPOLOGIES[INTEL]).counting(PUS, tmp_path),
    ):
        pass


@pytest.mark.native
def test_the_program_is_in_the_group_before_it_starts(tmp_path: Path) -> None:
    launcher_program()
    kernel = FakeKernel(INTEL, tmp_path)
    with source_of(kernel, TOPOLOGIES[INTEL]).counting(PUS, tmp_path) as counting:
        group = kernel.made[-1]
        script = f'echo "$$ $WORD $1"; cat "{group}/tasks"'
        command = counting.command(["sh", "-c", script, "sh", "two words; $(false)"], {"WORD": "a b"})
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    pid = said[0].split()[0]
    assert said == [f"{pid} a b two words; $(false)", pid]
    assert "WORD" not in os.environ
