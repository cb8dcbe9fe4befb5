"""From the launcher's counts to the traffic of nodes, on computers that are file trees."""

import json
from pathlib import Path
from typing import Any

import pytest

from numapredict.collect.measuring.counters.perf.counts import read_counts
from numapredict.collect.measuring.counters.perf.source import PerfSource
from numapredict.collect.measuring.counters.source import Traffic
from numapredict.native.errors import CounterError
from tests.shapes import shape
from tests.trees import write_tree

pytestmark = pytest.mark.native  # the source names the built launcher

MS = 1_000_000


def count(event: str, cpu: int, value: int = 0, running_ms: float = 100, enabled_ms: float = 400) -> dict[str, Any]:
    """Return a count of a program that runs 100 ms on each of four PUs; all are enabled for 400 ms."""
    return {
        "event": event,
        "cpu": cpu,
        "value": value,
        "enabled_ns": int(enabled_ms * MS),
        "running_ns": int(running_ms * MS),
        "user_only": False,
    }


def times() -> list[dict[str, Any]]:
    return [count("time", cpu) for cpu in range(4)]


def lines(local: tuple[int, ...], remote: tuple[int, ...], running_ms: float = 100) -> list[dict[str, Any]]:
    return [
        count(event, cpu, value, running_ms)
        for event, values in (("local_lines.0", local), ("remote_lines.1", remote))
        for cpu, value in enumerate(values)
    ]


def traffic(name: str, counts: list[dict[str, Any]], folder: Path) -> Traffic:
    root, files = folder / "root", folder / "files"
    files.mkdir()
    with PerfSource(shape([2, 2]), write_tree(name, root)).counting(range(4), files) as counting:
        command = counting.command(["./app", "--x"], {"A": "b c"})
        output = Path(command[command.index("--output") + 1])
        assert command[-5:] == ("--set", "A=b c", "--", "./app", "--x")
        assert {"time=1:0x9:0x0:0x0@task:0-3", "all-time=1:0x9:0x0:0x0@task"} < set(command)
        output.write_text(json.dumps({"version": 1, "counts": counts}))
        return counting.traffic()


def test_lines_of_a_nodes_pus_are_added_up(tmp_path: Path) -> None:
    found = traffic("zen5", times() + lines((1, 2, 4, 8), (16, 32, 64, 128)), tmp_path)
    assert [(node.local_bytes, node.remote_bytes) for node in found.nodes] == [
        (3 * 64.0, 48 * 64.0),
        (12 * 64.0, 192 * 64.0),
    ]
    assert found.source == "perf"
    assert found.tells_local
    assert found.running_share == 1.0
    assert found.notes[0].startswith("not counted: write-backs")
    assert found.notes[1:] == ("the kernel shows no PMU of the memory controllers",)


def test_time_on_other_pus_is_no_multiplexing(tmp_path: Path) -> None:
    # Here the enabled time is four times the time on one PU: dividing by it would quarter the share.
    assert traffic("zen5", times() + lines((1,) * 4, (1,) * 4), tmp_path).running_share == 1.0


def test_shared_hardware_is_scaled_by_what_the_program_ran_there(tmp_path: Path) -> None:
    found = traffic("zen5", times() + lines((100,) * 4, (10,) * 4, running_ms=50), tmp_path)
    assert [(node.local_bytes, node.remote_bytes) for node in found.nodes] == [(400 * 64.0, 40 * 64.0)] * 2
    assert found.running_share == 0.5
    assert "events shared the hardware: counted 50% of the time, and scaled up" in found.notes


def test_events_that_hardly_ran_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CounterError, match="perf counted only 29% of the run"):
        traffic("zen5", times() + lines((100,) * 4, (10,) * 4, running_ms=29), tmp_path)


def test_a_node_without_the_program_does_not_refuse_it(tmp_path: Path) -> None:
    counts = [count("time", cpu, running_ms=200 if cpu < 2 else 0) for cpu in range(4)]
    counts += lines((5, 5), (5, 5), running_ms=200)
    counts += [count(event, cpu, running_ms=0) for event in ("local_lines.0", "remote_lines.1") for cpu in (2, 3)]
    found = traffic("zen5", counts, tmp_path)
    assert [(node.local_bytes, node.remote_bytes) for node in found.nodes] == [(640.0, 640.0), (0.0, 0.0)]
    assert found.running_share == 1.0


def test_a_moment_on_a_node_does_not_refuse_the_run(tmp_path: Path) -> None:
    counts = [count("time", cpu, running_ms=200 if cpu < 2 else 1) for cpu in range(4)]
    counts += lines((5, 5), (5, 5), running_ms=200)
    counts += [count(event, cpu, running_ms=0) for event in ("local_lines.0", "remote_lines.1") for cpu in (2, 3)]
    found = traffic("zen5", counts, tmp_path)
    assert found.running_share == 1.0
    assert found.nodes[1].local_bytes == 0.0


