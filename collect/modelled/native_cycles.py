"""Native cycles: what an instruction of a program costs a core, by the processor time of its native run.

The processor time of the regions' instances in the native run is that of their instructions and of their waits for
memory. The model knows the latter: it computes the same run, with as many threads, on this computer's memory, and the
cycles are those with which it takes as long as the run did. A core of the described machine is taken to need as many
cycles as one here, each by its own clock.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.measurement import Measurement
from numapredict.collect.modelled import contention
from numapredict.collect.modelled.description import MachineDescription
from numapredict.collect.modelled.native_computer import NativeComputer
from numapredict.collect.modelled.phases import PhasedTrace
from numapredict.collect.modelled.shared_caches import lines_of, replay
from numapredict.collect.modelled.thread_places import places_on
from numapredict.collect.placing.census import Census

PROVENANCE = "native_cycles"
"""The name of a measurement's note with the cycles of an instruction, on a machine that asks for a program's own."""

# A description has the cycles of a loop that fills its cores: no program has less. With more than so many times these
# the run waited for something else than its instructions: faults of pages, the disk.
_MOST = 4.0
_LEAST_S = 0.005  # of processor time: below that the clock decides
_LEAST_SHARE = 0.5  # of the native region time must be of regions that the trace saw
_ROUNDS = 12  # bisections: a range of 4 to 1 within 0.1%

Floats = npt.NDArray[np.float64]


class NativeCycles(msgspec.Struct, frozen=True):
    """The cycles of an instruction, and where its native run was made."""

    cycles: float
    processor: str
    frequency_GHz: float


def cycles_note(own: NativeCycles | None, machine: MachineDescription) -> tuple[tuple[str, str]]:
    """Return the note of a program's own cycles for a measurement's provenance, or that it keeps the machine's."""
    if own is None:
        text = f"{machine.cycles_per_instruction:.3g}, as described: its native run here does not tell more"
    else:
        text = f"{own.cycles:.3g}, as in its native run here on {own.processor} at {own.frequency_GHz:.2f} GHz"
    return ((PROVENANCE, text),)


def native_cycles_in_words(measurements: Sequence[Measurement]) -> tuple[str, ...]:
    """Return a line for each program on a machine that asks for its own cycles."""
    notes = {m.program: dict(m.provenance).get(PROVENANCE) for m in measurements}
    return tuple(f"cycles an instruction of {program}: {note}" for program, note in notes.items() if note)


def native_cycles(
    phased: PhasedTrace, census: Census, computer: NativeComputer, machine: MachineDescription, seed: int
) -> NativeCycles | None:
    """Return a program's cycles per instruction, None where its native run does not tell them.

    ``phased``: its trace with the native run's number of threads, through the machine's private caches. It is not told
    by regions that the trace did not see whole, or that took no longer than in the model with the machine's cycles.
    """
    work_s = {
        region.key: _work_s(region.work_s, region.count)
        for region in census.regions
        if region.work_s and region.team == phased.threads and phased.seen.get(region.key, 0.0) >= 1
    }
    known_s = sum(region.time_s for region in census.regions if region.key in work_s)
    native_s = sum(work_s.values())
    if native_s < _LEAST_S or known_s < _LEAST_SHARE * census.region_time_s:
        return None
    here = computer.described(machine)
    mine = np.isin(phased.region, np.array(list(work_s), dtype=np.uint64)) & ~phased.serial
    run = _Run(phased, here, mine, seed)
    low, high = machine.cycles_per_instruction, _MOST * machine.cycles_per_instruction
    if run.work_s(low) >= native_s:
        return None
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if run.work_s(middle) < native_s else (low, middle)
    return NativeCycles((low + high) / 2, computer.processor, computer.frequency_GHz)


def _work_s(work_s: Sequence[float], count: int) -> float:
    """Return the processor time of all instances by that of the listed ones, without the first, whose pages are new."""
    return float(np.mean(work_s[1:] or work_s)) * count


class _Run:
    """The native run in the model: its chosen phases, each thread by itself, since processor time has no waits."""

    def __init__(self, phased: PhasedTrace, here: MachineDescription, chosen: npt.NDArray[np.bool_], seed: int) -> None:
        self._phased, self._here, self._chosen = phased, here, chosen
        self._costs = contention.costs_of(here)
        lines = lines_of(phased, here, seed)
        scale = (phased.lines_per_record * phased.stands_for)[:, None, None]
        demand = replay(lines, places_on((0,) * phased.threads, here))
        self._memory = demand.by_memory_node(np.zeros(len(lines.page), dtype=np.int32)) * scale[..., None]
        self._transfers, self._hits = demand.transfers * scale[..., None], demand.hits * scale

    def work_s(self, cycles: float) -> float:
        """Return the processor time of all threads with so many cycles an instruction, in seconds."""
        here = msgspec.structs.replace(self._here, cycles_per_instruction=cycles)
        phased = self._phased
        places = places_on((0,) * phased.threads, here)
        total: Floats = np.zeros(len(phased.weight))
        for thread in range(phased.threads):
            only = np.zeros((1, phased.threads))
            only[0, thread] = 1.0
            total += contention.solve(
                contention.Demand(
                    memory=self._memory * only[..., None, None],
                    transfers=self._transfers * only[..., None, None],
                    hits=self._hits * only[..., None],
                    instructions=phased.instructions * only,
                    exclusive_ns=np.zeros_like(phased.instructions),
                    dynamic=np.zeros_like(phased.dynamic),
                    members=phased.members & (only > 0),
                    places=places,
                ),
                self._costs,
            )
        return float((total * phased.weight)[self._chosen].sum())
