"""Measures, or on a described machine models, the time in parallel regions with the pages of single variables moved."""

import math
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from numapredict.collect.campaign.machine_choice import modelled_machine
from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.measuring.disturbance import snapshot
from numapredict.collect.measuring.quiet import busy_in_words, others_at_work, others_since
from numapredict.collect.placement import Placement
from numapredict.collect.placing.claims import claims_beside
from numapredict.collect.placing.page_plan import PagePlan, joined
from numapredict.collect.placing.plan_file import Plan, write_plan
from numapredict.collect.placing.preload import PlacementFiles
from numapredict.collect.placing.process import cannot_start, exit_and_signal, run_process
from numapredict.collect.placing.profile_file import Profile
from numapredict.collect.placing.region_times import region_times_of_processes, with_places
from numapredict.collect.placing.start import start_of
from numapredict.collect.placing.symbols import load_address
from numapredict.collect.program import Program
from numapredict.collect.source.modules import Modules
from numapredict.collect.source.place import Place
from numapredict.collect.terminal.progress import doing
from numapredict.native.errors import MissingNativePartError, TracingError, UnrunnableProgramError
from numapredict.predictor.variables.plan_gain import modelled_times
from numapredict.predictor.variables.remedy import PLACED, Remedy
from numapredict.predictor.variables.time_cost import TimeCost, Times, run_saving, time_cost_of
from numapredict.predictor.variables.traffic import as_it_is
from numapredict.predictor.variables.variable import Severity, Variable
from numapredict.predictor.variables.variable_plan import Judged, is_placed_alone, placed_alone

ROUNDS, FURTHER_ROUNDS = 3, 2
"""Of runs in turn: a change must gain in each. Further ones follow where one gained in the mean, and is not sure."""

MOST_TIMED = 3
"""Variables: more runs than of these, of none and of all together would take long."""

Way = tuple[Placement, Path | None]
"""A placement, and the plan that is applied under it, if there is one."""


def measured_costs(
    program: Program, placement: Placement, plans: Sequence[PagePlan], exit_code: int
) -> tuple[TimeCost | None, ...]:
    """Run the program without and with each plan in turn, and return what each takes off the time in regions.

    UnrunnableProgramError where a run has no time in regions, or another exit code than the profiled one.
    """
    with work_folder() as folder:
        ways: list[Way] = [(placement, None)]
        for number, plan in enumerate(plans):
            path = folder / f"plan{number}"
            here, label = placement.topology, placement.mapping.label
            write_plan(Plan(here.fingerprint, here.name, label, pages=plan), path)
            ways.append((placement, path))
        return costs_in_turn(program, ways, folder, exit_code)


def costs_in_turn(program: Program, ways: Sequence[Way], folder: Path, exit_code: int) -> tuple[TimeCost | None, ...]:
    """Run the program in each of these ways in turn, and return what all but the first take off its time in regions.

    ``folder`` is for files that are made meanwhile. UnrunnableProgramError as of ``measured_costs``.
    """
    places: dict[Hashable, Place] = {}
    rounds: list[list[_Run]] = []
    costs: tuple[TimeCost | None, ...] = ()
    for number in range(ROUNDS + FURTHER_ROUNDS):
        if number == ROUNDS and not any(cost is not None and cost.saved > 0 and not cost.is_sure for cost in costs):
            break
        most = ROUNDS if number < ROUNDS else ROUNDS + FURTHER_ROUNDS
        with doing(f"round {number + 1} of {most}: {len(ways)} runs of {program.name}"):
            reports = [folder / f"regions{number}-{at}" for at in range(len(ways))]
            pairs = zip(ways, reports, strict=True)
            rounds.append([_run(program, way, (report, exit_code), places) for way, report in pairs])
        before, *after = zip(*rounds, strict=True)
        costs = tuple(_cost(before, each, places) for each in after)
    return costs


class _Run(NamedTuple):
    """A run's time, and the time of each region."""

    time_s: float
    regions: Times


def _cost(before: Sequence[_Run], after: Sequence[_Run], places: Mapping[Hashable, Place]) -> TimeCost | None:
    gone_s = [sum(was.regions.values()) - sum(now.regions.values()) for was, now in zip(before, after, strict=True)]
    run = run_saving([each.time_s for each in before], [each.time_s for each in after], gone_s)
    return time_cost_of([each.regions for each in before], [each.regions for each in after], places, run)


