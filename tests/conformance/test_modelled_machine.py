"""A described machine, with real OpenMP programs traced through its private caches."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.collect.machine import Machine
from numapredict.collect.mapping import THREAD_POLICIES, Mapping, parse_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.modelled.description import MachineDescription, load_description
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.page_policy import PAGE_POLICIES
from numapredict.collect.program import Program
from numapredict.collect.space import canonical, default_mapping, full_space
from tests.conformance.machine_suite import MachineConformance
from tests.openmp import BUDGET, CAN_TRACE, program_of
from tests.traces import machine_of

pytestmark = [pytest.mark.native, pytest.mark.skipif(not CAN_TRACE, reason="gcc or qemu-user is not installed")]

DOUBLES = 64 * 1024  # 128 pages in each of three arrays, four times the made-up private cache


def modelled(description: MachineDescription, cache: Path) -> ModelledMachine:
    return ModelledMachine(description, TraceStore(description, BUDGET, folder=cache))


class TestModelledMachine(MachineConformance):
    @pytest.fixture(scope="class", params=["sandybridge-4x8", "lpdquad", "made-up"])
    @classmethod
    def machine(cls, request: pytest.FixtureRequest, cache: Path) -> Machine:
        # The last one has a node without cores.
        name = request.param
        return modelled(machine_of((2, 2, 0)) if name == "made-up" else load_description(name), cache)

    @pytest.fixture(scope="class")
    @classmethod
    def program(cls, kernels: Path) -> Program:
        return program_of(kernels, "triad", DOUBLES, "serial")

    @pytest.fixture(scope="class")
    @classmethod
    def mapping(cls, machine: Machine) -> Mapping:
        mapping = default_mapping(machine.topology)
        if mapping.threads <= 32:
            return mapping
        return next(other for other in full_space(machine.topology) if other.threads == 16 and other.thread_nodes == 2)

    @pytest.fixture(scope="class")
    @classmethod
    def crashing_program(cls, kernels: Path) -> Program:
        return program_of(kernels, "no-such-kernel")  # ends with exit code 2


MACHINE = machine_of(
    (4, 4, 4, 4), links=[(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2), (3, 0), (0, 3)], node_GBps=30.0, link_GBps=6.0
)


@pytest.fixture(scope="module")
def machine(cache: Path) -> ModelledMachine:
    return modelled(MACHINE, cache)


def run(machine: ModelledMachine, program: Program, label: str) -> Measurement:
    measurement = machine.run(program, parse_label(label))
    assert measurement.status == "ok", measurement.message
    return measurement


PROGRAMS = ("triad", "gather", "list", "exchange", "imbalance", "dynamic")


def kernel(kernels: Path, name: str, *more: object) -> Program:
    return program_of(kernels, name, {"triad": DOUBLES, "gather": 4000, "list": 4000}.get(name, 50), *more)


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_trace_gives_one_answer(machine: ModelledMachine, kernels: Path, cache: Path, name: str) -> None:
    again = modelled(MACHINE, cache)
    for label in ("8x2-scatter-balance", "8x4-contiguous-first-touch", "8x2-contiguous-locality"):
        program = kernel(kernels, name)
        assert run(machine, program, label) == run(again, program, label) == run(machine, program, label)


@pytest.mark.parametrize("name", PROGRAMS)
def test_remote_memory_is_never_faster_than_local(machine: ModelledMachine, kernels: Path, name: str) -> None:
    program = kernel(kernels, name)
    local, remote = (run(machine, program, f"4x1-contiguous-{policy}@1") for policy in ("bind", "remote"))
    assert local.time_s <= remote.time_s
    for measurement, far in ((local, False), (remote, True)):
        counters = measurement.repetitions[0].counters
        assert counters is not None
        assert (counters.remote_accesses > 0, counters.local_accesses > 0) == (far, not far)


@pytest.mark.parametrize("name", ["list", "gather"])
def test_waiting_for_memory_takes_as_much_longer_as_it_is_away(
    machine: ModelledMachine, kernels: Path, name: str
) -> None:
    times = [run(machine, kernel(kernels, name), f"4x1-contiguous-{policy}@1") for policy in ("bind", "remote")]
    ratio = times[1].time_s / times[0].time_s
    assert 1.3 < ratio < 2.2  # two hops of 50 ns on 100 ns; the serial start is streams in part


def placed(machine: ModelledMachine, program: Program, label: str, output: Path) -> np.ndarray:
    """Return the nodes of the pages of the array that a triad printed, in the order of addresses."""
    page, node = machine.placement(program, parse_label(label))
    address, size = output.read_text().split()
    first, last = -(-int(address, 16) >> 12), (int(address, 16) + int(size)) >> 12
    mine = (page >= first) & (page < last)
    assert mine.sum() == last - first
    return np.asarray(node[mine][np.argsort(page[mine])])


def test_first_touch_follows_the_recorded_toucher(machine: ModelledMachine, kernels: Path, tmp_path: Path) -> None:
    for who in ("serial", "parallel"):
        output = tmp_path / who
        program = kernel(kernels, "triad", who, 1, output)
        for label, nodes in (("8x4-contiguous", [0, 1, 2, 3]), ("8x2-contiguous", [0, 1]), ("8x2-scatter", [0, 1])):
            node = placed(machine, program, f"{label}-first-touch", output)
            if who == "serial":
                assert (node == 0).all()
                continue
            thread = np.arange(len(node)) * 8 // len(node)
            per_node = 8 // len(nodes)
            expected = thread % 2 if "scatter" in label else thread // per_node
            assert (node != expected).mean() < 0.1  # pages at the threads' borders


def test_first_touch_serves_threads_from_the_node_that_initialised(machine: ModelledMachine, kernels: Path) -> None:
    serial, parallel = (
        run(machine, kernel(kernels, "triad", who), "8x4-contiguous-first-touch") for who in ("serial", "parallel")
    )
    ahead, behind = serial.repetitions[0].counters, parallel.repetitions[0].counters
    assert ahead is not None
    assert behind is not None
    assert ahead.local_accesses / (ahead.local_accesses + ahead.remote_accesses) == pytest.approx(0.25, abs=0.05)
    assert [node.local_accesses > node.remote_accesses for node in ahead.nodes] == [True, False, False, False]
    assert behind.local_accesses / (behind.local_accesses + behind.remote_accesses) > 0.9
    fixed = run(machine, kernel(kernels, "triad", "serial"), "8x4-contiguous-locality")
    region_s = [measurement.repetitions[0].region_time_s or 0 for measurement in (serial, fixed)]
    assert region_s[1] < region_s[0]


def candidates(threads: int) -> list[Mapping]:
    return [
        Mapping(threads, nodes, thread_policy, page_nodes, page_policy)
        for nodes in (1, 2, 4)
        for thread_policy in THREAD_POLICIES
        for page_nodes in (1, 2, 4)
        for page_policy in PAGE_POLICIES
    ]


@pytest.mark.parametrize("threads", [1, 4])
def test_equal_mappings_have_equal_measurements(machine: ModelledMachine, kernels: Path, threads: int) -> None:
    program = kernel(kernels, "triad")
    compared = 0
    for mapping in candidates(threads):
        if not machine.supports(mapping):
            continue
        one = canonical(mapping, machine.topology)
        if one != mapping:
            assert machine.run(program, mapping).repetitions == machine.run(program, one).repetitions, mapping.label
            compared += 1
    assert compared >= 5


def test_every_mapping_has_a_measurement(machine: ModelledMachine, kernels: Path) -> None:
    program = kernel(kernels, "triad")
    mappings = [mapping for mapping in full_space(machine.topology) if mapping.threads == 4]
    times = {mapping.label: machine.run(program, mapping).time_s for mapping in mappings}
    assert len(times) > 20
    assert all(0 < time < 1 for time in times.values())
    accesses = set()
    for mapping in mappings:
        counters = machine.run(program, mapping).repetitions[0].counters
        assert counters is not None
        accesses.add((mapping.thread_nodes, mapping.thread_policy, counters.local_accesses + counters.remote_accesses))
    # Where the pages are changes who serves an access, not how many there are.
    assert len(accesses) == len({entry[:2] for entry in accesses})


def test_the_shared_cache_holds_more_when_more_nodes_are_used(kernels: Path, cache: Path) -> None:
    # Half of the array fits in the cache of a node.
    small = msgspec.structs.replace(
        MACHINE,
        shared_cache=msgspec.structs.replace(MACHINE.shared_cache, size_bytes=3 * DOUBLES * 8 * 5 // 8, ways=16),
    )
    machine = modelled(small, cache)
    program = program_of(kernels, "triad", DOUBLES, "parallel", 3)
    one, two = (run(machine, program, label) for label in ("4x1-contiguous-bind@1", "4x2-contiguous-first-touch"))
    counts = []
    for measurement in (one, two):
        counters = measurement.repetitions[0].counters
        assert counters is not None
        counts.append(counters.local_accesses + counters.remote_accesses)
    assert counts[1] < 0.7 * counts[0]


def test_what_is_modelled_is_said_to_be(machine: ModelledMachine, kernels: Path) -> None:
    measurement = run(machine, kernel(kernels, "triad"), "4x2-contiguous-balance")
    provenance = dict(measurement.provenance)
    assert measurement.modelled
    assert provenance["source"] == "model"
    assert provenance["trace_end"] == "every region was seen often enough"
    assert provenance["region_time_seen"] == "1.000"
    assert provenance["lines_followed"] == "1 in 1"
    assert provenance["program_threads"] == "4"


def test_the_program_is_traced_once_a_thread_count(kernels: Path, tmp_path: Path, said: list[str]) -> None:
    program = kernel(kernels, "exchange")
    for _ in range(2):
        machine = ModelledMachine(MACHINE, TraceStore(MACHINE, BUDGET, folder=tmp_path))
        for label in ("4x2-scatter-balance", "4x1-contiguous-bind@1", "2x2-contiguous-first-touch"):
            run(machine, program, label)
    assert [("native run" in text, "tracing" in text) for text in said] == [(True, False), (False, True), (False, True)]


def test_exchanging_lines_costs_more_between_nodes(machine: ModelledMachine, kernels: Path) -> None:
    program = kernel(kernels, "exchange")
    together, apart = (run(machine, program, label) for label in ("2x1-contiguous-bind@1", "2x2-contiguous-bind@1"))
    assert apart.time_s > 1.4 * together.time_s  # 1.49 to 1.52, as the threads meet
