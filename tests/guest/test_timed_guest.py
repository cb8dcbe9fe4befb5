"""In a timed guest that stays up: which access takes longer than which, what is counted, which mapping is faster."""

import math
import signal
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from numapredict.collect.describing.sample import Pace
from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.counters.source import LINE_BYTES
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.program import CODELETS, Program
from tests.benchmarks.timed_programs import foreign
from tests.guest.described import comparisons, measured_guest
from tests.guest.errors import GuestError
from tests.guest.served_machine import ServedMachine, served_machine
from tests.guest.timed.checks import built_probe
from tests.guest.timed.configuration import Timing, timed_machine
from tests.guest.timed.counters import TimedCounting

pytestmark = pytest.mark.native

MOST_S = 900.0
ROUNDS = 3
INITIALISED = Path(__file__).parent / "programs" / "initialised.c"
FIRST_TOUCH, DATASET = parse_label("4x2-contiguous-first-touch"), parse_label("4x2-contiguous-dataset")
VARIABLES = {"OMP_NUM_THREADS": "4", "OMP_PROC_BIND": "true", "GUEST_PAYS": "other:pays"}
# Each prints a line a round; medians are compared, and only in their order.
PROBES = {
    "free": "./memory_probe chase 0 0 1024 5",
    "local": "./charged ./memory_probe chase 0 0 1024 5",
    "remote": "./charged ./memory_probe chase 0 1 1024 5",
    "near stream": "./charged ./memory_probe read 0 0 1024 5",
    "far stream": "./charged ./memory_probe read 0 1 1024 5",
    "named": "cp memory_probe pays; LD_PRELOAD=./libpaying.so ./pays chase 0 0 1024 5",
    "serial": "./charged ./initialised serial 2048 5",
    "parallel": "./charged ./initialised parallel 2048 5",
}


@pytest.fixture(scope="module")
def machine(guests: None) -> Iterator[ServedMachine]:
    with served_machine(Timing(timed_machine("guest-2x2")), 1, 0, MOST_S, ("numa_balancing=disable",)) as running:
        yield running


def said(machine: ServedMachine, script: str) -> list[float]:
    """Return the numbers that a script prints in the guest, run in its folder."""
    output = machine.guest.folder / "said"
    words = ["/bin/sh", "-c", f"exec >{output}; set -e\n{script}"]
    ending = machine.guest.run(words, VARIABLES, str(machine.guest.folder), MOST_S)
    assert ending.reason == ""
    numbers = [float(line) for line in output.read_text().splitlines()]
    output.unlink()
    return numbers


def test_memory_takes_longer_the_farther_it_is(machine: ServedMachine) -> None:
    folder = machine.guest.folder
    built_probe(folder)
    subprocess.run(["gcc", "-O2", "-fopenmp", "-o", str(folder / "initialised"), str(INITIALISED)], check=True)
    values = said(machine, "\n".join(PROBES.values()))
    middle = {name: statistics.median(values[5 * n : 5 * n + 5]) for n, name in enumerate(PROBES)}
    assert middle["free"] < middle["local"] < middle["remote"]
    assert middle["free"] < middle["named"] < middle["remote"]
    assert middle["near stream"] > middle["far stream"]  # GB/s
    assert middle["serial"] > middle["parallel"]


def test_one_core_measures_what_the_guest_was_made_of(machine: ServedMachine) -> None:
    found = measured_guest(machine.guest, machine.timing.machine, Pace(rounds=3, round_ms=100, attempts=1), (0,))
    ratios = {each.name: each.ratio for each in comparisons(found, machine.timing)}
    assert len(ratios) == 4 + 2 * 5
    assert {name: ratio for name, ratio in ratios.items() if not 0.9 < ratio < 1.1} == {}