def _run(program: Program, way: Way, wanted_of: tuple[Path, int], places: dict[Hashable, Place]) -> _Run:
    (placement, plan), (report, exit_code) = way, wanted_of
    wanted = PlacementFiles(plan=None if plan is None else str(plan), report=str(report), claims=claims_beside(report))
    start = start_of(program, placement, wanted, near=True)
    try:
        ending = run_process(start.command, dict(start.environment), program.directory, math.inf, start.cpus)
    except (OSError, ValueError) as error:
        raise cannot_start(program.command[0], error) from None
    if exit_and_signal(ending.exit_code)[0] != exit_code:
        raise UnrunnableProgramError(f"{program.name} failed in a further run ({ending.reason or 'exit code 0'})")
    modules, times = Modules(), dict[Hashable, float]()
    found = region_times_of_processes(report)
    for region in (region for each in found for region in with_places(each, modules).regions):
        key = region.module, region.offset
        times[key] = times.get(key, 0.0) + region.time_s
        if region.place is not None:
            places[key] = region.place
    if not times:
        raise UnrunnableProgramError(f"{program.name} had no time in parallel regions in a further run")
    return _Run(ending.time_s, times)


def modelled_costs(
    machine: str, program: Program, placement: Placement, plans: Sequence[PagePlan]
) -> tuple[TimeCost | None, ...]:
    """Return what each plan takes off the modelled time in regions; None of one whose pages were not traced.

    Raises TracingError where the program cannot be traced, and MissingNativePartError without the emulator.
    """
    with doing(f"tracing {program.name} for the time that its variables cost"):
        model, modules = modelled_machine(machine), Modules()
        before, after = modelled_times(model, program, placement, plans)
        traced = model.traced(program, placement.mapping.threads, placement.mapping.thread_policy)
    places: Mapping[Hashable, Place] = {
        region.key: modules.place(region.path, load_address(region.path) + region.offset)
        for region in traced.census.regions
        if region.path
    }
    return tuple(None if each is None else time_cost_of([before], [each], places) for each in after)


class Timed(msgspec.Struct, frozen=True):
    """Variables judged by the time that they cost, that of all together, what judged them, and remarks."""

    pairs: Sequence[Judged]
    together: TimeCost | None
    severity: Severity
    notes: tuple[str, ...]


def timed(
    pairs: Sequence[Judged],
    profile: Profile,
    placement: Placement,
    program: Program,
    machine: str | None,
    exit_code: int,
) -> Timed:
    """Return the variables judged by time: on a described machine by the model, here by runs.

    Only those with the largest share of touches from elsewhere are timed. Where the time cannot be told, shares of
    touches judge as before, and a remark says why.
    """
    chosen = [each for each in pairs if each[1].remedy.action in PLACED][:MOST_TIMED]
    known = [each for each in chosen if is_placed_alone(each[0], profile)]
    if not known:
        return Timed(pairs, None, "share of touches", ("no variable has a cost in time to find out",))
    plans = [plan for _, plan in placed_alone(known, profile, placement)]
    plans += [joined(plans)] if len(plans) > 1 else []
    try:
        if machine is not None:
            costs = modelled_costs(machine, program, placement, plans)
        else:
            costs, busy = _measured_quietly(program, placement, plans, exit_code)
            if busy:
                return Timed(pairs, None, "share of touches", (f"{busy_in_words(busy)}: shares of touches judge",))
    except (TracingError, MissingNativePartError, UnrunnableProgramError) as error:
        return Timed(pairs, None, "share of touches", (f"what variables cost in time is not known: {error}",))
    by_variable = {id(found): cost for (found, _), cost in zip(known, costs, strict=False)}
    judged = [(found, by_time(variable, by_variable.get(id(found)))) for found, variable in pairs]
    judged.sort(key=lambda one: -(one[1].time.saved if one[1].time is not None else -math.inf))
    return Timed(judged, costs[-1], "measured time" if machine is None else "modelled time", ())


def _measured_quietly(
    program: Program, placement: Placement, plans: Sequence[PagePlan], exit_code: int
) -> tuple[tuple[TimeCost | None, ...], str]:
    """Return what each plan takes off the time in regions, and what others took of the computer meanwhile."""
    if busy := others_at_work(placement.pus):
        return (), busy  # three rounds would tell nothing
    before = snapshot(placement.pus)
    costs = measured_costs(program, placement, plans, exit_code)
    return costs, others_since(before, placement.pus)


def by_time(variable: Variable, cost: TimeCost | None) -> Variable:
    """Return a variable with what it costs in time, and with no remedy where that is not worth it."""
    if cost is None:
        return variable
    timed = msgspec.structs.replace(variable, time=cost)
    if cost.is_worth:
        return timed
    remedy, traffic = Remedy("nothing", f"not worth fixing: {cost.in_words} would go"), variable.traffic
    return msgspec.structs.replace(timed, remedy=remedy, traffic=None if traffic is None else as_it_is(traffic))
