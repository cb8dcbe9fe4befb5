"""What is left out of the model in turn: each replacement is what it says, and takes the place of something."""

from unittest import mock

import pytest

from numapredict.collect.modelled import shared_caches
from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.description import load_description
from numapredict.collect.modelled.phases import phase_trace
from numapredict.collect.modelled.shared_caches import DEPENDENT, INDEPENDENT, STREAMED, lines_of
from tests.benchmarks.model_changes import PATCHED, FormerLines, FormerSynchronisation, mappings_of, without_turbo
from tests.traces import Segment, census_of, machine_of, trace_of

MACHINE = load_description("cascadelake-2x28")


def test_each_replacement_takes_the_place_of_a_part_of_the_model() -> None:
    for where, instead in PATCHED.values():
        with mock.patch(f"numapredict.collect.modelled.{where}", instead) as patched:
            assert patched is instead


def test_a_barrier_took_two_latencies_for_each_doubling_of_threads() -> None:
    costs = FormerSynchronisation(MACHINE)
    assert costs.waits((0,) * 8).barrier_ns == pytest.approx(6 * MACHINE.shared_cache.latency_ns)
    assert costs.waits((0,) * 8 + (1,) * 8).fork_join_ns == pytest.approx(8 * MACHINE.read_latency_ns[1][0])


def test_reads_of_changed_lines_waited_for_each_other_unless_streamed() -> None:
    flags = (0, t.COHERENCE, t.COHERENCE | t.STORE, t.COHERENCE | t.STREAMING)
    segment = Segment(region=7, instructions=len(flags), records=[(n, each, n) for n, each in enumerate(flags)])
    phased = phase_trace(trace_of([segment]), census_of((7, 1, 1.0)), 1)
    with mock.patch.object(shared_caches, "Lines", FormerLines):
        lines = lines_of(phased, machine_of(), seed=1)
    assert lines.kind.tolist() == [INDEPENDENT, DEPENDENT, INDEPENDENT, STREAMED]


def test_without_turbo_the_clock_is_that_of_all_cores() -> None:
    assert (without_turbo(MACHINE).frequency_GHz, without_turbo(MACHINE).turbo_GHz) == (3.3, ())
    older = load_description("sandybridge-4x8")
    assert without_turbo(older) is older


def test_the_default_comes_first_and_one_thread_a_core_and_two_are_there() -> None:
    mappings = mappings_of(MACHINE)
    assert mappings[0].label == "56x2-contiguous-first-touch"
    assert {mapping.threads_per_core for mapping in mappings} == {1, 2}
    assert len(set(mappings)) == len(mappings)
