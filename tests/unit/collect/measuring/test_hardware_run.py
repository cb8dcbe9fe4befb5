"""One measurement step by step: endings, disturbances, clocks and counters are planted, for none come on demand."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Mapping as Variables
from pathlib import Path

import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring import hardware_run
from numapredict.collect.measuring.counters.calibration import CalibratedSource
from numapredict.collect.measuring.counters.source import Counting, NodeTraffic, Obstacle, Traffic
from numapredict.collect.measuring.disturbance import Disturbance, DisturbanceReason
from numapredict.collect.measuring.hardware import Computer, HardwareMachine
from numapredict.collect.measuring.repetitions import others_noted
from numapredict.collect.measuring.stopping_rule import StoppingRule
from numapredict.collect.placing.launcher import launcher_command
from numapredict.collect.placing.process import Ending
from numapredict.collect.program import Program
from numapredict.collect.topology import Core, Node, Topology
from numapredict.native.errors import CounterError

pytestmark = pytest.mark.native
PU = min(os.sched_getaffinity(0))
HERE = Topology("this-computer", (Node(0, 0, (Core(0, (PU,)),), 1 << 30),), (), ((10.0,),))
ONE = parse_label("1x1-contiguous-bind")


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Measurement]:
    """Run a measurement whose runs take planned times, and are disturbed and clocked as planned."""

    def measure(
        runs: list[tuple[float, float, tuple[DisturbanceReason, ...]]], stopping_rule: StoppingRule
    ) -> Measurement:
        left = iter(runs)
        now: list[tuple[float, float, tuple[DisturbanceReason, ...]]] = []

        def execute(*_: object) -> Ending:
            now.append(next(left))
            ended = now[-1][0] < 0  # the limit's seconds
            return Ending(abs(now[-1][0]), -9 if ended else 0, ended, "ended" if ended else "")

        def judge(_before: object, _after: object, _pus: int, highest_MHz: float) -> Disturbance:
            asked.append(highest_MHz)
            return Disturbance(others=0.0, frequency_MHz=now[-1][1], reasons=now[-1][2])

        monkeypatch.setattr(hardware_run, "disturbance", judge)
        monkeypatch.setattr(hardware_run, "wait_for_quiet", lambda *given: waited.append(given))
        machine = HardwareMachine(HERE, repetitions=stopping_rule, warm_up=0, computer=Computer(execute))
        return machine.run(Program(name="true", command=("true",)), ONE)

    asked.clear()
    waited.clear()
    return measure


asked: list[float] = []
waited: list[object] = []


def test_disturbed_runs_are_left_out_and_their_times_noted(planned: Callable[..., Measurement]) -> None:
    load = (DisturbanceReason("programs", 1.0, 1),)
    found = planned(
        [(1.0, 0.0, ()), (9.0, 0.0, load), (1.1, 0.0, ()), (8.0, 0.0, load), (1.2, 0.0, ())],
        StoppingRule(least=3, most=3, redo=5, patience_s=0.7),
    )
    assert [repetition.time_s for repetition in found.repetitions] == [1.0, 1.1, 1.2]
    notes = dict(found.provenance)
    assert notes["redone"] == f"2 (9, 8 s): {load[0].words}"
    assert "disturbed" not in notes
    assert waited == [((PU,), 0.7)] * 2


def test_after_so_many_disturbed_ones_they_are_kept(planned: Callable[..., Measurement]) -> None:
    load = (DisturbanceReason("programs", 1.0, 1),)
    found = planned([(float(n), 0.0, load) for n in range(1, 6)], StoppingRule(least=3, most=3, redo=2))
    assert [repetition.time_s for repetition in found.repetitions] == [3.0, 4.0, 5.0]
    notes = dict(found.provenance)
    assert notes["redone"].startswith("2 (1, 2 s)")
    assert notes["disturbed"].startswith("3 of 3")


@pytest.mark.parametrize("kind", ["programs", "hypervisor"])
def test_what_others_took_of_a_run_that_counts_is_noted(planned: Callable[..., Measurement], kind: str) -> None:
    load = (DisturbanceReason(kind, 0.4, 1), DisturbanceReason("heat"))  # type: ignore[arg-type]
    once = StoppingRule(least=1, most=1, redo=2)
    assert others_noted(planned([(1.0, 0.0, load)] * 3, once)) == load[0].words
    assert others_noted(planned([(1.0, 0.0, load), (1.0, 0.0, ())], once)) == "", "it was made again"
    assert others_noted(planned([(1.0, 0.0, load[1:])] * 3, once)) == ""


def test_a_run_that_was_ended_beside_a_load_says_so(planned: Callable[..., Measurement]) -> None:
    load = (DisturbanceReason("programs", 1.0, 1),)
    found = planned([(-1.0, 0.0, load)], StoppingRule(least=1, most=1, redo=2))
    assert found.status == "timeout"
    assert others_noted(found) == load[0].words


def test_what_every_run_has_is_noted_and_not_redone(planned: Callable[..., Measurement]) -> None:
    """Automatic NUMA balancing, on by default on NUMA servers, moves pages in every run of some programs."""
    moved = (DisturbanceReason("pages", 3000),)
    found = planned([(1.0, 0.0, moved)] * 3, StoppingRule(least=3, most=3, redo=5))
    assert not waited
    assert "redone" not in dict(found.provenance)
    assert dict(found.provenance)["disturbed"] == "3 of 3: the kernel moved 3000 pages between nodes"


def test_a_clock_is_held_against_the_fastest_of_all_runs(planned: Callable[..., Measurement]) -> None:
    slow = (DisturbanceReason("clock", 900.0, 2000.0),)
    planned(
        [(1.0, 1500.0, ()), (1.0, 2000.0, slow), (1.0, 900.0, ()), (1.0, 1800.0, ())],
        StoppingRule(least=3, most=3, redo=5),
    )
    assert asked == [0.0, 1500.0, 2000.0, 2000.0]


def test_scattered_times_are_repeated(planned: Callable[..., Measurement]) -> None:
    times = [1.0, 2.0, 3.0, 1.0, 2.0]
    assert len(planned([(t, 0.0, ()) for t in times], StoppingRule(least=2, most=5, redo=0)).repetitions) == 5
    assert len(planned([(1.0, 0.0, ())] * 5, StoppingRule(least=2, most=5, redo=0)).repetitions) == 2


CAMPAIGN = """
import sys
from pathlib import Path
from numapredict.predictor.command_line.main import main
sys.argv = ["numapredict", "collect", "campaign", "--into", sys.argv[1], "--program", sys.argv[2],
            "--mapping", "1x1-contiguous-bind", "--repetitions", "1"]
