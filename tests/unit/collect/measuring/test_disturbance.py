import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.host.processor_times import TICK_S
from numapredict.collect.measuring.disturbance import (
    Disturbance,
    DisturbanceReason,
    Snapshot,
    Speeds,
    disturbance,
    snapshot,
    wait_for_quiet,
)

STAT = """cpu  900 0 900 0 0 0 0 0 0 0
cpu0 100 5 20 7000 300 3 2 10 50 0
cpu1 200 0 30 7000 300 0 0 0 0 0
cpu10 5000 0 0 0 0 0 0 0 0 0
intr 1
"""
QUIET = Snapshot(at_s=10.0, busy_s=100.0, stolen_s=0.0, own_s=50.0, pages_moved=7, throttled=3, frequency_MHz=2000.0)


def computer(root: Path) -> Path:
    for name, text in {
        "proc/stat": STAT,
        "proc/vmstat": "numa_hit 5\nnuma_pages_migrated 17\npgmigrate_success 99\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "2000000\n",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq": "3000000\n",
        "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "4\n",
        "sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count": "5\n",
        "sys/devices/system/cpu/cpu10/thermal_throttle/core_throttle_count": "1000\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def after(**changes: float) -> Snapshot:
    """Return two seconds on two PUs later: four seconds of which the program took all."""
    later = {"at_s": 12.0, "busy_s": 104.0, "own_s": 54.0} | changes
    return msgspec.structs.replace(QUIET, **later)


def found(**changes: float) -> Disturbance:
    return disturbance(QUIET, after(**changes), 2)


def test_the_kernels_counts_are_read_for_the_pus_that_are_used(tmp_path: Path) -> None:
    seen = snapshot([0, 1], root=computer(tmp_path))
    assert seen.busy_s == pytest.approx((100 + 5 + 20 + 3 + 2 + 230) * TICK_S)
    assert seen.stolen_s == pytest.approx(10 * TICK_S)
    assert (seen.pages_moved, seen.throttled) == (17, 9)


def test_a_kernel_that_tells_nothing_disturbs_nothing(tmp_path: Path) -> None:
    before = snapshot([0], root=tmp_path)
    assert (before.busy_s, before.pages_moved, before.throttled, before.frequency_MHz) == (0, 0, 0, 0)
    assert disturbance(before, snapshot([0], root=tmp_path), 1).reasons == ()


def test_a_run_alone_is_not_disturbed() -> None:
    assert found() == Disturbance(others=0.0, frequency_MHz=2000.0, reasons=())
    assert found(busy_s=104.2).reasons == ()  # a tenth of a PU
    assert found(own_s=60.0).others == 0.0  # this process ran elsewhere
    assert found(pages_moved=207).reasons == ()  # in two seconds


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"own_s": 52.0}, "other programs used 1.0 of its 2 PUs"),
        ({"stolen_s": 1.0, "own_s": 53.0, "busy_s": 103.0}, "the hypervisor took 25% of its PUs"),
        ({"pages_moved": 208}, "the kernel moved 201 pages between nodes"),
        ({"throttled": 4}, "the processor was throttled for its heat"),
    ],
)
def test_what_disturbed_a_run_is_named(changes: dict[str, float], reason: str) -> None:
    assert [one.words for one in found(**changes).reasons] == [reason]


@pytest.mark.parametrize("pus", [1, 2, 8, 24, 64, 128])
@pytest.mark.parametrize("wall_s", [1.0, 5.0, 30.0])
def test_one_pu_that_others_hold_is_seen_among_any_number(pus: int, wall_s: float) -> None:
    """It delays each barrier, and so all of them."""
    own = {"at_s": 10 + wall_s, "own_s": 50 + wall_s * (pus - 1)}
    shared = after(**own, busy_s=100 + wall_s * pus)
    assert disturbance(QUIET, shared, pus).reasons == (DisturbanceReason("programs", 1.0, pus),)
    alone = after(**own, busy_s=100 + wall_s * (pus - 1) + 0.001 * wall_s * pus)
    assert disturbance(QUIET, alone, pus).reasons == ()


def test_clocks_are_looked_at_while_the_program_runs(tmp_path: Path) -> None:
    root = computer(tmp_path)
    speeds = Speeds([0, 1], root)
    assert speeds.median_MHz == 0
    speeds.look()
    (root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq").write_text("1000000\n")
    speeds.look()
    speeds.look()
    assert speeds.median_MHz == 2000
    none = Speeds(range(200, 300), root)
    none.look()
    assert none.median_MHz == 0


def test_a_slow_clock_is_one_that_was_faster_before() -> None:
    assert disturbance(QUIET, after(), 2, 2100.0).reasons == ()
    assert disturbance(QUIET, after(), 2, 3000.0).reasons == (DisturbanceReason("clock", 2000.0, 3000.0),)
    assert DisturbanceReason("clock", 2000.0, 3000.0).words == "the clock ran at 2000 MHz, not 3000"
    assert disturbance(QUIET, after(frequency_MHz=0.0), 2, 3000.0).reasons == ()


def test_a_short_run_is_given_the_grain_of_the_clock() -> None:
    short = msgspec.structs.replace(QUIET, at_s=10.01, busy_s=QUIET.busy_s + 2 * TICK_S)
    assert disturbance(QUIET, short, 2).reasons == ()
    assert disturbance(QUIET, msgspec.structs.replace(short, busy_s=QUIET.busy_s + 5 * TICK_S), 2).reasons


def test_another_programs_load_is_seen_on_this_computer() -> None:
    pu = min(os.sched_getaffinity(0))
    command = [sys.executable, "-c", f"import os; os.sched_setaffinity(0, {{{pu}}})\nwhile True: pass"]
    with subprocess.Popen(command) as load:
        try:
            while Path(f"/proc/{load.pid}/stat").read_text().rsplit(")", 1)[1].split()[11] == "0":
                time.sleep(0.01)  # until it has used a tick: the interpreter is up
            before = snapshot([pu])
            time.sleep(0.5)
            assert disturbance(before, snapshot([pu]), 1).reasons[0].kind == "programs"
            found = wait_for_quiet([pu], 0.3)
            assert found is not None
            assert found.busy.startswith("other programs used ")
        finally:
            load.kill()
