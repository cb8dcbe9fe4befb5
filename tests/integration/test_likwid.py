"""LIKWID as it is installed, which refuses on computers without its processors; and with counts that it is given."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from numapredict.collect.host.host import host_topology
from numapredict.collect.host.packages import Package
from numapredict.collect.measuring.counters.likwid.source import LikwidSource, with_every_package
from numapredict.collect.measuring.counters.likwid.tool import installed
from numapredict.native.errors import CounterError, MissingNativePartError
from numapredict.native.library import launcher_program
from tests.golden.likwid import make
from tests.golden.likwid.recorded import Recorded, recorded, sysfs
from tests.golden.likwid.scenarios import SCENARIOS, Scenario

SCENARIO = {scenario.name: scenario for scenario in SCENARIOS}
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
SHOW = "import os, sys; print(sys.argv[1:], os.environ.get('LD_LIBRARY_PATH'), os.environ.get('OMP_NUM_THREADS'))"


@pytest.fixture(autouse=True)
def likwid() -> None:
    if shutil.which("likwid-perfctr") is None:
        pytest.skip("likwid-perfctr is not installed: the package likwid")


@pytest.fixture
def launcher() -> Path:
    try:
        return launcher_program()
    except MissingNativePartError as error:
        pytest.skip(str(error))


class Computer:
    """A scenario's computer: LIKWID with its counts, its sysfs and its registers' device."""

    def __init__(self, folder: Path, name: str, **further: object) -> None:
        self.reported, _ = recorded(name)
        (folder / "tool").mkdir(parents=True)
        self.tool = make.tool(folder / "tool", SCENARIO[name], **further)
        self.root = sysfs(folder / "root", self.reported)
        self.runs = folder / "runs"
        self.runs.mkdir()

    def source(self, group: str | None = None) -> LikwidSource:
        return LikwidSource(self.reported.topology, str(self.tool), self.root, group)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_the_recorded_outputs_are_what_likwid_prints(tmp_path: Path, scenario: Scenario) -> None:
    reported, text = recorded(scenario.name)
    assert make.output(tmp_path, scenario) == text
    assert list(reported.local_remote_controller_bytes) == scenario.expected()


def test_the_installed_likwid_counts_or_its_refusal_is_recognised(tmp_path: Path) -> None:
    source = LikwidSource(host_topology())
    obstacle = source.obstacle()
    refused = subprocess.run(["likwid-perfctr", "-a"], capture_output=True, text=True, check=False).stdout
    if "No groups defined" in refused:
        assert obstacle is not None
        assert obstacle.reason.startswith("LIKWID does not know this processor: 'No groups defined for")
        with pytest.raises(CounterError, match="does not know this processor"), source.counting([0], tmp_path):
            pass
    assert obstacle is None or "\n" not in obstacle.reason
    assert list(tmp_path.iterdir()) == []


def test_what_the_installed_likwid_says_on_trying_is_recognised(tmp_path: Path) -> None:
    """Asked to count at once, the library says more than the list of groups does."""
    tool = installed("likwid-perfctr")
    assert tool is not None
    said = ""
    try:
        text = tool.try_out("NUMA", [0], tmp_path / "trial.csv")
    except CounterError as error:
        said = str(error)
    known = "does not know this processor|msr|access daemon|perf_event_paranoid|lacks the group"
    assert re.fullmatch(f"[^:;]*({known})[^:;]*: .*", said) if said else "TABLE,Group 1 Metric" in text


def test_a_tool_that_is_not_there_says_how_to_install_it() -> None:
    obstacle = LikwidSource(host_topology(), tool="likwid-perfctr-of-nobody").obstacle()
    assert obstacle is not None
    assert obstacle.remedies == ("sudo apt-get install likwid",)


@pytest.mark.native
def test_numa_is_taken_before_mem(tmp_path: Path, launcher: Path) -> None:
    computer = Computer(tmp_path, "haswell-numa-2", groups=["MEM", "NUMA", "MEM_DP"])
    with computer.source().counting([0], computer.runs) as counting:
        command = counting.command(["true"], {})
    assert command[command.index("-g") + 1] == "NUMA"
    assert "-C" not in command  # it would bind the threads


def test_other_groups_than_numa_and_mem_are_not_taken(tmp_path: Path) -> None:
    both = Computer(tmp_path / "both", "haswell-numa-2", groups=["MEM", "NUMA"])
    neither = Computer(tmp_path / "neither", "zen3-numa-2", groups=["MEM1", "MEM2"])
    obstacle = neither.source().obstacle()
    assert obstacle is not None
    assert obstacle.reason == "LIKWID has no group NUMA or MEM for this processor, but MEM1, MEM2"
    assert both.source("MEM").obstacle() is None
    asked = neither.source("NUMA").obstacle()
    assert asked is not None
    assert "no group NUMA for" in asked.reason


@pytest.mark.parametrize("how", ["refuse", "warn"])
def test_a_refusal_on_trying_is_the_error_of_entering(tmp_path: Path, how: str) -> None:
    """With a warning LIKWID goes on, without the event."""
    refused = "ERROR: The selected register PMC0 is in use.\nPlease run likwid with force option (-f, --force)"
    computer = Computer(tmp_path, "haswell-numa-2", **{how: refused})
    assert computer.source().obstacle() is None
    with pytest.raises(CounterError, match="another tool counts"), computer.source().counting([0], computer.runs):
        pass
    assert list(computer.runs.iterdir()) == []


def test_a_tool_that_writes_nothing_is_refused(tmp_path: Path) -> None:
    computer = Computer(tmp_path, "haswell-numa-2")
    silent = tmp_path / "silent"
    silent.write_text(f'#!/bin/sh\n[ "$1" = -c ] || exec {computer.tool} "$@"\n')
    silent.chmod(0o755)
    source = LikwidSource(computer.reported.topology, str(silent), computer.root)
    with pytest.raises(CounterError, match="refuses and says nothing"), source.counting([0], computer.runs):
        pass


def test_a_group_without_the_volumes_is_refused_before_the_run(tmp_path: Path) -> None:
    only_rates = {"events": [{"counter": "PMC0", "event": "A"}], "metrics": [{"name": "Rate [1/s]", "formula": "PMC0"}]}
    computer = Computer(tmp_path, "haswell-numa-2", definition=only_rates)
    with pytest.raises(CounterError, match="has no Local data volume"), computer.source().counting([0], computer.runs):
        pass


def test_folders_that_likwid_would_take_apart_are_refused(tmp_path: Path) -> None:
    computer = Computer(tmp_path, "haswell-numa-2")
    for name in ("with blank", "100%"):
        folder = computer.runs / name
        folder.mkdir()
        with pytest.raises(CounterError, match="TMPDIR"), computer.source().counting([0], folder):
            pass


def test_pus_that_are_not_there_are_refused(tmp_path: Path) -> None:
    computer = Computer(tmp_path, "haswell-numa-2")
    for pus in ([], [0, 77]):
        with pytest.raises(CounterError, match="the topology has no such PUs"):
            computer.source().counting(pus, computer.runs).__enter__()


def test_a_likwid_of_another_version_is_refused(tmp_path: Path) -> None:
    computer = Computer(tmp_path, "haswell-numa-2")
    other = tmp_path / "other"
    other.write_text(
        f'#!/bin/sh\n[ "$1" = -v ] && echo "likwid-perfctr -- Version 4.3.4" || exec {computer.tool} "$@"\n'
    )
    other.chmod(0o755)
    obstacle = LikwidSource(computer.reported.topology, str(other), computer.root).obstacle()
    assert obstacle is not None
    assert "LIKWID 4.3, and only version 5" in obstacle.reason


def test_a_likwid_for_perf_goes_by_the_kernels_setting_and_not_by_registers(tmp_path: Path) -> None:
    """The real script looks at the kernel's own setting first, and refuses above 2."""
    level = int(PARANOID.read_text())
    computer = Computer(tmp_path, "haswell-mem-2", mode=-1)
    shutil.rmtree(computer.root / "dev")
    setting = computer.root / "proc/sys/kernel/perf_event_paranoid"
    setting.parent.mkdir(parents=True)
    for value, remedy in (("4", 0 if os.geteuid() else 2), ("0", None)):
        setting.write_text(value)
        obstacle = computer.source().obstacle()
        if level > 2:
            assert obstacle is not None
            assert "needs a lower kernel.perf_event_paranoid" in obstacle.reason
        elif remedy is None:
            assert obstacle is None
        else:
            assert obstacle is not None
            assert obstacle.remedies == (f"sudo sysctl kernel.perf_event_paranoid={remedy}",)