sys.exit(main())
"""


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start a campaign whose program waits for ever, and say the program's process number."""
    script = tmp_path / "app"
    script.write_text(
        f"#!/bin/sh\necho $$ > {tmp_path}/pid.new\nmv {tmp_path}/pid.new {tmp_path}/pid\nexec sleep 1000\n"
    )
    script.chmod(0o755)
    folder = tmp_path / "temporary"
    folder.mkdir()
    command = [sys.executable, "-c", CAMPAIGN, str(tmp_path / "into"), str(script)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(folder)}) as process:
        while not (tmp_path / "pid").exists():
            assert process.poll() is None
            time.sleep(0.01)
        try:
            yield process, int((tmp_path / "pid").read_text())
        finally:
            process.kill()


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL])
def test_no_program_outlives_its_campaign(
    campaign: tuple[subprocess.Popen[bytes], int], number: signal.Signals, tmp_path: Path
) -> None:
    process, pid = campaign
    assert is_running(pid)
    process.send_signal(number)
    code = process.wait(60)
    for _ in range(1000):  # a killed process is gone a moment later
        if not is_running(pid):
            break
        time.sleep(0.01)
    assert not is_running(pid)
    if number == signal.SIGKILL:
        assert code == -signal.SIGKILL
    else:
        assert code == 128 + number
        assert list((tmp_path / "temporary").iterdir()) == []


def test_region_times_are_of_the_run_itself(tmp_path: Path) -> None:
    """A run that writes none has none, whatever the one before it left; and never more than the run took."""
    script = tmp_path / "app"
    script.write_text(f'#!/bin/sh\necho "$NUMAPLACE" >> {tmp_path}/log\n')
    script.chmod(0o755)
    found = HardwareMachine(HERE, repetitions=2).run(Program(name="app", command=(str(script),)), ONE)
    assert [repetition.region_time_s for repetition in found.repetitions] == [None, None]
    assert json.dumps((tmp_path / "log").read_text()).count("report=") == 3


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
            reported = f"date +%s.%N >> {tmp_path}/times"
            return ("sh", "-c", f'sleep 0.7; {reported}; "$@"; {reported}; sleep 0.7', "sh", *wrapped)

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
