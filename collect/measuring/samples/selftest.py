"""Tests samples of accesses on known loads: each node's core follows pointers through memory of a node.

No prefetcher follows them (native/probe/chase.c): all but a few of the loads that leave the caches go to that memory.
The verdict is kept with those of the counters (counters/calibration.py).
"""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.measuring.counters.calibration import Examined, is_old, read_calibrations, write_calibrations
from numapredict.collect.measuring.counters.selftest import load_of, pairs
from numapredict.collect.measuring.counters.verdict import STRAY, Verdict
from numapredict.collect.measuring.measurement_lock import MeasurementLock
from numapredict.collect.measuring.samples.served import LOCAL, REMOTE
from numapredict.collect.measuring.samples.source import PerfSamples
from numapredict.collect.placing.tool_answer import tool_answer
from numapredict.collect.topology import Topology
from numapredict.native.errors import CounterError
from numapredict.native.library import probe_program

LEAST_SAMPLES = 20
"""Of loads that memory served: STRAY is then two of them."""

_PART = 4  # of the counters' load, which is CACHES times the caches
_ROUNDS, _ROUND_MS = 1, 500


class Sampled(msgspec.Struct, frozen=True):
    """The samples of one load: how many there were, and the latencies in cycles of those that memory served."""

    threads: int
    memory: int
    samples: int
    local: tuple[float, ...]
    remote: tuple[float, ...]

    @property
    def load(self) -> str:
        """Return the load in words."""
        return f"node {self.threads}'s {'local' if self.threads == self.memory else 'remote'} loads"


class _Answer(msgspec.Struct, frozen=True):
    figures: dict[str, tuple[float, ...]]


def judge_samples(loads: Sequence[Sampled]) -> Verdict:
    """Return the verdict on the samples of all loads, of which there must be at least one; pure."""
    reasons = []
    for one in loads:
        right, wrong = (one.local, one.remote) if one.threads == one.memory else (one.remote, one.local)
        told = len(right) + len(wrong)
        if not one.samples:
            reasons.append(f"it samples none of {one.load}")
        elif told < LEAST_SAMPLES:
            reasons.append(f"it says of {told} of {one.samples} samples of {one.load} that memory served them")
        elif len(wrong) > STRAY * told:
            kind = "remote" if one.threads == one.memory else "local"
            reasons.append(f"it calls {len(wrong) / told:.0%} of {one.load} {kind}")
        elif not statistics.fmean(right) > 0:
            reasons.append(f"it tells no latency of {one.load}")
    remote_tested = any(one.threads != one.memory for one in loads)
    return Verdict(passed=not reasons, factor=1.0, remote_tested=remote_tested, reasons=tuple(reasons))


def examined_samples(source: PerfSamples, topology: Topology) -> Examined:
    """Return the state of the source, tested if it can sample here."""
    obstacle = source.obstacle()
    if obstacle is not None:
        return Examined(name=source.name, obstacle=obstacle)
    try:
        verdict = judge_samples([_sampled(source, topology, *pair) for pair in pairs(topology)])
    except CounterError as error:
        return Examined(name=source.name, failure=str(error))
    return Examined(name=source.name, verdict=verdict, tested_s=time.time())


def doubt_of_samples(source: PerfSamples, topology: Topology, folder: Path) -> str:
    """Return why the source is not used here, "" where it is; the verdict is kept in ``folder``."""
    obstacle = source.obstacle()
    if obstacle is not None:
        return obstacle.reason
    known = {one.name: one for one in read_calibrations(folder, topology)}
    state = known.get(source.name)
    if state is None or is_old(state):
        with MeasurementLock().take():
            state = known[source.name] = examined_samples(source, topology)
        write_calibrations(folder, topology, tuple(known.values()))
    return "" if state.passed else f"it failed its self-test: {state.reason}"


def _sampled(source: PerfSamples, topology: Topology, threads: int, memory: int) -> Sampled:
    load = load_of(topology, threads, memory)
    # The chase takes powers of two. Twice the caches or nearly so do: it counts no lines, so some may stay in them.
    size = 1 << (load.size_bytes // _PART).bit_length() - 1
    words = ("latency", str(load.pus[0]), str(_ROUNDS), str(_ROUND_MS), str(load.memory_node), str(size))
    with work_folder() as folder:
        file = folder / "samples"
        command = source.command((str(probe_program()), *words), {}, file)
        tool_answer(command, _Answer, "the test's load", CounterError)
        rows = source.read(file).rows
    local, remote = (tuple(map(float, rows["weight"][rows["served"] == served])) for served in (LOCAL, REMOTE))
    return Sampled(threads, memory, len(rows), local, remote)
