"""HardwareMachine: this computer, timed by the clock."""

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from numapredict.collect.figure import Figure
from numapredict.collect.host.facts.facts import machine_state
from numapredict.collect.host.work_folder import require_room, work_folder
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.counters.calibration import CalibratedSource
from numapredict.collect.measuring.hardware_run import Conditions, Failed, HardwareRun
from numapredict.collect.measuring.mapped_files import MappedFiles
from numapredict.collect.measuring.measurement_lock import MeasurementLock
from numapredict.collect.measuring.repetitions import BUSY, MISPLACED, Repeated, repetition_notes
from numapredict.collect.measuring.run_limit import PROVENANCE as REGIONS_ENDED
from numapredict.collect.measuring.run_limit import UNLIMITED, RunLimit
from numapredict.collect.measuring.stopping_rule import StoppingRule, fixed_repetitions
from numapredict.collect.measuring.warm_up import Look
from numapredict.collect.page_policy import EXPRESSIBLE, FACTS
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.claims import claims_beside
from numapredict.collect.placing.command import applied
from numapredict.collect.placing.exit_code import PROVENANCE as EXIT_CODE
from numapredict.collect.placing.preload import PlacementFiles
from numapredict.collect.placing.process import Ending, run_process
from numapredict.collect.placing.region_times import region_times_note
from numapredict.collect.placing.start import (
    AS_IT_IS,
    NUMACTL,
    PLACEMENT,
    Start,
    library_obstacle,
    policies_obstacle,
    start_as_it_is,
    start_of,
)
from numapredict.collect.placing.teams import teams_note
from numapredict.collect.program import Program
from numapredict.collect.space import placement_if_any
from numapredict.collect.terminal.progress import counting
from numapredict.collect.topology import Topology
from numapredict.native.version import version

_WITHOUT_TURN = ("turn", "the lock was not available: others may have measured at the same time")


@dataclass(frozen=True)
class Computer:
    """Where programs run: ``execute`` runs a command there as ``run_process`` does, one measurement at a time."""

    execute: Callable[..., Ending] = run_process
    lock: MeasurementLock = field(default_factory=MeasurementLock)


