"""Times of made-up traces on made-up machines, known to the nanosecond."""

from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.description import MachineDescription, TeamCost
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.native_computer import NativeComputer
from numapredict.collect.modelled.native_cycles import PROVENANCE, native_cycles_in_words
from numapredict.collect.modelled.trace import Trace
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.modelled.tracing import TraceBudget
from numapredict.collect.placing.census import Census, CensusRegion
from numapredict.collect.program import Program
from tests.traces import Segment, census_of, machine_of, trace_of
from tests.unit.collect.modelled.test_native_cycles import HERE

pytestmark = pytest.mark.native

A, N = 7, 100_000
PROGRAM = Program(name="p", command=("p",))
MACHINE = msgspec.structs.replace(
    machine_of((2, 2)),
    threads_per_core=2,
    smt_throughput=1.0,
    team_costs=(TeamCost(2, 1, 5.0, 2.0, 30.0, 70.0), TeamCost(2, 2, 8.0, 3.0, 50.0, 90.0)),
)


@dataclass
class Store:
    """A trace cache with one made-up trace, which says what it was asked for."""

    segments: list[Segment]
    asked: list[tuple[int, int]] = field(default_factory=list)
    budget: TraceBudget = field(default_factory=TraceBudget)

    def census(self, _program: Program) -> Census:
        return census_of((A, 4, 1.0))

    def trace(self, _program: Program, threads: int, siblings: int = 1) -> Trace:
        self.asked.append((threads, siblings))
        return trace_of(self.segments)


def region_ns(store: Store, label: str, machine: MachineDescription = MACHINE) -> float:
    made = ModelledMachine(machine, store)  # type: ignore[arg-type]
    return (made.run(PROGRAM, parse_label(label)).repetitions[0].region_time_s or 0.0) * 1e9


def parts(phases: int, instances: int = 2, **of_thread: object) -> list[Segment]:
    return [
        Segment(region=A, instance=instance, phase=phase, thread=thread, team=2, instructions=N, **of_thread)  # type: ignore[arg-type]
        for thread in range(2)
        for instance in range(instances)
        for phase in range(phases)
    ]


@pytest.mark.parametrize(
    ("label", "fork_join_ns", "barrier_ns"),
    [("2x1-contiguous-bind", 5000, 2000), ("2x2-contiguous-first-touch", 8000, 3000)],
)
def test_a_region_costs_its_start_and_end_and_each_barrier(label: str, fork_join_ns: int, barrier_ns: int) -> None:
    # Three parts between two barriers; two instances were traced of four, and an instruction takes a nanosecond.
    assert region_ns(Store(parts(3)), label) == pytest.approx(4 * (3 * N + fork_join_ns + 2 * barrier_ns))
    assert region_ns(Store(parts(1)), label) == pytest.approx(4 * (N + fork_join_ns))


def test_a_team_smaller_than_the_mapping_pays_for_its_own_threads() -> None:
    # Two threads on the first node of four threads on two.
    assert region_ns(Store(parts(3)), "4x2-contiguous-first-touch") == pytest.approx(4 * (3 * N + 5000 + 2 * 2000))


def test_each_thread_pays_for_its_chunks_and_locks() -> None:
    store = Store(parts(1, chunks=10, locks=4))
    assert region_ns(store, "2x1-contiguous-bind") == pytest.approx(4 * (N + 10 * 30 + 4 * 70 + 5000))
    busy = Store(parts(1, locks=4000))  # all of them, one after the other, are more than the rest
    assert region_ns(busy, "2x1-contiguous-bind") == pytest.approx(4 * (2 * 4000 * 70 + 5000))