def test_a_program_that_was_elsewhere_is_reported(tmp_path: Path) -> None:
    everywhere = {**count("all-time", 0, running_ms=800, enabled_ms=800), "cpu": None}
    counts = [*times(), everywhere, *lines((1,) * 4, (1,) * 4)]
    assert "the program was 50% of its time on PUs that were not counted" in traffic("zen5", counts, tmp_path).notes


def test_a_program_that_was_nowhere_is_refused(tmp_path: Path) -> None:
    counts = [count("time", cpu, running_ms=0) for cpu in range(4)] + lines((0,) * 4, (0,) * 4, running_ms=0)
    with pytest.raises(CounterError, match="ran on none of the PUs"):
        traffic("zen5", counts, tmp_path)


def test_on_arm_local_is_what_is_not_remote(tmp_path: Path) -> None:
    counts = times()
    counts += [count("all_lines.0", cpu, value) for cpu, value in enumerate((10, 10, 1, 1))]
    counts += [count("remote_lines.1", cpu, value) for cpu, value in enumerate((4, 0, 2, 1))]
    found = traffic("neoverse-v2", counts, tmp_path)
    assert [(node.local_bytes, node.remote_bytes) for node in found.nodes] == [(16 * 64.0, 4 * 64.0), (0.0, 3 * 64.0)]


def controllers(read: dict[int, int], written: dict[int, int], cpus: tuple[int, ...] = (0, 2)) -> list[dict[str, Any]]:
    return [
        count(f"controller_{role}.{i}.uncore_imc_{n}", cpu, values[cpu] + n, running_ms=500, enabled_ms=500)
        for i, (role, values) in enumerate((("read", read), ("write", written)))
        for n in range(2)
        for cpu in cpus
    ]


def test_controllers_belong_to_the_only_node_of_their_package(tmp_path: Path) -> None:
    counts = times() + lines((1,) * 4, (1,) * 4) + controllers({0: 100, 2: 1000}, {0: 10, 2: 20})
    found = traffic("haswell-ep", counts, tmp_path)
    # Two controllers each: 100 + 101 lines read and 10 + 11 written of node 10, which CPU 0 counts.
    assert [node.controller_bytes for node in found.nodes] == pytest.approx([222 * 64, 2042 * 64])


def test_controllers_of_a_package_with_two_nodes_are_not_divided(tmp_path: Path) -> None:
    counts = times() + lines((1,) * 4, (1,) * 4) + controllers({0: 1}, {0: 1}, cpus=(0,))
    found = traffic("sapphire-rapids", counts, tmp_path)
    assert [node.controller_bytes for node in found.nodes] == [None, None]
    assert found.notes[-1].endswith("a package here has several NUMA nodes")
    assert found.tells_local


def test_controllers_that_are_forbidden_leave_the_programs_own_figures(tmp_path: Path) -> None:
    counts = times() + lines((1,) * 4, (1,) * 4)
    counts.append({"event": "controller_read.0.uncore_imc_0", "cpu": 0, "errno": 13})
    found = traffic("haswell-ep", counts, tmp_path)
    assert found.nodes[0].controller_bytes is None
    assert found.nodes[0].local_bytes == 128.0
    assert "EACCES, Permission denied" in found.notes[-1]
    assert found.notes[-1].endswith("numapredict-launch or sudo sysctl kernel.perf_event_paranoid=0")


def test_counting_without_the_kernels_part_is_reported(tmp_path: Path) -> None:
    counts = times() + lines((1,) * 4, (1,) * 4)
    counts[-1]["user_only"] = True
    assert any("kernel.perf_event_paranoid forbids" in note for note in traffic("zen5", counts, tmp_path).notes)


def test_an_event_that_was_not_opened_is_an_error_with_its_reason(tmp_path: Path) -> None:
    counts = times() + lines((1,) * 4, (1,) * 4)
    counts[-1] = {"event": "remote_lines.1", "cpu": 3, "errno": 24}
    with pytest.raises(CounterError, match="EMFILE: more events than open files"):
        traffic("zen5", counts, tmp_path)


def test_an_event_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CounterError, match=r"lack the event remote_lines\.1 on some PUs"):
        traffic("zen5", (times() + lines((1,) * 4, (1,) * 4))[:-1], tmp_path)


def test_a_run_on_pus_of_another_machine_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(CounterError, match=r"no PU of \[7, 8\] belongs to the machine"),
        PerfSource(shape([2, 2]), write_tree("zen5", tmp_path)).counting((8, 7), tmp_path),
    ):
        pass


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"version": 1, "counts": [',
        '{"version": 2, "counts": []}',
        '{"version": 1, "counts": [{"event": "a", "cpu": -1}]}',
        '{"version": 1, "counts": [{"event": "a", "value": "many"}]}',
        "\xff",
    ],
)
def test_a_file_that_is_none_of_the_launchers_is_one_line(text: str, tmp_path: Path) -> None:
    file = tmp_path / "perf.json"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(CounterError) as caught:
        read_counts(file)
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(CounterError, match="No such file or directory; run again"):
        read_counts(tmp_path / "perf.json")
