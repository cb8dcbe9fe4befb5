"""A timed guest described by measuring it, as `numapredict topology --measure` does it, against what it was made of."""

import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from numapredict.collect.describing.caches import FoundCache, FoundCaches
from numapredict.collect.describing.computer import MeasuredComputer, Shape, measure_computer
from numapredict.collect.describing.description import About, described
from numapredict.collect.describing.probe import Answer
from numapredict.collect.describing.sample import Pace
from numapredict.collect.measuring.disturbance import Snapshot
from numapredict.collect.modelled.description import CacheShape, MachineDescription
from numapredict.collect.topology import restrict
from numapredict.native.library import probe_program
from tests.guest.errors import GuestError
from tests.guest.served import ServedGuest
from tests.guest.timed.checks import bandwidth_GBps
from tests.guest.timed.configuration import Timing

MOST_S = 300.0
ABOUT = About(name="guest", processor="a timed guest", kernel="Linux", date="2026-11-23", page_bytes=4096)
QUIET = Snapshot(at_s=0, busy_s=0, stolen_s=0, own_s=0, pages_moved=0, throttled=0, frequency_MHz=0)


@dataclass(frozen=True)
class Comparison:
    """A figure of the guest's description, and of what it was made of, times the factor; both in the figure's unit."""

    name: str
    measured: float
    expected: float

    @property
    def ratio(self) -> float:
        """Return measured over expected."""
        return self.measured / self.expected


def measured_guest(
    guest: ServedGuest, machine: MachineDescription, pace: Pace, pus: Collection[int] = ()
) -> MeasuredComputer:
    """Measure a timed guest of a machine, or the part of it that has these PUs and all memory.

    Disturbances are not looked for: they would be this computer's.
    """

    def run(arguments: Sequence[str]) -> Answer:
        output = guest.folder / "answer"
        words = shlex.join([str(guest.folder / "charged"), str(probe_program()), *arguments])
        ending = guest.run(["/bin/sh", "-c", f"exec {words} >{output}"], {}, None, MOST_S)
        if ending.exit_code != 0:
            raise GuestError(f"{words}: {ending.reason or ending.last_line}")
        return msgspec.json.decode(output.read_text(), type=Answer)

    def look(_: Iterable[int]) -> Snapshot:
        return QUIET

    whole = machine.topology
    topology = restrict(whole, pus, range(len(whole.nodes))) if pus else whole
    return measure_computer(Shape(topology, _caches(machine)), pace, run, look)


def comparisons(measured: MeasuredComputer, timing: Timing) -> Iterator[Comparison]:
    """Yield each figure that a timed guest has, as its description gives it."""
    machine, factor, topology = timing.machine, timing.factor, measured.shape.topology
    file = described(measured, ABOUT)
    instruction_ns = machine.cycles_per_instruction / machine.frequency_GHz * factor
    core = file.core
    yield Comparison("frequency", core.frequency_GHz, 1 / instruction_ns)  # by additions, which take no longer
    yield Comparison("cycles an instruction", core.cycles_per_instruction, 1.0)
    yield Comparison("instructions a ns", core.frequency_GHz / core.cycles_per_instruction, 1 / instruction_ns)
    yield Comparison("shared cache", file.shared_cache.latency_ns, machine.shared_cache.latency_ns * factor)
    assert file.node_bandwidth is not None
    for pair in measured.pairs:
        where = f"{pair.cores} to {pair.memory}"
        latency_ns = machine.read_latency_ns[pair.cores][pair.memory] * factor
        yield Comparison(f"latency {where}", file.latency.read[pair.cores][pair.memory], latency_ns)
        for kind in ("read", "write"):
            for team, table, threads in (
                ("thread", file.thread_bandwidth, 1),
                ("node", file.node_bandwidth, len(topology.nodes[pair.cores].cores)),
            ):
                speed = bandwidth_GBps(machine, (kind, pair.cores, pair.memory), threads) / factor
                found = getattr(table, f"{kind}_GBps")[pair.cores][pair.memory]
                yield Comparison(f"{kind} {where}, {team}", found, speed)


def _caches(machine: MachineDescription) -> FoundCaches:
    def found(cache: CacheShape) -> FoundCache:
        return FoundCache(cache.size_bytes, cache.ways, machine.name, machine.name)

    shared = machine.shared_cache
    return FoundCaches(
        private=found(machine.private_cache),
        shared=found(CacheShape(shared.size_bytes, shared.ways)),
        sharing=shared.cores or machine.nodes[0].cores,
        line_bytes=machine.line_bytes,
    )
