"""A timed guest described by measuring it, as `numapredict topology --measure` does it, against what it was made of."""

import shlex
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from numapredict.collect.describing.caches import FoundCache, FoundCaches
from numapredict.collect.describing.computer import MeasuredComputer, Shape, measure_computer
from numapredict.collect.describing.sample import Pace, Sample
from numapredict.collect.measuring.disturbance import Snapshot
from numapredict.collect.modelled.description import CacheShape, MachineDescription
from numapredict.collect.topology import restrict
from numapredict.native.library import probe_program
from tests.guest.errors import GuestError
from tests.guest.served import ServedGuest
from tests.guest.timed.checks import bandwidth_GBps
from tests.guest.timed.configuration import Timing

MOST_S = 300.0
QUIET = Snapshot(at_s=0, busy_s=0, stolen_s=0, own_s=0, pages_moved=0, throttled=0, frequency_MHz=0)


@dataclass(frozen=True)
class Comparison:
    """A figure by the guest's clock, and what the description says, times the factor; both in the figure's unit."""

    name: str
    measured: Sample
    expected: float

    @property
    def ratio(self) -> float:
        """Return measured over expected."""
        return self.measured.middle / self.expected


def measured_guest(
    guest: ServedGuest, machine: MachineDescription, pace: Pace, pus: Collection[int] = ()
) -> MeasuredComputer:
    """Measure a timed guest of a machine, or the part of it that has these PUs and all memory.

    Disturbances are not looked for: they would be this computer's.
    """

    def run(arguments: Sequence[str]) -> str:
        output = guest.folder / "answer"
        words = shlex.join([str(guest.folder / "charged"), str(probe_program()), *arguments])
        ending = guest.run(["/bin/sh", "-c", f"exec {words} >{output}"], {}, None, MOST_S)
        if ending.exit_code != 0:
            raise GuestError(f"{words}: {ending.reason or ending.last_line}")
        return output.read_text()

    def look(_: Iterable[int]) -> Snapshot:
        return QUIET

    whole = machine.topology
    topology = restrict(whole, pus, range(len(whole.nodes))) if pus else whole
    return measure_computer(Shape(topology, _caches(machine)), pace, run, look)


def comparisons(measured: MeasuredComputer, timing: Timing) -> Iterator[Comparison]:
    """Yield each figure that a timed guest has."""
    machine, factor, topology = timing.machine, timing.factor, measured.shape.topology
    instruction_ns = machine.cycles_per_instruction / machine.frequency_GHz * factor
    yield Comparison("additions a ns", measured.cores.turbo_GHz[0][1], 1 / instruction_ns)
    yield Comparison("additions a ns, all cores", measured.cores.frequency_GHz, 1 / instruction_ns)
    yield Comparison("instructions a ns", measured.cores.instructions_per_ns, 1 / instruction_ns)
    yield Comparison("shared cache", measured.cores.cache_ns, machine.shared_cache.latency_ns * factor)
    for pair in measured.pairs:
        where = f"{pair.cores} to {pair.memory}"
        latency_ns = machine.read_latency_ns[pair.cores][pair.memory] * factor
        yield Comparison(f"latency {where}", pair.latency_ns, latency_ns)
        for kind in ("read", "write"):
            for team, threads in (("thread", 1), ("node", len(topology.nodes[pair.cores].cores))):
                speed = bandwidth_GBps(machine, (kind, pair.cores, pair.memory), threads) / factor
                sample = getattr(pair, f"{team}_{kind}_GBps")
                yield Comparison(f"{kind} {where}, {team}", sample, speed)


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