class HardwareMachine:
    """The computer that this runs on: starts the real program, its threads and pages placed by the preload library.

    A program that the library cannot place is placed by OMP_* and numactl, as far as they can express the mapping. A
    measurement is ``warm_up`` untimed runs, which fill the page cache and show whether the placement holds, and then
    timed ones, each stopped after ``timeout_s`` seconds: ``repetitions`` of them, or as many as a StoppingRule
    requires, which also says when disturbed ones are redone. The measurement lock admits one measurement at a time on a
    computer, of any user. Times are wall times of the whole process with its start-up, and under the library also those
    of its parallel regions. A program that ends with an exit code other than 0 has worked if its parallel regions were
    seen and every run ends so, including one run without placement; under a strict StoppingRule it has failed.
    ``counters`` is called at the first measurement for the trusted source; without one, the last untimed run samples
    which accesses are local. ``computer`` is this one, or another with the same files, whose ``topology`` is given.
    """

    modelled = False
    controllers_GBps = ()

    def __init__(
        self,
        topology: Topology,
        *,
        repetitions: int | StoppingRule = 5,
        warm_up: int = 1,
        timeout_s: float = 600.0,
        counters: Callable[[], CalibratedSource | None] = lambda: None,
        computer: Computer | None = None,
    ) -> None:
        if warm_up < 0 or not timeout_s > 0:
            raise ValueError("the time-out must be positive, and the warm-up not negative")
        self.name, self.topology = topology.name, topology
        rule = repetitions if isinstance(repetitions, StoppingRule) else fixed_repetitions(repetitions)
        usual_codes: dict[str, int | None] | None = None if rule.strict else {}
        self._computer = computer or Computer()
        self.conditions = Conditions(topology, rule, warm_up, timeout_s, None, usual_codes, self._computer.execute)
        self.executions = warm_up + rule.least
        # One node has nothing to keep apart, and what runs elsewhere maps files there.
        is_kept = self._computer.execute is run_process and len(topology.memory_nodes) > 1
        self._files = MappedFiles() if is_kept else None
        self._counters: Callable[[], CalibratedSource | None] | None = counters

    def expect_exit_code(self, program: Program, code: int) -> None:
        """Take over the exit code that an earlier command saw without any placement, so that no run is made for it."""
        if self.conditions.usual_codes is not None:
            self.conditions.usual_codes.setdefault(program.identity, code)

    def expect_files(self, program: Program, mapping: AnyMapping, paths: Sequence[str]) -> None:
        """Take over the files that an earlier command saw the program map in its first run."""
        if self._files is not None:
            self._files.expect(program, mapping, paths)

    def note_regions(self) -> None:
        """Give the measurements from now on a note of each region's time."""
        self.conditions = replace(self.conditions, region_times=True)

    def compare_by(self, figure: Figure) -> None:
        """Read this figure in all runs from now on; a run without it has failed."""
        self.conditions = replace(self.conditions, figure=figure)

    def supports(self, mapping: Mapping) -> bool:
        """Return whether the mapping fits this computer and its pages can be placed here."""
        placement = placement_if_any(mapping, self.topology)
        if placement is None:
            return False
        if library_obstacle():
            return applied(placement).mapping.page_policy in EXPRESSIBLE
        return not policies_obstacle(placement)

    def estimate_s(self, program: Program, mappings: Sequence[Mapping]) -> None:
        """Return None: how long a program takes here is known after its first run."""

    def traces_to_take(self, program: Program, mappings: Sequence[Mapping]) -> None:
        """Return None: real runs need no traces."""

    def run(self, program: Program, mapping: Mapping, limit: RunLimit = UNLIMITED) -> Measurement:
        """Run the program under the mapping and return its times; raise what ``start_of`` does.

        Each run is ended at its ``limit``, or else at the usual time-out.
        """
        placement = resolve(mapping, self.topology)
        return self._run(program, placement, limit)

    def run_as_it_is(self, program: Program) -> Measurement:
        """Run the program as the caller would start it, and return its times; the measurement's mapping is AS_IT_IS.

        Its environment, affinity and memory policy are the caller's. Regions are timed where a library can be preloaded
        for that. Raises UnrunnableProgramError.
        """
        return self._run(program, None, UNLIMITED)

    def _run(self, program: Program, placement: Placement | None, limit: RunLimit) -> Measurement:
        with work_folder() as folder, contextlib.ExitStack() as stack:
            report, forks = folder / "regions", self.conditions.figure.seconds is not None
            if placement is None:
                start = start_as_it_is(program, report, forks=forks)
            else:
                files = PlacementFiles(report=str(report), claims=claims_beside(report), forks=forks)
                start = start_of(program, placement, files)
            alone = stack.enter_context(self._computer.lock.take())
            if self._counters is not None:  # only now: a dry run needs none, the self-test needs the lock
                self.conditions = replace(self.conditions, counters=self._counters())
                self._counters = None
            count = stack.enter_context(counting(self.executions, "runs"))
            whole_s = self.conditions.timeout_s if math.isinf(limit.whole_s) else limit.whole_s
            mapping = AS_IT_IS if placement is None else placement.mapping
            conditions = replace(self.conditions, timeout_s=whole_s)
            if self._files is not None:
                conditions = replace(
                    conditions, watch=stack.enter_context(self._files.kept_apart(program, mapping, folder))
                )
            run = HardwareRun(conditions, program, placement, start, folder, count)
            failed, seen = run.warm_up()
            if failed is None:
                failed, repeated = run.repeat()
            if failed is not None:
                require_room(folder)
                return self._measurement(program, placement, start, failed=failed)
        measured = self._measurement(program, placement, start, repeated, seen)
        noted = (*region_times_note(run.regions), *(self._files.note(program) if self._files is not None else ()))
        measured = msgspec.structs.replace(measured, provenance=(*measured.provenance, *noted))
        return (
            measured if alone else msgspec.structs.replace(measured, provenance=(*measured.provenance, _WITHOUT_TURN))
        )

    def _measurement(
        self,
        program: Program,
        placement: Placement | None,
        start: Start,
        repeated: Repeated | None = None,
        seen: Look | None = None,
        failed: Failed | None = None,
    ) -> Measurement:
        seen, ended_s = seen or Look(), failed.region_time_s if failed else None
        return Measurement(
            program=program.name,
            mapping=AS_IT_IS if placement is None else placement.mapping,
            machine=self.name,
            modelled=False,
            status="ok" if failed is None else failed.status,
            repetitions=repeated.repetitions(seen.local_share) if repeated else (),
            message=failed.message if failed else "",
            provenance=(
                ("source", "wall clock"),
                ("counters", _counters_in_words(self.conditions.counters)),
                ("warm_up", str(self.conditions.warm_up)),
                *(((PLACEMENT, "as it is"),) if placement is None else _placement(start, applied(placement).mapping)),
                *_held(seen),
                *(((REGIONS_ENDED, f"{ended_s:.6f}"),) if ended_s is not None else ()),
                *(((BUSY, failed.busy),) if failed and failed.busy else ()),
                *(repetition_notes(repeated) if repeated else ()),
                *teams_note(repeated.teams if repeated else ()),
                *(((EXIT_CODE, str(repeated.exit_code)),) if repeated and repeated.exit_code else ()),
                *machine_state(),
            ),
        )


def _counters_in_words(calibrated: CalibratedSource | None) -> str:
    if calibrated is None:
        return "none: times and sampled touches of pages only"
    return f"{calibrated.source.name}, which counts {calibrated.factor:.2f} bytes for each one moved"


def _held(seen: Look) -> Iterator[tuple[str, str]]:
    """Yield the note on whether the placement held in the untimed run, where that was observed."""
    shares = [("threads", seen.threads), ("pages", seen.pages)]
    held = ", ".join(f"{share:.1%} of {name}" for name, share in shares if share is not None)
    if held:
        yield ("placement_held" if seen.held else MISPLACED, held)


def _placement(start: Start, mapping: Mapping) -> tuple[tuple[str, str], ...]:
    """Return the notes on what placed the threads and pages, as pairs."""
    if start.way == "numactl":
        return (
            (PLACEMENT, f"OMP_* and numactl, for the preload library cannot place it: {start.obstacle}"),
            (NUMACTL, " ".join(start.numactl[1:]) or "not used"),
        )
    policy = FACTS[mapping.page_policy]
    method = "a chunk of each range a thread" if policy.decided_by == "chunk" else "memory policy"
    method = "next touch" if policy.needs_profile else method
    return ((PLACEMENT, f"libnumaplace {version()}"), ("pages", method))
