"""A computer on which a program may also be one region of an application: replayed while the application runs.

What CERE's codelets are for (ICS'19 sec. 3.3), without a compiler pass: a first run of the application says which
instances stand for which, and one more gives a region's times under many mappings. Under those that replays cannot
apply, and for regions that cannot be replayed, whole runs under the mapping give the region's time by the region clock.
"""

import math
import statistics
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import msgspec

from numapredict.collect.capturing.capturing_environment import capturing_environment
from numapredict.collect.capturing.exchange import AskedRegion, Outcome, fits, place_of, variable_text
from numapredict.collect.capturing.first_run import FirstRun, execute, first_run
from numapredict.collect.capturing.gain import cannot_be, is_like
from numapredict.collect.capturing.instance_class import LEAST_INSTANCE_S, LEAST_SHARE, RegionInstances
from numapredict.collect.capturing.replay_time import emptied_share, time_of
from numapredict.collect.capturing.replayed_class import replayed_classes, together
from numapredict.collect.capturing.watcher import CapturedRegion, Watcher
from numapredict.collect.host.facts.facts import machine_state
from numapredict.collect.host.given_environment import given_environment
from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.collect.measuring.hardware import HardwareMachine
from numapredict.collect.measuring.measurement_lock import MeasurementLock
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.elf import preload_obstacle
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.placing.exit_code import PROVENANCE as EXIT_CODE
from numapredict.collect.placing.exit_code import may_be_habit
from numapredict.collect.placing.region_times import PROVENANCE as REGION_TIMES
from numapredict.collect.placing.region_times import region_times_of
from numapredict.collect.program import Program
from numapredict.collect.space import default_mapping
from numapredict.native.library import capture_library

SLICE_S = 300.0
"""Replays of one run of an application: what was replayed is kept when the run has ended, and only then."""

MOST_TRIES = 2
"""Runs of an application in which a region was not replayed: on a busy computer one may say little."""

_Place = tuple[str, int]
"""A region, as ``place_of`` tells it apart."""


class _Cell(msgspec.Struct, frozen=True):
    """A region's time an instance under a mapping, in seconds, once a round; or why it could not be replayed."""

    times_s: tuple[float, ...] = ()
    problem: str = ""