def test_commands_end_as_they_do(machine: ServedMachine) -> None:
    def run(*words: str, most_s: float = 60.0) -> tuple[int, bool, str]:
        ending = machine.guest.run(words, {"WORD": "a b"}, "/usr", most_s, (1, 3))
        return ending.exit_code, ending.timed_out, ending.last_line

    assert run("/bin/sh", "-c", "echo first >&2; echo last $WORD >&2; exit 5") == (5, False, "last a b")
    assert run("/bin/sh", "-c", "kill -SEGV $$") == (-signal.SIGSEGV, False, "")
    assert run("/bin/sh", "-c", "sleep 60 & sleep 60", most_s=0.9) == (-signal.SIGKILL, True, "")
    assert run("/bin/sh", "-c", "pgrep sleep") == (1, False, "")
    assert run("/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status >&2")[2] == "Cpus_allowed_list:\t1,3"
    assert run("/bin/sh", "-c", "pwd >&2") == (0, False, "/usr")
    code, _, line = run("/nowhere")
    assert (code, line) == (127, "/nowhere: No such file or directory")
    with pytest.raises(GuestError, match="cannot run /bin/true: too many words"):
        machine.guest.run(["/bin/true"], dict.fromkeys(map(str, range(5000)), ""), None, 60)


def test_lines_are_counted_by_where_their_memory_is(machine: ServedMachine) -> None:
    triad = Program(name="triad", command=(CODELETS, "stream-triad", "--size", "tiny", "--iterations", "2"))
    near, far = (machine.run(triad, parse_label(f"1x1-contiguous-{policy}")) for policy in ("bind", "remote"))
    assert far_share(near) < 0.1
    assert far_share(far) > 0.9
    assert accesses(near) == pytest.approx(accesses(far), rel=0.1)


def test_a_killed_program_leaves_no_counts_to_the_next(machine: ServedMachine) -> None:
    triad = Program(name="triad", command=(CODELETS, "stream-triad", "--size", "tiny", "--iterations", "2"))
    before = accesses(machine.run(triad, DATASET))
    (killed,) = foreign(machine.guest.folder, 1000)[:1]
    counters = machine.hardware.conditions.counters
    assert counters is not None
    with counters.source.counting((0,), machine.guest.folder):
        words = (str(machine.guest.folder / "charged"), executable_of(killed), *killed.command[1:])
        assert machine.guest.run(words, {}, None, 4).timed_out
    told = counters.source.totals.stat().st_size
    after = accesses(machine.run(triad, DATASET))
    both = TimedCounting(counters.source.totals, 2, 2, told).traffic()
    moved = sum((each.local_bytes or 0) + (each.remote_bytes or 0) for each in both.nodes)
    left = moved / LINE_BYTES - after
    assert left > before
    # Threads that wait for others on a busy computer read more: a third more was seen.
    assert after == pytest.approx(before, abs=left / 2)


def test_the_kernel_may_patch_itself_while_all_cpus_run(machine: ServedMachine) -> None:
    flip = "for n in $(seq 40); do echo 0 >$file; echo 1 >$file; done"
    script = f"while :; do :; done & file=/proc/sys/kernel/numa_balancing; {flip}; echo 0 >$file; kill $!; cat $file"
    assert said(machine, script) == [0]


@pytest.mark.thorough
def test_three_programs_are_faster_where_their_memory_is_near(machine: ServedMachine) -> None:
    tiny = ("--size", "tiny", "--init", "serial", "--iterations")
    programs = (
        Program(name="triad", command=(CODELETS, "stream-triad", *tiny, "3")),
        Program(name="chase", command=(CODELETS, "pointer-chase", *tiny, "6")),
        foreign(machine.guest.folder, 2)[0],
    )
    assert programs[2].name == "steps.serial"
    for program in programs:
        near, far = [], []
        for _ in range(ROUNDS):
            near.append(machine.run(program, DATASET))
            far.append(machine.run(program, FIRST_TOUCH))
        assert statistics.median(map(region_s, near)) < statistics.median(map(region_s, far)), program.name


def region_s(measured: Measurement) -> float:
    assert measured.status == "ok", measured.message
    return measured.region_time_s or math.nan


def accesses(measured: Measurement) -> float:
    assert measured.counters is not None
    return measured.counters.remote_accesses + measured.counters.local_accesses


def far_share(measured: Measurement) -> float:
    assert measured.counters is not None
    far, near = measured.counters.remote_accesses, measured.counters.local_accesses
    assert near > 0
    return far / (far + near)
