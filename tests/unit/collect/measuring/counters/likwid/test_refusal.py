import os
from pathlib import Path

import pytest

from numapredict.collect.measuring.counters.likwid.refusal import (
    access_obstacle,
    has_rights,
    paranoid_obstacle,
    refusal,
)
from tests.golden.likwid.recorded import FOLDER

DAEMON = Path("/opt/likwid/sbin/likwid-accessD")
RIGHTS = (
    "sudo setcap cap_sys_rawio,cap_dac_override=ep /opt/likwid/sbin/likwid-accessD",
    "sudo chown root /opt/likwid/sbin/likwid-accessD && sudo chmod u+s /opt/likwid/sbin/likwid-accessD",
)
ELSEWHERE = ("other sources of counters may work: perf, resctrl",)
EXPECTED = {
    "unsupported-no-registers": ("does not know this processor: 'Unsupported Processor'", ELSEWHERE),
    "unsupported-daemon": ("does not know this processor: 'Unsupported Processor'", ELSEWHERE),
    "unsupported-groups": ("does not know this processor: 'No groups defined for nil'", ELSEWHERE),
    "no-registers": ("there is no /dev/cpu/*/msr: 'Cannot access MSR device", ("sudo modprobe msr", *RIGHTS)),
    "permissions": ("may not use /dev/cpu/*/msr: 'Cannot get access to MSRs", ("sudo modprobe msr", *RIGHTS)),
    "daemon": ('access daemon did not start: "Exiting due to timeout', ("sudo modprobe msr", *RIGHTS)),
    "paranoid": (
        "needs a lower kernel.perf_event_paranoid: 'Cannot use performance monitoring with perf_event_paranoid = 3'",
        ("sudo sysctl kernel.perf_event_paranoid=2", "sudo sysctl kernel.perf_event_paranoid=0"),
    ),
    "perf-event": ("refuses LIKWID an event: 'Setup of event", ("sudo sysctl kernel.perf_event_paranoid=0",)),
    "locked": (
        "lock is another user's: 'Access to performance counters is locked.'",
        ("ask the owner of /var/run/likwid.lock to remove it",),
    ),
    "cpuset": ('not in its cpuset: "CPUs given on commandline', ()),
    "group": ("lacks the group: 'Cannot read group file NUMA.txt", ("sudo apt-get install likwid",)),
    "direct-pci": ("only as root: 'Direct access to the PCI", RIGHTS),
    "in-use": (
        "another tool counts, or left a counter configured: 'ERROR: The selected register PMC0 is in use.'",
        ("stop other tools that count", "sudo sysctl kernel.nmi_watchdog=0"),
    ),
}


def test_every_recorded_refusal_is_expected() -> None:
    assert {path.stem for path in (FOLDER / "refusals").glob("*.txt")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_refusal_is_recognised_and_quoted_in_one_line(name: str) -> None:
    said = (FOLDER / "refusals" / f"{name}.txt").read_text(encoding="utf-8")
    obstacle = refusal(said, DAEMON)
    reason, remedies = EXPECTED[name]
    assert reason in obstacle.reason
    assert obstacle.remedies == remedies
    assert "\n" not in obstacle.reason


def test_an_unknown_refusal_is_quoted_without_the_header() -> None:
    said = "-----------\nCPU name:\tX\nCPU type:\tY\nWARN - [./src/a.c:f:12] Something new\nand more\n"
    assert refusal(said).reason == "LIKWID refuses: 'Something new'"
    assert refusal("\n").reason == "LIKWID refuses and says nothing"


def test_a_daemon_that_is_not_found_is_named_by_its_usual_place() -> None:
    assert refusal("Cannot get access to MSRs").remedies[-1].endswith("u+s /usr/sbin/likwid-accessD")


def registers(root: Path, mode: int = 0) -> Path:
    file = root / "dev/cpu/0/msr"
    file.parent.mkdir(parents=True)
    file.touch(mode)
    return root


def test_registers_are_there_or_a_module_is_missing(tmp_path: Path) -> None:
    obstacle = access_obstacle(tmp_path, DAEMON, superuser=True)
    assert obstacle is not None
    assert obstacle.remedies == ("sudo modprobe msr",)
    assert access_obstacle(registers(tmp_path), DAEMON, superuser=True) is None


@pytest.mark.parametrize("mark", [".dockerenv", "run/.containerenv"])
def test_in_a_container_the_module_is_loaded_outside(tmp_path: Path, mark: str) -> None:
    (tmp_path / mark).parent.mkdir(exist_ok=True)
    (tmp_path / mark).touch()
    obstacle = access_obstacle(tmp_path, DAEMON, superuser=True)
    assert obstacle is not None
    assert "container" in obstacle.reason
    assert obstacle.remedies[0] == "outside: sudo modprobe msr"


def test_a_user_needs_a_daemon_with_rights(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser may read everything")
    registers(tmp_path)
    without = access_obstacle(tmp_path, None, superuser=False)
    assert without is not None
    assert without.remedies == ("sudo apt-get install likwid",)
    daemon = tmp_path / "likwid-accessD"
    daemon.touch(0o755)
    powerless = access_obstacle(tmp_path, daemon, superuser=False)
    assert powerless is not None
    assert "has no rights" in powerless.reason
    assert str(daemon) in powerless.remedies[0]
    (tmp_path / "dev/cpu/0/msr").chmod(0o600)
    assert access_obstacle(tmp_path, daemon, superuser=False) is None


def test_rights_are_the_bit_of_a_file_of_root_or_a_capability(tmp_path: Path) -> None:
    daemon = tmp_path / "likwid-accessD"
    assert not has_rights(daemon)
    daemon.touch(0o755)
    assert not has_rights(daemon)
    daemon.chmod(0o4755)
    assert has_rights(daemon) == (os.geteuid() == 0)


@pytest.mark.parametrize(
    ("level", "group", "superuser", "needs"),
    [
        ("3", "NUMA", False, 2),
        ("3", "NUMA", True, 2),  # likwid-perfctr does not ask who runs it
        ("3", "MEM", True, 2),
        ("2", "NUMA", False, None),
        ("2", "MEM", False, 0),
        ("1", "MEM", False, 0),
        ("2", "MEM", True, None),
        ("0", "MEM", False, None),
        ("-1", "MEM", False, None),
    ],
)
def test_the_perf_backend_goes_by_the_kernels_setting(
    tmp_path: Path, level: str, group: str, superuser: bool, needs: int | None
) -> None:
    file = tmp_path / "proc/sys/kernel/perf_event_paranoid"
    file.parent.mkdir(parents=True)
    file.write_text(level + "\n")
    obstacle = paranoid_obstacle(tmp_path, group, superuser)
    assert (obstacle and obstacle.remedies) == (
        None if needs is None else (f"sudo sysctl kernel.perf_event_paranoid={needs}",)
    )


def test_a_kernel_without_perf_events_is_said(tmp_path: Path) -> None:
    obstacle = paranoid_obstacle(tmp_path, "NUMA", superuser=True)
    assert obstacle is not None
    assert "no perf events" in obstacle.reason
