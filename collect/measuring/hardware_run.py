"""One measurement on this computer: untimed runs, then timed and counted ones, redone where they were disturbed."""

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from numapredict.collect.figure import TIME, Figure
from numapredict.collect.host.given_environment import given_environment
from numapredict.collect.host.tasks import starts_tasks
from numapredict.collect.host.work_folder import require_room
from numapredict.collect.measurement import Status
from numapredict.collect.measuring.counters.calibration import CalibratedSource
from numapredict.collect.measuring.counters.source import Counting, Traffic, counters_of
from numapredict.collect.measuring.disturbance import Disturbance, Speeds, disturbance, snapshot, wait_for_quiet
from numapredict.collect.measuring.metric import KEPT_BYTES, metric_of
from numapredict.collect.measuring.repetitions import Repeated, Timed, judged_times
from numapredict.collect.measuring.stopping_rule import StoppingRule
from numapredict.collect.measuring.warm_up import Look, files_for_a_look, look
from numapredict.collect.measuring.window import Completed, Readings, completed_now, rate_of
from numapredict.collect.placement import Placement
from numapredict.collect.placing.allowance import TimeAllowance, Window
from numapredict.collect.placing.census import Census, read_census, region_time_so_far
from numapredict.collect.placing.claims import claims_beside
from numapredict.collect.placing.executable import command_of
from numapredict.collect.placing.exit_code import may_be_habit, refusal
from numapredict.collect.placing.launcher import Launching, launcher_command, read_time_s
from numapredict.collect.placing.preload import VARIABLE, PlacementFiles, processes_files
from numapredict.collect.placing.process import Ending, cannot_start, run_process
from numapredict.collect.placing.region_times import RegionTimes, read_region_times, without_work
from numapredict.collect.placing.start import Start, start_of
from numapredict.collect.placing.teams import timed_teams
from numapredict.collect.program import Program
from numapredict.collect.terminal.progress import Count
from numapredict.collect.topology import Topology
from numapredict.native.errors import CounterError, MissingNativePartError

_FOR_THE_PROGRAM = ("LD_PRELOAD", VARIABLE)
_Wrapped = tuple[tuple[str, ...], dict[str, str]]  # a command and its environment


@dataclass(frozen=True)
class Conditions:
    """The conditions of a HardwareMachine's measurements.

    ``usual_codes``: by program, the exit code of a run without any placement, None where it did not finish; no
    dictionary where only 0 is accepted. ``execute`` runs a command as ``run_process`` does. ``region_times``: those of
    each region are kept. ``figure`` is what runs are compared by. ``watch`` is called periodically during each run.
    """

    topology: Topology
    stopping_rule: StoppingRule
    warm_up: int
    timeout_s: float
    counters: CalibratedSource | None
    usual_codes: dict[str, int | None] | None = None
    execute: Callable[..., Ending] = run_process
    region_times: bool = False
    figure: Figure = TIME
    watch: Callable[[], None] = lambda: None


class Failed(msgspec.Struct, frozen=True):
    """A run that ends its measurement: the measurement's status, and what happened.

    ``region_time_s`` is what a run that was ended had spent in parallel regions, None where none had begun. ``busy`` is
    what others took of its PUs meanwhile.
    """

    status: Status
    message: str
    region_time_s: float | None = None
    busy: str = ""