class RegionMachine:
    """The computer that this runs on, for programs and for regions of programs.

    ``hardware`` measures whole programs; ``whole`` runs an application once under a mapping, with a note of its
    regions' times. A region's time is that of one instance: under the default mapping the mean of the run's own, under
    others this over what replays gained, in ``rounds`` rounds with the default's in turn. One run of an application
    has replays for ``slice_s`` seconds of the region that is asked for, and for as many of all others that are
    expected.
    """

    modelled = False
    controllers_GBps = ()

    def __init__(
        self,
        hardware: HardwareMachine,
        whole: HardwareMachine,
        rounds: int,
        slice_s: float = SLICE_S,
    ) -> None:
        self.name, self.topology = hardware.name, hardware.topology
        self.executions = hardware.executions
        self._hardware, self._whole, self._rounds, self._slice_s = hardware, whole, rounds, slice_s
        self._baseline = resolve(default_mapping(self.topology), self.topology)
        self._expected: dict[tuple[str, _Place], list[Placement]] = {}
        self._tries: Counter[tuple[str, _Place]] = Counter()
        self._codes: dict[str, int] = {}
        self._first: dict[str, FirstRun] = {}
        self._cells: dict[tuple[str, _Place, str], _Cell] = {}
        self._never: dict[tuple[str, _Place], str] = {}
        self._whole_runs: dict[tuple[str, str], list[Measurement]] = {}
        self._lock = MeasurementLock()

    def expect(self, program: Program, mappings: Sequence[Mapping]) -> None:
        """Expect these runs, in this order: regions are replayed together under what is left of them."""
        if program.region is not None:
            wanted = [resolve(mapping, self.topology) for mapping in mappings]
            replayable = [each for each in wanted if fits(each) and each.mapping != self._baseline.mapping]
            self._expected[_application(program).identity, place_of(*program.region)] = replayable

    def supports(self, mapping: Mapping) -> bool:
        """Return whether the mapping fits this computer and its pages can be placed here."""
        return self._hardware.supports(mapping)

    def estimate_s(self, program: Program, mappings: Sequence[Mapping]) -> None:
        """Return None: how long a program takes here is known after its first run."""

    def traces_to_take(self, program: Program, mappings: Sequence[Mapping]) -> None:
        """Return None: real runs need no traces."""

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        """Measure a program, or a region of one, under the mapping; raise what HardwareMachine.run does."""
        if program.region is None:
            return self._hardware.run(program, mapping)
        placement, application = resolve(mapping, self.topology), _application(program)
        place = place_of(*program.region)
        key = application.identity, place, placement.mapping.label
        if fits(placement) and key not in self._cells and key[:2] not in self._never:
            self._replay(application, place, placement)
        cell = self._cells.get(key, _Cell(problem=self._never.get(key[:2], "")))
        if cell.times_s:
            code = self._codes.get(application.identity, 0)
            notes = (("source", "wall clock"), *(((EXIT_CODE, str(code)),) if code else ()), *machine_state())
            return self._measurement(program, placement, cell.times_s, "replays in forks of the program", notes)
        return self._by_whole_runs(program, application, placement, cell.problem)

    # ---- replays ----

    def replays(
        self, application: Program, place: _Place, first: Placement
    ) -> Callable[[AskedRegion], Generator[Placement, Outcome, bool]]:
        """Return what chooses the placements in a run that is made for one region, under one placement first of all.

        It lives in the watching process.
        """
        left_s = {True: self._slice_s, False: self._slice_s}  # for that region, and for all others
        # of the first class of each region's instances: further ones have the same
        done: dict[tuple[int, int], list[Placement]] = {}

        def chosen(asked: AskedRegion) -> Generator[Placement, Outcome, bool]:
            at = place_of(asked.module, asked.offset)
            own = at == place
            wanted = [each for each in self._left(application, at) if not own or each.mapping != first.mapping]
            if own and first.mapping != self._baseline.mapping:
                wanted.insert(0, first)
            first_made = done.get((asked.process, asked.key))
            if first_made is not None:
                wanted = first_made
            if not (own or wanted) or left_s[own] <= 0 or (first_made == []):
                return False
            before = yield self._baseline
            emptied = emptied_share([before], asked.mean_s)
            if cannot_be(before) or not is_like(time_of(before, emptied), asked.mean_s):
                return True
            made = done.setdefault((asked.process, asked.key), [])
            for _ in range(0 if wanted else self._rounds - 1):
                yield self._baseline
            for each in wanted:
                if left_s[own] <= 0:
                    break
                began_s = time.monotonic()
                for _ in range(self._rounds):
                    yield each
                    yield self._baseline
                left_s[own] -= time.monotonic() - began_s
                if first_made is None:
                    made.append(each)
            return False

        return chosen

    def _left(self, application: Program, place: _Place) -> list[Placement]:
        """Return the placements but the default's under which a region is still to be replayed."""
        return [
            each
            for each in self._expected.get((application.identity, place), ())
            if (application.identity, place, each.mapping.label) not in self._cells
        ]

    def _replay(self, application: Program, place: _Place, first: Placement) -> None:
        """Run the application with its regions replayed, and keep what came of it."""
        obstacle = preload_obstacle(Path(executable_of(application)), capture_library())
        if obstacle:
            self._never[application.identity, place] = obstacle
            return
        with work_folder() as folder, self._lock.take():
            caller, limit_s = given_environment() | dict(application.environment), self._hardware.conditions.timeout_s
            plain = self._first.get(application.identity)
            if plain is None:
                plain = first_run(application, caller, self._baseline, folder, limit_s)
                if plain.ending is None:
                    raise KeyboardInterrupt
                self._first[application.identity] = plain
            choose = self.replays(application, place, first)
            with Watcher(choose, folder / "replays", plain.regions) as watcher:
                settings = variable_text(watcher.name, str(folder / "regions"))
                environment = capturing_environment(caller, self._baseline, capture_library(), settings)
                ending = execute(application, environment, self._baseline, limit_s + 3 * self._slice_s)
        key = application.identity, place
        strict = self._hardware.conditions.stopping_rule.strict
        if ending.timed_out or (ending.exit_code and (strict or not may_be_habit(ending.exit_code))):
            self._never[key] = ending.reason
            return
        self._codes[application.identity] = ending.exit_code
        regions = {place_of(each.module, each.offset): each for each in plain.regions}
        tried: dict[_Place, list[CapturedRegion]] = {}
        for one in watcher.found:
            tried.setdefault(place_of(one.asked.module, one.asked.offset), []).append(one)
        for at, captured in tried.items():
            for label, cell in _cells(captured, regions[at], self._rounds).items():
                self._cells.setdefault((application.identity, at, label), cell)
        if (*key, first.mapping.label) not in self._cells:
            why, is_sure = _why_not(tried.get(place, []))
            self._tries[key] += 1
            if is_sure or place not in regions or self._tries[key] >= MOST_TRIES:
                self._never[key] = why if place in regions else "it did not come under the default mapping"

    # ---- whole runs ----

    def _by_whole_runs(self, program: Program, application: Program, placement: Placement, why: str) -> Measurement:
        """Return a region's time by runs of the application under the mapping, made once for all its regions."""
        key = application.identity, placement.mapping.label
        if key not in self._whole_runs:
            made: list[Measurement] = []
            while len(made) < self._rounds and all(run.status == "ok" for run in made):
                made.append(self._whole.run(application, placement.mapping))
            self._whole_runs[key] = made
        runs = self._whole_runs[key]
        failed = next((run for run in runs if run.status != "ok"), None)
        times_s = [each for run in runs if (each := _instance_s(run, program)) is not None]
        if failed is None and len(times_s) < len(runs):
            gone = "the region did not come; if the program was built anew, list its regions again"
            failed = msgspec.structs.replace(runs[0], status="crashed", repetitions=(), message=gone)
        if failed is not None:
            return msgspec.structs.replace(failed, program=program.name)
        how = f"whole runs, by the region clock{': ' if why else ''}{why}"
        notes = tuple(note for note in runs[0].provenance if note[0] != REGION_TIMES)
        return self._measurement(program, placement, times_s, how, notes)

    def _measurement(
        self,
        program: Program,
        placement: Placement,
        times_s: Sequence[float],
        how: str,
        notes: tuple[tuple[str, str], ...],
    ) -> Measurement:
        return Measurement(
            program=program.name,
            mapping=placement.mapping,
            machine=self.name,
            modelled=False,
            repetitions=tuple(Repetition(each, each) for each in times_s),
            provenance=(("region", how), *notes),
        )