def test_each_package_is_counted_once_more_where_the_program_is_not() -> None:
    found = (Package(0, (0, 1, 4, 5), (0,)), Package(1, (2, 3, 6, 7), (1,)))
    assert with_every_package([5, 4], found) == (2, 4, 5)
    assert with_every_package([7, 0], found) == (0, 7)
    assert with_every_package([3], ()) == (3,)


@pytest.mark.native
@pytest.mark.parametrize("name", ["haswell-numa-2", "haswell-numa-4-half", "icelake-mem-2", "zen4-numa-2"])
def test_a_run_is_counted_from_end_to_end(
    tmp_path: Path, launcher: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    computer = Computer(tmp_path, name)
    arguments = ["two words", "", "a'b\"c", "*", "-c", "--", "$HOME"]
    source = computer.source()
    for path in ("/own/folder", ""):  # the second run needs no trial
        monkeypatch.setenv("LD_LIBRARY_PATH", path)
        with source.counting(computer.reported.pus, computer.runs) as counting:
            command = counting.command([sys.executable, "-c", SHOW, *arguments], {"OMP_NUM_THREADS": "3"})
            result = _run(command, {})
            assert result.returncode == 0, result.stderr
            assert result.stdout == f"{arguments} {path} 3\n"
            reported = [
                (node.local_bytes, node.remote_bytes, node.controller_bytes) for node in counting.traffic().nodes
            ]
        assert list(computer.runs.iterdir()) == []
        _assert_near(reported, computer.reported)


@pytest.mark.native
def test_the_exit_code_is_the_programs(tmp_path: Path, launcher: Path) -> None:
    computer = Computer(tmp_path, "haswell-numa-2")
    with computer.source().counting([0], computer.runs) as counting:
        result = _run(counting.command([sys.executable, "-c", "raise SystemExit(7)"], {}), {})
        assert result.returncode == 7
        assert counting.traffic().tells_local


@pytest.mark.native
def test_a_run_that_did_not_end_has_no_traffic(tmp_path: Path, launcher: Path) -> None:
    computer = Computer(tmp_path, "haswell-numa-2")
    with computer.source().counting([0], computer.runs) as counting:
        counting.command(["true"], {})
        with pytest.raises(CounterError, match="wrote no figures"):
            counting.traffic()


@pytest.mark.native
def test_figures_by_perf_are_noted(tmp_path: Path, launcher: Path) -> None:
    computer = Computer(tmp_path, "haswell-numa-2", mode=-1)
    if int(PARANOID.read_text()) > 2:  # the real script looks there and ends at once
        obstacle = computer.source().obstacle()
        assert obstacle is not None
        assert "needs a lower kernel.perf_event_paranoid" in obstacle.reason
        return
    setting = computer.root / "proc/sys/kernel/perf_event_paranoid"
    setting.parent.mkdir(parents=True)
    setting.write_text("2")
    with computer.source().counting([0], computer.runs) as counting:
        _run(counting.command(["true"], {}), {})
        assert "does not report whether it was multiplexed" in counting.traffic().notes[-1]


def _run(command: Sequence[str], variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        timeout=240,
        check=False,
    )


def _assert_near(reported: Sequence[tuple[float | None, float | None, float | None]], expected: Recorded) -> None:
    """LIKWID prints GB with four decimals: half of the last one may be missing for each PU."""
    for node, right in zip(reported, expected.local_remote_controller_bytes, strict=True):
        assert [value is None for value in node] == [value is None for value in right]
        for value, sure in zip(node, right, strict=True):
            assert value is None or value == pytest.approx(sure, abs=0.5e5 * len(expected.pus))