@dataclass
class HardwareRun:
    """One measurement while it is made: ``warm_up`` first, then ``repeat``; files go into ``folder``.

    ``count`` counts the executions of the program. Without a ``placement`` it runs as the caller would start it.
    """

    conditions: Conditions
    program: Program
    placement: Placement | None
    start: Start
    folder: Path
    count: Count
    exit_code: int | None = None  # of the first run that worked
    done: Completed = field(default_factory=Completed)  # in the last run's window
    regions: RegionTimes | None = None  # of the last untimed run, or without one of the last timed one

    def __post_init__(self) -> None:
        self.report = self.folder / "regions"

    def warm_up(self) -> tuple[Failed | None, Look]:
        """Run untimed; return the failure, if there is one, and what the last run showed."""
        seen = Look()
        placed = self.placement if self.start.way == "library" else None
        for left in reversed(range(self.conditions.warm_up)):
            if left == 0 and placed is not None and len(placed.topology.memory_nodes) > 1:
                seen = self._look(placed)
                if seen != Look():
                    continue  # its files show that it ran to its end
            failed = self._failure(self._execute(self.start if left or placed is None else self._watched(placed)))
            if failed is not None:
                return failed, seen
        self._keep_regions()
        return None, seen

    def _watched(self, placement: Placement) -> Start:
        """Return the start of an untimed run, which lists the threads' work too where that is to be kept.

        A timed run does not: on two busy cores two system calls at each barrier made the median of 40 runs of the
        application barrier-pipeline 1.6 times as long.
        """
        if not self.conditions.region_times:
            return self.start
        return start_of(self.program, placement, self._files(work=True))

    def _files(self, *, work: bool) -> PlacementFiles:
        return PlacementFiles(report=str(self.report), work=work, claims=claims_beside(self.report))

    def _keep_regions(self) -> None:
        """Read the region times of the run that has just ended, if they are to be kept and none are yet."""
        if self.conditions.region_times and self.regions is None:
            found = read_region_times(self.report)
            # Of a program as it is, what threads compute while they wait counts as work.
            self.regions = found if found is None or self.placement is not None else without_work(found)

    def repeat(self) -> tuple[Failed | None, Repeated]:
        """Run timed, as often as the stopping rule requires; return the failure, if there is one, and the runs."""
        stopping_rule, cpus = self.conditions.stopping_rule, self.start.cpus
        kept: list[Timed] = []
        redone: list[Timed] = []
        while not stopping_rule.enough([run.time_s for run in kept], judged_times(kept)):
            highest_MHz = max((run.disturbance.frequency_MHz for run in (*kept, *redone)), default=0.0)
            failed, timed = self._timed(highest_MHz)
            if failed is not None:
                return msgspec.structs.replace(failed, busy=timed.disturbance.busy), Repeated((), ())
            if timed.disturbance.worth_redoing and len(redone) < stopping_rule.redo:
                redone.append(timed)
                wait_for_quiet(cpus, stopping_rule.patience_s)
            else:
                kept.append(timed)
        self._keep_regions()
        regions = read_census(self.report)
        # Each rank has its share of the mapping's threads: no rank's team says what the program asks for.
        known = regions.regions if regions and not starts_tasks(self.program.command) else ()
        teams = timed_teams(known, given_environment() | dict(self.program.environment))
        return None, Repeated(tuple(kept), tuple(redone), self.exit_code or 0, teams)

    def _timed(self, highest_MHz: float) -> tuple[Failed | None, Timed]:
        """Run once, timed and counted; return the failure, if it is one, and the run."""
        cpus = self.start.cpus
        traffic: Traffic | None = None
        uncounted = ""
        clock = self.folder / "time"
        clock.unlink(missing_ok=True)
        stack = contextlib.ExitStack()
        try:
            counting, uncounted = self._counting(stack)
            speeds = Speeds(cpus)
            before = snapshot(cpus)
            ending = self._execute(self.start, counting, clock, speeds.look)
            found: Disturbance = disturbance(before, snapshot(cpus, speeds.median_MHz), len(cpus), highest_MHz)
            if counting is not None and not ending.timed_out and may_be_habit(ending.exit_code):
                traffic, uncounted = _traffic_of(counting)
        finally:
            uncounted = _closed(stack) or uncounted
        # Guard and counting tool take time to start and to end, which is not the program's.
        time_s = (None if ending.at_window else read_time_s(clock)) or ending.time_s
        regions = read_census(self.report)
        if regions is None and self.start.way == "library":  # it has none, or they could not be written
            require_room(self.folder)
        calibrated = self.conditions.counters
        failed, window_s = self._failure(ending), self.conditions.figure.seconds
        readings, why = self._figure(ending, time_s) if failed is None else ((), "")
        failed = Failed("crashed", why) if why else failed
        return failed, Timed(
            time_s=time_s,
            # Regions that threads run side by side add up to more than the run.
            region_time_s=None if regions is None else min(self._region_time_s(regions, ending), time_s),
            disturbance=found,
            counters=counters_of(traffic, time_s, calibrated.factor) if traffic and calibrated else None,
            uncounted=uncounted,
            counted_share=traffic.running_share if traffic else 1.0,
            counting_notes=traffic.notes if traffic else (),
            readings=readings,
            early=f"{time_s:.3g} s" if window_s is not None and not ending.at_window else "",
        )

    def _figure(self, ending: Ending, time_s: float) -> tuple[Readings, str]:
        """Return the readings of the figure that is compared, none of the time, or in words why there is none."""
        figure = self.conditions.figure
        if figure.metric:
            return metric_of(figure.metric, ending)
        if figure.seconds is None:
            return (), ""
        done = self.done if ending.at_window else completed_now(self.report)
        return rate_of(done, time_s, figure.seconds, early=not ending.at_window)

    def _region_time_s(self, regions: Census, ending: Ending) -> float:
        return self.done.region_time_s if ending.at_window else regions.region_time_s

    def _counting(self, stack: contextlib.ExitStack) -> tuple[Counting | None, str]:
        """Return the next run's counting, ended with the stack, or None and why there is none although expected."""
        if self.conditions.counters is None:
            return None, ""
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=self.folder)))
        try:
            return stack.enter_context(self.conditions.counters.source.counting(self.start.cpus, folder)), ""
        except CounterError as error:
            return None, str(error)

    def _look(self, placement: Placement) -> Look:
        """Run once with the library recording the placement; return an empty Look where the run did not finish."""
        folder = self.folder / "look"
        folder.mkdir(exist_ok=True)
        work = self.conditions.region_times
        files = files_for_a_look(folder)
        files = msgspec.structs.replace(self._files(work=work), profile=files.profile, map=files.map)
        if self.conditions.counters is not None:  # counters show local accesses more exactly
            files = msgspec.structs.replace(files, profile=None)
        watched = start_of(self.program, placement, files)
        ending = self._execute(watched)
        return Look() if self._failure(ending) else look(files, placement)

    def _failure(self, ending: Ending) -> Failed | None:
        """Return what failed in the run that has just ended, None where it worked: see HardwareMachine."""
        if ending.timed_out:
            return Failed("timeout", ending.reason, region_time_so_far(self.report, time.monotonic_ns()))
        code, known = ending.exit_code, self.conditions.usual_codes
        if ending.at_window:  # what it ends with when it is asked to says nothing
            if known is not None and self.placement is None:
                known.setdefault(self.program.identity, None)
            return None
        if code and (not may_be_habit(code) or read_census(self.report) is None):
            return Failed("crashed", ending.reason)
        if known is not None and self.placement is None:
            known.setdefault(self.program.identity, code)
        if code and known is None:
            return Failed("crashed", refusal(self.program.name, code))
        if code and known is not None and not self._is_habit(known):
            return Failed("crashed", f"{ending.reason}; without a mapping it does not end so")
        if self.exit_code is not None and bool(self.exit_code) != bool(code):
            return Failed("crashed", f"exit code {code} after runs that ended with {self.exit_code}")
        self.exit_code = code
        return None

    def _is_habit(self, known: dict[str, int | None]) -> bool:
        """Return whether the program ends with a code other than 0 as the caller would start it; run once a program.

        The code may vary: a `main` without `return` may end with the length of its last output.
        """
        if self.program.identity not in known:
            environment = given_environment() | dict(self.program.environment)
            start = Start(command_of(self.program), environment, tuple(sorted(os.sched_getaffinity(0))), "numactl")
            ending = self._run(_wrapped(start, None, None), start.cpus)
            known[self.program.identity] = None if ending.timed_out or ending.at_window else ending.exit_code
        usual = known[self.program.identity]
        return usual is not None and usual != 0 and may_be_habit(usual)

    def _execute(
        self,
        start: Start,
        counting: Counting | None = None,
        clock: Path | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> Ending:
        """Run once after removing an earlier run's files; its time is written to ``clock``."""
        for file in list(processes_files(self.report)):
            file.unlink()
        ending = self._run(_wrapped(start, counting, clock), start.cpus, meanwhile)
        self.count.step()
        return ending

    def _run(self, wrapped: _Wrapped, cpus: Sequence[int], meanwhile: Callable[[], None] | None = None) -> Ending:
        """Run a command once, ``meanwhile`` called periodically; raise UnrunnableProgramError where it cannot start."""

        def look() -> None:
            self.conditions.watch()
            if meanwhile is not None:
                meanwhile()

        try:
            return self.conditions.execute(*wrapped, self.program.directory, self._allowed(), cpus, look)
        except (OSError, ValueError) as error:  # ValueError: a null character in an argument
            raise cannot_start(self.program.command[0], error) from None

    def _allowed(self) -> float | TimeAllowance:
        """Return how long a run may take, with the end of its window and the output that is searched."""
        figure, most_s = self.conditions.figure, self.conditions.timeout_s
        if figure.is_time:
            return most_s
        window = None if figure.seconds is None else Window(self._note_window)
        return TimeAllowance(figure.seconds or most_s, output_bytes=KEPT_BYTES if figure.metric else 0, window=window)

    def _note_window(self) -> None:
        self.done = completed_now(self.report)


def _traffic_of(counting: Counting) -> tuple[Traffic | None, str]:
    try:
        return counting.traffic(), ""
    except CounterError as error:
        return None, str(error)


def _closed(stack: contextlib.ExitStack) -> str:
    """End a run's counting; return its error, "" for none: the run's times are valid in any case."""
    try:
        stack.close()
    except CounterError as error:
        return str(error)
    return ""


def _wrapped(start: Start, counting: Counting | None, clock: Path | None) -> _Wrapped:
    """Return the command and the environment of a run, timed if there is a clock, and counted if need be.

    The preload library is set for the program alone, else it would also place the guard and the counting tool.
    """
    own = {name: value for name, value in start.environment.items() if name in _FOR_THE_PROGRAM}
    others = {name: value for name, value in start.environment.items() if name not in own}
    try:
        timed = launcher_command(start.command, own, Launching(time=clock))
        return timed if counting is None else counting.command(timed, {}), others
    except MissingNativePartError:
        return start.command, start.environment