def _application(program: Program) -> Program:
    """Return the whole program of a region."""
    return msgspec.structs.replace(program, name=Path(program.command[0]).name, region=None)


def _instance_s(run: Measurement, program: Program) -> float | None:
    times = region_times_of(run)
    for region in times.regions if times is not None else ():
        if program.region is not None and place_of(region.module, region.offset) == place_of(*program.region):
            return region.time_s / region.count if region.count else None
    return None


def _cells(tried: Sequence[CapturedRegion], region: RegionInstances, rounds: int) -> dict[str, _Cell]:
    """Return a region's time under each mapping that it was replayed under, of replays in the order of ``replays``.

    The mean of its instances is that of the first run, which no fork has slowed down.
    """
    by_class: dict[int, CapturedRegion] = {}
    for one in tried:
        # Of an instance that was passed over there is the baseline's first replay alone.
        if len(one.replays) >= rounds and not cannot_be(one.replays[0].outcome):
            by_class.setdefault(one.asked.number, one)
    chosen = list(by_class.values())
    if not chosen:
        return {}
    found = {chosen[0].replays[0].mapping: _of_the_run(chosen[0], region.mean_s, rounds)}
    for first in range(0, len(chosen[0].replays) - 2 * rounds, 2 * rounds):
        mapping, times_s, problem = chosen[0].replays[first + 1].mapping, list[float](), ""
        if mapping in found:  # the baseline's alone
            break
        for at in range(first, first + 2 * rounds, 2):
            parts = [msgspec.structs.replace(one, replays=one.replays[at : at + 3]) for one in chosen]
            whole = [part for part in parts if len(part.replays) == 3]
            gains = together(replayed_classes(region.classes, whole), region.mean_s)
            gain = next((gain for gain in gains if gain.mapping == mapping), None)
            if gain is None or not gain.speedup:
                problem = gain.problem if gain is not None else "it could not be replayed"
                break
            times_s.append(region.mean_s / gain.speedup)
        found[mapping] = _Cell(problem=problem) if problem else _Cell(tuple(times_s))
    return found


def _of_the_run(one: CapturedRegion, mean_s: float, rounds: int) -> _Cell:
    """Return the baseline's times: the run's mean, as much apart as its replays are."""
    base = [each.outcome for each in one.replays if each.mapping == one.replays[0].mapping]
    emptied = emptied_share(base, one.asked.mean_s)
    known_s = [each for outcome in base if not math.isnan(each := time_of(outcome, emptied))]
    middle_s = statistics.median(known_s)
    return _Cell(tuple(mean_s * each / middle_s for each in known_s[:rounds]))


def _why_not(tried: Sequence[CapturedRegion]) -> tuple[str, bool]:
    """Return why a region was not replayed, and whether it would not be in another run, either."""
    problems = [each.outcome.problem for one in tried for each in one.replays if each.outcome.problem]
    if problems:
        return problems[0], True
    if tried:
        return "no replay took as long as the instances it stands for", False
    least_us = LEAST_INSTANCE_S * 1e6
    return (
        f"it has under {LEAST_SHARE:.0%} of the time, or comes in under {least_us:.0f} us",
        False,
    )
