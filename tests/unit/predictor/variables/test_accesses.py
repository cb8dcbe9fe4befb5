import math
from dataclasses import replace

import numpy as np
import pytest

from numapredict.collect.measuring.samples.perf_script import ACCESS, Accesses
from numapredict.collect.measuring.samples.served import CACHE, LOCAL, REMOTE
from numapredict.collect.placing.profile_file import OWNER, SAMPLE, Profile, ProfiledRange
from numapredict.predictor.variables.accesses import accesses_of
from numapredict.predictor.variables.grouping import Found
from numapredict.predictor.variables.page_nodes import PageNodes
from tests.samples import topology_of
from tests.unit.predictor.variables.test_pattern import touches

PID, PAGES, AT, OTHER = 77, 8, 0x7F0000000000, 0x7F0000100000
PROFILE = Profile(4, 4096, (), np.zeros(0, SAMPLE), 0, 0, 0, pid=PID)
PAGE = np.arange(PAGES)
TWO_NODES = topology_of()  # even CPUs are of node 0, odd ones of node 1
NODES = PageNodes((0, 0, 1, 1), {0: 0, 1: 1})


def found(start: int = AT, since_s: float = 1.0, until_s: float = math.inf, kind: int = 1, first: int = 0) -> Found:
    """Return a variable of eight pages, of which node `first` has all."""
    known = ProfiledRange(kind, 1, 0, 0, PAGES, 0, 0, "", 0, start=start, since_s=since_s, until_s=until_s)
    there = replace(touches(PAGE, PAGE // 2, PAGES), page_node=np.full(PAGES, first))
    return Found("allocated", "name", "", PAGES * 4096, None, None, (known,), there)


def samples(*rows: tuple[int, int, int, float], instructions: float = 10_000.0, pid: int = PID) -> Accesses:
    """Return accesses by CPU, what served them, address and latency, each for 10 of them, after two seconds."""
    each = [(pid, cpu, served, 2.0, address, weight, 10.0) for cpu, served, address, weight in rows]
    return Accesses(np.array(each, ACCESS), {PID: instructions})


def test_variables_have_the_accesses_to_their_addresses() -> None:
    taken = samples(
        (0, LOCAL, AT, 300), (1, REMOTE, AT + 8 * 4096 - 1, 600), (1, CACHE, AT + 9, 40), (1, REMOTE, OTHER, 500),
        (0, LOCAL, AT - 1, 1), (0, LOCAL, AT + 8 * 4096, 1),
    )  # fmt: skip
    (one, other), every = accesses_of([found(), found(OTHER)], PROFILE, taken, TWO_NODES, NODES)
    assert one is not None
    assert other is not None
    assert (one.samples, one.requests.local, one.requests.remote, one.remote_cycles) == (3, 1, 1, 600)
    assert (other.samples, other.requests.local, other.requests.remote) == (1, 0, 1)
    assert (every.samples, every.requests.local, every.requests.remote) == (6, 3, 2)
    # Equations 2 and 3: the latency of remote accesses, of 10 for each sample, by 10,000 instructions.
    assert (one.lpi_numa, other.lpi_numa, every.lpi_numa) == (0.6, 0.5, pytest.approx(1.1))


def test_the_node_that_serves_is_the_threads_own_or_that_of_the_page() -> None:
    taken = samples((0, LOCAL, AT, 300), (1, REMOTE, AT, 600), (3, REMOTE, AT + 4096, 600))
    (one,), every = accesses_of([found()], PROFILE, taken, TWO_NODES, NODES)
    assert one is not None
    assert (one.requests.nodes, one.requests.by_node, one.requests.imbalance) == ((0, 1), (3, 0), 2)
    assert every.requests == one.requests


def test_a_remote_page_that_nobody_knows_is_one_of_the_others() -> None:
    (one,), every = accesses_of([found(OTHER)], PROFILE, samples((0, REMOTE, AT, 600)), topology_of((2, 2, 2)), NODES)
    assert one is None
    assert (every.requests.nodes, every.requests.by_node) == ((0, 1), (0, 1))


def test_memory_that_was_freed_is_no_longer_its_variables() -> None:
    taken = samples((0, LOCAL, AT, 300))
    old, fresh = found(until_s=1.5), found(since_s=1.5)
    (was, now), _ = accesses_of([old, fresh], PROFILE, taken, TWO_NODES, NODES)
    assert (was, now is not None) == (None, True)
    (later, static), _ = accesses_of([found(since_s=3.0), found(since_s=3.0, kind=2)], PROFILE, taken, TWO_NODES, NODES)
    assert (later, static is not None) == (None, True)  # a static object is there before it is known


def test_other_processes_and_unknown_instructions_are_left_out() -> None:
    (one,), every = accesses_of([found()], PROFILE, samples((0, LOCAL, AT, 300), pid=5), TWO_NODES, NODES)
    assert (one, every.samples, every.requests.imbalance) == (None, 0, 1)
    _, unknown = accesses_of([found()], PROFILE, samples((0, REMOTE, AT, 300), instructions=0.0), TWO_NODES, NODES)
    assert (unknown.remote_cycles, unknown.lpi_numa) == (300, None)


def test_on_one_node_nothing_is_remote() -> None:
    (one,), _ = accesses_of([found()], PROFILE, samples((0, LOCAL, AT, 300)), topology_of((4,)), None)
    assert one is not None
    assert (one.requests.nodes, one.requests.by_node, one.lpi_numa) == ((0,), (1,), 0)


def test_accesses_to_blocks_are_theirs_and_not_the_heaps() -> None:
    heap, rows = found(kind=5), found(kind=7, start=0)
    owned = np.array([(0, 2, 2, 1, 0, 0), (0, 6, 1, 1, 2, 0)], OWNER)
    rows = replace(rows, ranges=(replace(rows.ranges[0], owned=owned),))
    taken = samples(*((0, LOCAL, AT + page * 4096, 300) for page in (0, 2, 3, 6, 7)))
    profile = replace(PROFILE, ranges=(heap.ranges[0], rows.ranges[0]))
    (rest, own), _ = accesses_of([heap, rows], profile, taken, TWO_NODES, NODES)
    assert rest is not None
    assert own is not None
    assert (rest.samples, own.samples) == (2, 3)
