"""Runs with counters: real programs and the real launcher, under made-up sources, since there may be none here."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Variables
from pathlib import Path

import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.counters.calibration import CalibratedSource
from numapredict.collect.measuring.counters.errors import CounterError
from numapredict.collect.measuring.counters.source import Counting, NodeTraffic, Obstacle, Traffic
from numapredict.collect.measuring.hardware import HardwareMachine
from numapredict.collect.placing.launcher import launcher_command
from numapredict.collect.program import Program
from numapredict.collect.topology import Core, Node, Topology

pytestmark = pytest.mark.native
PU = min(os.sched_getaffinity(0))
HERE = Topology("this-computer", (Node(0, 0, (Core(0, (PU,)),), 1 << 30),), (), ((10.0,),))
ONE = parse_label("1x1-contiguous-bind")


class MadeUp:
    """Counts 6.4e9 local bytes and 3.2e9 remote ones in each run, or fails where it is told to."""

    name = "made-up"

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.asked: list[tuple[int, ...]] = []

    def obstacle(self) -> Obstacle | None:
        return None

    @contextlib.contextmanager
    def counting(self, pus: Sequence[int], folder: Path) -> Iterator[Counting]:
        self.asked.append(tuple(pus))
        assert folder.is_dir()
        if self.fails == "entering":
            raise CounterError("it refuses after all")
        yield _Run(self.fails)
        if self.fails == "leaving":
            raise CounterError("its group stays")


class _Run:
    def __init__(self, fails: str) -> None:
        self.fails = fails

    def command(self, command: Sequence[str], variables: Variables[str, str]) -> tuple[str, ...]:
        return launcher_command(("env", "COUNTED=yes", *command), variables)

    def traffic(self) -> Traffic:
        if self.fails == "reading":
            raise CounterError("it wrote nothing")
        return Traffic("made-up", (NodeTraffic(6.4e9, 3.2e9),))


def measured(tmp_path: Path, source: MadeUp, line: str = "true") -> Measurement:
    script = tmp_path / "app"
    script.write_text(f'#!/bin/sh\necho "${{LD_PRELOAD##*/}} $COUNTED $NUMAPLACE" >> {tmp_path}/log\n{line}\n')
    script.chmod(0o755)
    machine = HardwareMachine(HERE, repetitions=2, counters=lambda: CalibratedSource(source, 2.0))
    return machine.run(Program(name="app", command=(str(script),)), ONE)


def test_each_timed_run_is_counted_and_set_right_by_the_factor(tmp_path: Path) -> None:
    source = MadeUp()
    found = measured(tmp_path, source)
    assert source.asked == [(PU,)] * 2
    for repetition in found.repetitions:
        assert repetition.counters is not None
        (node,) = repetition.counters.nodes
        assert (node.local_accesses, node.remote_accesses) == (3.2e9 / 64, 1.6e9 / 64)
        assert node.local_bandwidth_GBps == pytest.approx(3.2 / repetition.time_s)
        assert node.remote_bandwidth_GBps == pytest.approx(1.6 / repetition.time_s)
        assert repetition.local_share == pytest.approx(2 / 3)
    notes = dict(found.provenance)
    assert notes["counters"] == "made-up, which counts 2.00 bytes for each one moved"
    assert "uncounted" not in notes


def test_the_library_is_for_the_program_and_not_for_what_counts_it(tmp_path: Path) -> None:
    """What wraps the program would otherwise be placed itself, and would be the first to take the threads' slots."""
    source = MadeUp()
    measured(tmp_path, source)
    first, *counted = (tmp_path / "log").read_text().splitlines()
    assert first.startswith("libnumaplace.so  version=1")  # the warm-up
    assert len(counted) == 2
    for line in counted:
        assert line.startswith("libnumaplace.so yes version=1")


@pytest.mark.parametrize(
    ("fails", "says"),
    [("entering", "it refuses after all"), ("reading", "it wrote nothing"), ("leaving", "its group stays")],
)
def test_a_source_that_fails_costs_the_counters_and_not_the_times(tmp_path: Path, fails: str, says: str) -> None:
    found = measured(tmp_path, MadeUp(fails))
    assert found.status == "ok"
    assert len(found.repetitions) == 2
    assert [r.counters is None for r in found.repetitions] == [fails != "leaving"] * 2
    assert dict(found.provenance)["uncounted"] == f"2 of 2: {says}"


def test_the_time_is_the_programs_own(tmp_path: Path) -> None:
    """What counts it may take long to start and to end."""

    class Slow(MadeUp):
        @contextlib.contextmanager
        def counting(self, pus: Sequence[int], folder: Path) -> Iterator[Counting]:
            with super().counting(pus, folder) as run:
                yield _Slow(run)

    class _Slow:
        def __init__(self, run: Counting) -> None:
            self.run = run

        def command(self, command: Sequence[str], variables: Variables[str, str]) -> tuple[str, ...]:
            wrapped = self.run.command(command, variables)
            told = f"date +%s.%N >> {tmp_path}/times"
            return ("sh", "-c", f'sleep 0.7; {told}; "$@"; {told}; sleep 0.7', "sh", *wrapped)

        def traffic(self) -> Traffic:
            return self.run.traffic()

    found = measured(tmp_path, Slow(), "sleep 0.1")
    times = [float(line) for line in (tmp_path / "times").read_text().split()][-4:]  # of two runs
    for repetition, began_s, ended_s in zip(found.repetitions, times[::2], times[1::2], strict=True):
        assert 0.1 <= repetition.time_s <= ended_s - began_s
        assert repetition.counters is not None
        assert repetition.counters.nodes[0].local_bandwidth_GBps == pytest.approx(3.2 / repetition.time_s)


def test_a_program_that_fails_is_reported_as_without_counters(tmp_path: Path) -> None:
    found = measured(tmp_path, MadeUp(), line='test -z "$COUNTED" || { echo broken >&2; exit 5; }')
    assert (found.status, found.message) == ("crashed", "exit code 5: broken")
    found = measured(tmp_path, MadeUp(), line='test -z "$COUNTED" || kill -SEGV $$')
    assert found.message == "killed by SIGSEGV"


def test_counters_are_looked_for_at_the_first_measurement_and_once(tmp_path: Path) -> None:
    looked = []

    def look() -> None:
        looked.append(1)

    machine = HardwareMachine(HERE, repetitions=1, warm_up=0, counters=look)
    assert looked == []
    program = Program(name="true", command=("true",))
    notes = [dict(machine.run(program, ONE).provenance) for _ in range(2)]
    assert len(looked) == 1
    assert notes[0]["counters"] == "none: times and sampled touches of pages only"