def test_two_threads_of_a_core_share_it_and_its_private_cache() -> None:
    store = Store(parts(1))
    assert region_ns(store, "2x1-contiguous-bind-smt2") == pytest.approx(4 * (2 * N + 5000))
    assert region_ns(store, "2x1-contiguous-bind") == pytest.approx(4 * (N + 5000))
    assert store.asked == [(2, 2), (2, 1)]
    spread = Store(parts(1))
    region_ns(spread, "2x2-contiguous-first-touch-smt2")  # one on each node: nobody shares a core
    assert spread.asked == [(2, 1)]


def test_chunks_end_within_half_of_one_of_each_other() -> None:
    uneven = [
        Segment(region=A, thread=0, team=2, instructions=3 * N, chunks=3, flags=t.DYNAMIC),
        Segment(region=A, thread=1, team=2, instructions=N, chunks=1, flags=t.DYNAMIC),
    ]
    # Two chunks a thread: half a chunk more than the mean is a quarter of it.
    assert region_ns(Store(uneven), "2x1-contiguous-bind") == pytest.approx(4 * ((2 * N + 60) * 1.25 + 5000), rel=1e-4)


@dataclass
class StoreHere(Store):
    """A trace cache whose census has been taken on a computer of 2 GHz."""

    work_s: float = 0.0

    def census(self, _program: Program) -> Census:
        return Census((CensusRegion(A, 4000, 1.0, A, 2, "app", work_s=(self.work_s,) * 3),), 1.0, 0.0, complete=True)

    def computer(self, _program: Program) -> NativeComputer:
        return HERE


ASKS = msgspec.structs.replace(MACHINE, cycles_from_native_run=True)


def test_an_instruction_costs_what_the_native_run_says_where_the_machine_asks_for_it() -> None:
    store = StoreHere(parts(1), work_s=2 * N * 0.7e-9)
    # 0.7 ns at 2 GHz are 1.4 cycles, and the machine has 1 GHz.
    assert region_ns(store, "2x1-contiguous-bind", ASKS) == pytest.approx(4000 * (1.4 * N + 5000), rel=1e-3)
    assert region_ns(store, "2x1-contiguous-bind") == pytest.approx(4000 * (N + 5000))
    assert store.asked[0] == (2, 1)


def test_a_placed_run_has_the_same_cycles_and_a_measurement_a_note() -> None:
    store = StoreHere(parts(1), work_s=2 * N * 0.7e-9)
    made = ModelledMachine(ASKS, store)  # type: ignore[arg-type]
    measured = made.run(PROGRAM, parse_label("2x1-contiguous-bind"))
    assert dict(measured.provenance)[PROVENANCE] == "1.4, as in its native run here on A CPU at 2.00 GHz"
    pages = np.zeros(0, dtype=np.int32)
    assert made.run_placed(PROGRAM, (0, 0), pages)[0].time_s == measured.repetitions[0].time_s
    plain = ModelledMachine(MACHINE, store)  # type: ignore[arg-type]
    assert PROVENANCE not in dict(plain.run(PROGRAM, parse_label("2x1-contiguous-bind")).provenance)


def test_a_run_that_tells_nothing_leaves_the_cycles_of_the_description() -> None:
    made = ModelledMachine(ASKS, StoreHere(parts(1), work_s=0.0))  # type: ignore[arg-type]
    measured = made.run(PROGRAM, parse_label("2x1-contiguous-bind"))
    assert measured.repetitions[0].time_s == pytest.approx(4000 * (N + 5000) * 1e-9)
    assert native_cycles_in_words([measured]) == (
        "cycles an instruction of p: 1, as described: its native run here does not tell more",
    )


def test_the_trace_for_the_cycles_counts_among_those_to_take(tmp_path: Path) -> None:
    program = Program(name="true", command=("/bin/sh",))
    mapping = [parse_label("4x2-contiguous-first-touch")]
    for machine, threads in ((MACHINE, (4,)), (ASKS, (2, 4))):
        made = ModelledMachine(machine, TraceStore(machine, folder=tmp_path))
        assert made.traces_to_take(program, mapping).threads == threads
        assert made.traces_to_take(program, []).threads == ()
