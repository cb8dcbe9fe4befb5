"""What every memory-bound or compute-bound program does on any NUMA machine, asked of the modelled ones."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numapredict.collect.campaign.codelets import codelet_programs
from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Repetition
from numapredict.collect.modelled.description import load_description
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.program import Program
from numapredict.collect.space import full_space
from tests.openmp import BUDGET, CAN_TRACE, program_of
from tests.traces import machine_of

pytestmark = [
    pytest.mark.native,
    pytest.mark.thorough,
    pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed"),
]

NODES, CORES = 4, 4
THREADS = 8
DOUBLES = 256 * 1024  # three arrays of 2 MB; the made-up shared cache has 64 KB
MACHINES = ("sandybridge-4x8", "broadwell-2x10", "lpdquad", "lpd48core")
STREAMED, WAITED_FOR = "triad", "list"


def made_up(cache: Path, node_GBps: float, link_GBps: float) -> ModelledMachine:
    """Return a machine whose four nodes all have links to each other: each node is as good as any."""
    description = machine_of((CORES,) * NODES, node_GBps=node_GBps, link_GBps=link_GBps, thread_GBps=20.0)
    return ModelledMachine(description, TraceStore(description, BUDGET, folder=cache))


def dealt_out(
    machine: ModelledMachine, program: Program, threads: tuple[int, ...], pages: tuple[int, ...]
) -> Repetition:
    address = machine.traced(program, len(threads)).pages.address
    return machine.run_placed(program, threads, np.array(pages, dtype=np.int32)[address % len(pages)])[0]


def region_s(run: Repetition) -> float:
    assert run.region_time_s is not None
    return run.region_time_s


EVERYWHERE = tuple(thread // CORES for thread in range(NODES * CORES))


def test_memory_bound_work_speeds_up_with_page_nodes(kernels: Path, cache: Path) -> None:
    machine = made_up(cache, node_GBps=10.0, link_GBps=1e6)
    program = program_of(kernels, STREAMED, DOUBLES, "parallel")
    times = [region_s(dealt_out(machine, program, EVERYWHERE, tuple(range(n)))) for n in (1, 2, 3, 4)]
    assert times == sorted(times, reverse=True)
    assert times[0] / times[1] > 1.8  # the controllers are all that bounds it
    assert times[0] / times[3] > 3.4


def test_until_the_links_saturate(kernels: Path, cache: Path) -> None:
    """Threads on one node with links of a fifth of a controller: each further node brings a link, and then no more."""
    program = program_of(kernels, STREAMED, DOUBLES, "parallel")
    alone = (0,) * CORES
    slow, fast = made_up(cache, node_GBps=10.0, link_GBps=2.0), made_up(cache, node_GBps=10.0, link_GBps=1e6)
    spread = [region_s(dealt_out(slow, program, alone, tuple(range(n)))) for n in (1, 2, 4)]
    assert spread[0] < spread[1]  # half of all through one slow link
    assert spread[2] < spread[1]  # a quarter through each of three
    assert region_s(dealt_out(fast, program, alone, (0, 1))) < region_s(dealt_out(fast, program, alone, (0,)))
    moved = dealt_out(slow, program, alone, (1,)).counters
    assert moved is not None
    assert moved.remote_bandwidth_GBps <= 2.0 * 1.001  # what the one link can carry
    assert moved.remote_bandwidth_GBps > 1.5


def differs(machine: ModelledMachine, codelet: str, size: str) -> float:
    """Return how much longer the worst mapping of 8 threads takes than the best."""
    program = codelet_programs((codelet,), (size,), ("parallel",))[0]
    mappings = [mapping for mapping in full_space(machine.topology, smt=False) if mapping.threads == THREADS]
    times = [region_s(machine.run(program, mapping).repetitions[0]) for mapping in mappings]
    assert len(times) > 10
    return max(times) / min(times)


@pytest.mark.parametrize("name", MACHINES)
def test_compute_bound_work_is_insensitive(name: str) -> None:
    machine = ModelledMachine(load_description(name))
    compute, memory = differs(machine, "matrix-product", "small"), differs(machine, "stream-triad", "medium")
    assert compute < 1.15  # pages on one far node among them
    assert memory > 2 * compute


@pytest.mark.parametrize("kernel", [STREAMED, WAITED_FOR])
@pytest.mark.parametrize("name", MACHINES)
def test_remote_is_never_faster_than_local(name: str, kernel: str, kernels: Path, cache: Path) -> None:
    description = load_description(name)
    machine = ModelledMachine(description, TraceStore(description, BUDGET, folder=cache))
    program = program_of(kernels, kernel, DOUBLES if kernel == STREAMED else 4000)
    for source in range(len(machine.topology.nodes)):
        times = [
            region_s(dealt_out(machine, program, (source,) * 4, (target,)))
            for target in range(len(machine.topology.nodes))
        ]
        assert min(times) == times[source], source


# The algorithm itself does more with more threads (each adds up counts of its own), or as the threads happen to
# meet (labels that are already low need no more work).
OWN_BOUNDS = {"is-ranking": (0.95, 1.4), "connected-components": (0.85, 1.15)}


# Each way in which codelets share work: loops by schedule, nested and uneven teams, wavefronts, tasks, frontiers,
# atomics, reductions. `python -m tests.benchmarks.work_done` counts all 64.
SHARING = (
    *("stream-copy", "nested-stream", "twisted-stream", "imbalanced-stream", "gauss-seidel", "adi-step"),
    *("lu-wavefront", "spmv-csr", "fft-transpose", "is-ranking", "prefix-sum", "pgain", "bfs-level", "sssp-relax"),
    *("connected-components", "lu-decomposition", "needleman-wunsch", "particle-filter", "hash-build", "histogram"),
    *("reduction-tree", "false-sharing", "task-recursion", "pointer-chase"),
)


def work_done(machine: ModelledMachine, codelet: str, threads: int) -> tuple[float, float]:
    """Return the instructions that all threads did in parallel regions, and those outside."""
    phased = machine.traced(codelet_programs((codelet,), ("small",), ("parallel",))[0], threads).phased
    done = phased.instructions.sum(axis=1) * phased.weight
    return float(done[~phased.serial].sum()), float(done[phased.serial].sum())


@pytest.mark.parametrize("codelet", SHARING)
def test_more_threads_neither_raise_nor_lower_the_work_done(codelet: str, cache: Path) -> None:
    machine = made_up(cache, node_GBps=10.0, link_GBps=5.0)
    (one, serial), (many, serial_of_many) = (work_done(machine, codelet, threads) for threads in (1, 16))
    least, most = OWN_BOUNDS.get(codelet, (0.95, 1.05))
    assert one > 0
    assert least * one < many < most * one
    assert serial_of_many < 1.1 * serial + 0.002 * one  # libgomp 14 does more than 12 to start inner teams


def test_relabelling_the_nodes_of_a_symmetric_machine_changes_nothing(kernels: Path, cache: Path) -> None:
    machine = made_up(cache, node_GBps=10.0, link_GBps=5.0)
    program = program_of(kernels, "gather", 4000)
    pages = len(machine.traced(program, 8).pages.address)

    @settings(max_examples=25)
    @given(
        st.permutations(range(NODES)),
        st.lists(st.integers(0, NODES - 1), min_size=8, max_size=8),
        st.integers(0, 2**32 - 1),
    )
    def relabelled(names: list[int], threads: list[int], seed: int) -> None:
        page_node = np.random.default_rng(seed).integers(0, NODES, pages).astype(np.int32)
        one, _ = machine.run_placed(program, tuple(threads), page_node)
        other, _ = machine.run_placed(
            program, tuple(names[node] for node in threads), np.array(names, dtype=np.int32)[page_node]
        )
        assert region_s(other) == pytest.approx(region_s(one), rel=1e-9)
        assert one.counters is not None
        assert other.counters is not None
        for node in range(NODES):
            before, after = one.counters.nodes[node], other.counters.nodes[names[node]]
            assert msgspec.structs.astuple(after) == pytest.approx(msgspec.structs.astuple(before))

    relabelled()


def test_threads_that_share_a_core_are_slower_each_and_where_they_wait_faster_together(
    kernels: Path, cache: Path
) -> None:
    shape = msgspec.structs.replace(machine_of((CORES,) * 2), threads_per_core=2, smt_throughput=1.25)
    machine = ModelledMachine(shape, TraceStore(shape, BUDGET, folder=cache))

    def time_s(program: Program, label: str) -> float:
        return region_s(machine.run(program, parse_label(label)).repetitions[0])

    streams, waits = (program_of(kernels, name, DOUBLES, "parallel") for name in (STREAMED, WAITED_FOR))
    apart, shared = time_s(streams, "4x1-contiguous-bind"), time_s(streams, "4x1-contiguous-bind-smt2")
    assert 1.4 < shared / apart < 2.2
    assert time_s(waits, "4x1-contiguous-bind-smt2") / time_s(waits, "4x1-contiguous-bind") < 1.2
    # Each thread walks a list of its own: twice the work in the same time.
    assert time_s(waits, "8x1-contiguous-bind-smt2") < 1.1 * time_s(waits, "4x1-contiguous-bind")
