"""What a campaign still has to run, in which order, and how long that will take. Nothing here runs anything."""

import math
import random
from collections import Counter
from collections.abc import Sequence

import msgspec

from numapredict.collect.data.dataset import same_command
from numapredict.collect.data.journal import Record
from numapredict.collect.machine import Machine
from numapredict.collect.mapping import Mapping
from numapredict.collect.program import Program
from numapredict.collect.terminal.estimated_time import TimeEstimate
from numapredict.collect.terminal.printable import counted
from numapredict.native.errors import UsageError

ASSUMED_EXECUTION_S = 10.0


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How to run a campaign: the seed of the order, whether failed runs are tried again, and how many at a time.

    With a ``scheduler``, the address of a Dask one, its workers run them, as many at a time as they have threads.
    When its runs have taken ``most_s`` together, no further one begins.
    """

    seed: int = 0
    retry_failed: bool = False
    jobs: int = 1
    scheduler: str | None = None
    most_s: float = math.inf


class Batch(msgspec.Struct, frozen=True):
    """One program and the mappings that it is still to be run under, in order."""

    program: Program
    mappings: tuple[Mapping, ...]


class Plan(msgspec.Struct, frozen=True):
    """Batches to run in order, and what is not run: pairs finished, those of them that failed, mappings left out.

    ``unsupported`` counts the mappings, not pairs, that the machine cannot apply.
    """

    batches: tuple[Batch, ...]
    finished: int
    failed: int
    unsupported: int

    @property
    def runs(self) -> int:
        """Return the number of runs to do."""
        return sum(len(batch.mappings) for batch in self.batches)


class Estimate(msgspec.Struct, frozen=True):
    """How long a plan will take, in seconds, and the basis of that estimate in words."""

    runs: int
    finished: int
    unsupported: int
    time_s: float
    basis: str


def plan(
    machine: Machine,
    programs: Sequence[Program],
    mappings: Sequence[Mapping],
    record: Record,
    options: Options,
) -> Plan:
    """Return what is left of programs x mappings on a machine after what ``record`` holds.

    One program is finished before the next begins, so that a modelled machine traces it once a thread count (its
    mappings come sorted by threads). On a clock the mappings of a program are shuffled, so that a slow drift of the
    computer spreads over all of them. Raises UsageError for two programs of one name.
    """
    supported = [mapping for mapping in dict.fromkeys(mappings) if machine.supports(mapping)]
    known = {program.name: program for program in record.programs}
    status = {(m.program, m.mapping): m.status for m in record.measurements}
    batches, finished, failed = [], 0, 0
    for name, count in Counter(program.name for program in programs).items():
        if count > 1:
            raise UsageError(f"{count} programs are called {name!r}; give each its own name")
    for program in programs:
        if program.name in known and not same_command(known[program.name], program):
            raise UsageError(
                f"program {program.name!r} is in the journal with another command; rename it or use another folder"
            )
        outcomes = {mapping: status.get((program.name, mapping)) for mapping in supported}
        left = [m for m, s in outcomes.items() if s is None or (s != "ok" and options.retry_failed)]
        finished += len(supported) - len(left)
        if not options.retry_failed:
            failed += sum(s not in {None, "ok"} for s in outcomes.values())
        if machine.modelled:
            left.sort(key=lambda mapping: mapping.threads)
        else:
            random.Random(f"{options.seed} {program.name}").shuffle(left)  # noqa: S311 - an order, not a secret
        if left:
            batches.append(Batch(program, tuple(left)))
    return Plan(tuple(batches), finished, failed, len(set(mappings)) - len(supported))


def estimate(todo: Plan, machine: Machine, record: Record, options: Options) -> Estimate:
    """Return how long a plan will take: from finished runs, else from the machine, else from a stated assumption."""
    time_estimate = time_estimate_of(record)
    counts = left_by_program(todo)
    time_s = time_estimate.left_s(counts)
    basis = f"from the {len(record.measurements)} runs finished so far"
    if time_s is None:
        each = [machine.estimate_s(batch.program, batch.mappings) for batch in todo.batches]
        known = [batch_s for batch_s in each if batch_s is not None]
        if len(known) == len(each):
            time_s = sum(known)
            basis = f"with the traces that are missing, on {counted(options.jobs, 'core')}"
    if time_s is None:
        executions = todo.runs * machine.executions
        time_s = executions * ASSUMED_EXECUTION_S
        basis = f"assuming {ASSUMED_EXECUTION_S:.0f} s for each of {executions} executions, as none has finished yet"
    return Estimate(todo.runs, todo.finished, todo.unsupported, time_s / options.jobs, basis)


def time_estimate_of(record: Record) -> TimeEstimate:
    """Return the mean run times, by program, of the runs in a journal."""
    time_estimate = TimeEstimate()
    for measurement, took_s in zip(record.measurements, record.took_s, strict=True):
        time_estimate.add(measurement.program, took_s)
    return time_estimate


def left_by_program(todo: Plan) -> Counter[str]:
    """Return how many runs of each program are left."""
    return Counter({batch.program.name: len(batch.mappings) for batch in todo.batches})
