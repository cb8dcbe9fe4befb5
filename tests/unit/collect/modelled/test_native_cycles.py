"""Cycles of made-up native runs, known exactly: two threads with so many instructions, and lines of memory."""

import msgspec
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.native_computer import NativeComputer
from numapredict.collect.modelled.native_cycles import NativeCycles, cycles_note, native_cycles, native_cycles_in_words
from numapredict.collect.modelled.phases import phase_trace
from numapredict.collect.placing.census import Census, CensusRegion
from tests.traces import Segment, machine_of, trace_of

pytestmark = pytest.mark.native  # native/replay has the shared cache

A, B, N = 7, 8, 10_000_000
HERE = NativeComputer(
    processor="A CPU",
    frequency_GHz=2.0,
    latency_ns=50.0,
    read_GBps=64.0,
    write_GBps=64.0,
    cache_bytes=1 << 20,
    cache_ns=10.0,
)
MACHINE = machine_of((4, 4))  # 1 GHz, a cycle an instruction, 100 ns


def census_of(*work_s: float, count: int = 4, team: int = 2, others_s: float = 0.0) -> Census:
    """Return the census of a region of whose instances the first took the processor so long, and of an untraced one."""
    regions = (
        CensusRegion(A, count, 1.0, A, team, "app", work_s=work_s),
        CensusRegion(B, 1, others_s, B, team, "app"),
    )
    return Census(regions, 1.0 + others_s, 0.0, complete=True)


def cycles_of(census: Census, misses: int = 0) -> NativeCycles | None:
    """Return the cycles of a program with N instructions a thread and instance, and so many dependent misses."""
    segments = [
        Segment(
            region=A,
            thread=thread,
            team=2,
            instructions=N,
            records=[(misses * thread + n, t.DEPENDENT, n) for n in range(misses)],
        )
        for thread in range(2)
    ]
    return native_cycles(phase_trace(trace_of(segments), census, 2), census, HERE, MACHINE, 1)


def test_a_run_without_memory_gives_its_cycles_by_the_clock_of_its_computer() -> None:
    # 2 threads, 0.6 ns an instruction: 1.2 cycles at 2 GHz, whatever the machine's clock. The first instance is slow.
    found = cycles_of(census_of(9.0, 2 * N * 0.6e-9, 2 * N * 0.6e-9))
    assert found is not None
    assert found.cycles == pytest.approx(1.2, rel=1e-3)
    assert (found.processor, found.frequency_GHz) == ("A CPU", 2.0)


def test_a_run_of_one_instance_has_no_other() -> None:
    found = cycles_of(census_of(2 * N * 0.6e-9, count=1))
    assert found is not None
    assert found.cycles == pytest.approx(1.2, rel=1e-3)


def test_waits_for_the_memory_of_its_computer_are_not_in_the_cycles() -> None:
    # 1000 misses a thread wait 50 ns each here, and would wait 100 on the machine.
    waits_s = 2 * 1000 * 50e-9
    found = cycles_of(census_of(9.0, 2 * N * 0.6e-9 + waits_s), misses=1000)
    assert found is not None
    assert found.cycles == pytest.approx(1.2, rel=1e-3)


def test_cycles_are_at_most_four_times_the_description_s() -> None:
    found = cycles_of(census_of(2 * N * 9e-9, count=1))
    assert found is not None
    assert found.cycles == pytest.approx(4.0, rel=1e-3)


@pytest.mark.parametrize(
    "census",
    [
        census_of(2 * N * 0.4e-9),  # 0.8 cycles: fewer than a loop that fills the machine's cores has
        census_of(1e-3, count=1),  # too short for a clock
        census_of(),  # without work
        census_of(0.1, team=4),  # in another number of threads than the trace's
        census_of(0.1, others_s=1.1),  # most of the time is of a region that the trace did not see
    ],
)
def test_a_run_that_tells_nothing_gives_no_cycles(census: Census) -> None:
    assert cycles_of(census) is None


def test_the_words_name_the_computer() -> None:
    note = cycles_note(NativeCycles(0.5432, "A CPU", 3.6917), MACHINE)
    mapping = parse_label("2x1-contiguous-bind")
    run = Measurement(program="app", mapping=mapping, machine="box", modelled=True, status="ok", provenance=note)
    assert native_cycles_in_words([run, run, msgspec.structs.replace(run, program="b", provenance=())]) == (
        "cycles an instruction of app: 0.543, as in its native run here on A CPU at 3.69 GHz",
    )
