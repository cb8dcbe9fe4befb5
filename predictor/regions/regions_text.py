"""The answer on a program's regions in words, for a person to read."""

import shlex
import textwrap
from collections.abc import Callable, Iterator
from typing import NamedTuple

from numapredict.collect.capturing.gain import Gain
from numapredict.collect.measuring.quiet import busy_in_words
from numapredict.collect.page_policy import PROFILED
from numapredict.collect.source.region_names import region_names
from numapredict.collect.terminal.estimated_time import seconds_in_words
from numapredict.collect.terminal.printable import command_line, counted, name_cell
from numapredict.predictor.regions.planned_application import PlannedApplication, PlannedPlace
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.replayed_regions import ReplayedRegions

_WIDTH = 100
_SEEN_CLASS = 0.05
"""Of a region's time: a class with less is not worth a word where it was not replayed."""
_SEEN = 0.005
"""A smaller share of the time is not worth a word."""
_UNDONE = 0.25
"""Of the way to first replays, which start their teams, too, and fetch what copies left out."""


def regions_in_words(answer: ReplayedRegions) -> Iterator[str]:
    """Return the lines on a run's regions; the first says so where others disturbed it."""
    if not answer.regions:
        yield "regions: no OpenMP parallel region began"
        return
    if answer.disturbed:
        yield from _wrapped(busy_in_words(answer.disturbed), indent=0)
    shown = [region for region in answer.regions if region.gains]
    plain_s, again_s = (seconds_in_words(each) for each in (answer.plain_s, answer.wall_s - answer.replay_s))
    took = f"the program itself took {plain_s}, and {again_s} again, the replays {seconds_in_words(answer.replay_s)}"
    yield (
        f"regions: {answer.replayed_share:.0%} of the time in regions was replayed: {counted(len(shown), 'region')} of "
        f"{len(answer.regions)}" + (f"; {took}" if answer.plain_s else "")
    )
    yield ""
    yield from _table(answer)
    yield ""
    yield from _wrapped(_advice(answer))
    yield from _one_mapping(answer)
    if answer.plan is not None:
        yield from _plan(answer.plan, answer)
    unlike = [*map(region_cells(answer), filter(lambda region: region.is_unlike, answer.regions))]
    doubt = f"replay/run is far from 1 for {' and '.join(unlike)}: instances differ, or were interrupted"
    for note in [*([doubt] if unlike else []), *class_lines(answer), *answer.notes]:
        yield from _wrapped(f"- {note}", hanging=2)


def class_lines(answer: ReplayedRegions) -> Iterator[str]:
    """Return a line for each region whose instances differ: what those of each length gain from its best mapping.

    And one for each whose replays may do less than its instances.
    """
    names = region_cells(answer)
    for region in answer.regions:
        best = region.best
        if region.undone >= _UNDONE:
            yield (
                f"a replay of {names(region)} may find done what the one before it did: its times are "
                f"{region.undone:.0%} on the way to those of first replays"
            )
        if best is None:
            continue
        if region.problem:
            left = f"{1 - region.replayed:.0%} of {names(region)}"
            yield f"{left} was not replayed and counts as it is: {region.problem}"
        if len(region.classes) < 2:
            continue
        sides = []
        for one in (each for each in region.classes if each.gains or each.share >= _SEEN_CLASS):
            gain = next((gain for gain in one.gains if gain.mapping == best.mapping), None)
            gained = f", {gain.speedup:.2f}x" if gain is not None and gain.speedup and best.speedup != 1 else ""
            gained = gained if one.gains else ", not replayed"
            alike = f"{counted(one.count, 'instance')} of {seconds_in_words(one.mean_s)}"
            sides.append(f"{alike} ({one.share:.0%} of its time{gained})")
        under = f", under {best.mapping}" if best is not region.gains[0] else ""
        yield f"instances of {names(region)} differ{under}: {', '.join(sides)}"


def _table(answer: ReplayedRegions) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [
        ("region", "time", "replayed", "instances", "replay/run", "emptied", "threads", *_heads(answer), "others")
    ]
    names = region_cells(answer)
    rows += [_row(region, names(region)) for region in answer.regions if region.gains]
    left = [region for region in answer.regions if not region.gains]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows if len(rows) > 1 else []:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    for region in left:
        time = f"{seconds_in_words(region.time_s)} in {counted(region.count, 'instance')}"
        yield f"  {names(region)}, {region.share:.0%} ({time}): not replayed, {region.problem}"


def _heads(answer: ReplayedRegions) -> tuple[str, str]:
    """Return what the mapping with the largest gain is called, and that."""
    return ("fastest meanwhile", "by") if answer.disturbed else ("best mapping", "gain")


def _row(region: ReplayedRegion, name: str) -> tuple[str, ...]:
    best = region.best
    others = ", ".join(_in_words(gain) for gain in region.gains[1:] if gain is not best)
    ratio = "-" if region.replay_ratio is None else f"{region.replay_ratio:.2f}"
    head = (
        name,
        f"{region.share:.0%}",
        f"{region.replayed:.0%}",
        str(region.count),
        ratio,
        f"{region.emptied:.0%}",
        str(region.team),
    )
    if best is None:
        return (*head, "-", "-", region.gains[0].problem)
    if best is region.gains[0]:
        return (*head, "as it is", "-", others)
    return (*head, best.mapping, f"{best.speedup:.2f}x", others)


def _in_words(gain: Gain) -> str:
    if gain.speedup is None:
        return f"{gain.mapping}: {gain.problem}"
    doubt = " once" if gain.speedup > 1 and not gain.is_sure else ""
    return f"{gain.mapping} {gain.speedup:.2f}x{doubt}"


def region_cells(answer: ReplayedRegions) -> Callable[[ReplayedRegion], str]:
    """Return what gives each region its name in a table or a sentence, in which two may look alike if they are long."""
    names = region_names(answer.regions)
    return lambda region: name_cell(names(region))


def _advice(answer: ReplayedRegions) -> str:
    if answer.disturbed:
        return f"the baseline {answer.baseline} stays: what was measured meanwhile says little"
    if answer.replayed_share == 0:
        return f"nothing could be replayed: the baseline {answer.baseline} stays"
    if not answer.is_worth_it:
        return f"no region gains from another mapping: {answer.baseline} is right for all of them"
    return (
        f"each region under its own best mapping: all regions {answer.speedup:.2f}x as fast, at most, since threads "
        "and pages would have to change between them"
    )


def plan_command(plan: PlannedApplication, answer: ReplayedRegions) -> str:
    """Return the command that applies a plan and checks it."""
    return f"numapredict run --plan {shlex.quote(plan.path)} --verify -- {command_line(answer.command)}"


def _plan(plan: PlannedApplication, answer: ReplayedRegions) -> Iterator[str]:
    """Return what a plan does and should gain, and the command that applies it."""
    yield ""
    yield from _wrapped(
        f"the plan {plan.path}, under {plan.mapping}: all regions {plan.speedup:.2f}x as fast by these replays "
        f"({plan.one_speedup:.2f}x under the best one mapping, {plan.one_mapping}); to apply and to check it:"
    )
    yield f"  {plan_command(plan, answer)}"
    if plan.time is not None:
        yield from _wrapped(
            f"in {plan.time.rounds} rounds of runs, in turn with the run as it is, it saves {plan.time.in_words}"
        )
    for change in plan_changes(plan):
        yield from _wrapped(f"- {change.text}", hanging=2)
        for place in change.places:
            yield from _wrapped(place, indent=6, hanging=2)
    for note in plan_remarks(plan):
        yield from _wrapped(f"- {note}", hanging=2)


class PlanChange(NamedTuple):
    """One thing that a plan does, in words, and for an array that moves its places."""

    text: str
    places: tuple[str, ...] = ()


def plan_changes(plan: PlannedApplication) -> Iterator[PlanChange]:
    """Return each team, each array that goes elsewhere and each that moves."""
    for team in plan.teams:
        threads = counted(team.threads, "thread")
        yield PlanChange(f"{team.region}: {threads} as under {team.mapping}, {team.speedup:.2f}x")
    for array in plan.arrays:
        yield PlanChange(f"{name_cell(array.name)}: {counted(array.pages, 'page')} as under {array.like}")
    for move in plan.moves:
        pages, times = counted(move.pages, "page"), counted(round(move.times), "time")
        yield PlanChange(
            f"{name_cell(move.name)}: its {pages} move {times} in the run", tuple(map(_place_in_words, move.places))
        )


def plan_remarks(plan: PlannedApplication) -> tuple[str, ...]:
    """Return what moves and changes of teams cost, which regions disagree, and why no team is smaller."""
    remarks = list(plan.conflicts)
    if plan.moves:
        gain, cost = seconds_in_words(plan.move_gain_s), seconds_in_words(plan.move_s)
        remarks.insert(0, f"moves of pages gain {gain}, over the best plan that moves none, and cost {cost}")
    if plan.change_share >= _SEEN:
        remarks.append(f"changes of teams between regions take {plan.change_share:.0%} of their time, at most")
    if plan.teams_stay:
        remarks.append(f"no team is smaller than the others: {plan.teams_stay}")
    return tuple(remarks)


def _place_in_words(place: PlannedPlace) -> str:
    """Return where regions want an array; under policies that go by touches that is by theirs."""
    by_touches = place.like.endswith(tuple(f"-{policy}" for policy in PROFILED))
    return f"as under {place.like} {'by the touches of' if by_touches else 'for'} {' and '.join(place.regions)}"


def _wrapped(text: str, indent: int = 2, hanging: int = 0) -> Iterator[str]:
    """Return the lines of a paragraph; all but the first are ``hanging`` columns further in."""
    first, others = " " * indent, " " * (indent + hanging)
    yield from textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


def _one_mapping(answer: ReplayedRegions) -> Iterator[str]:
    """Return what one mapping for the whole program gains, if one significantly does, and the command."""
    best = answer.whole_program
    if best is None:
        return
    yield from _wrapped(
        f"one mapping for the whole program, {best.mapping}: all regions {best.speedup:.2f}x as fast by these "
        f"replays ({best.lowest:.2f}x by the slowest of each); to measure it:"
    )
    yield f"  numapredict run --mapping {best.mapping} -- {command_line(answer.command)}"
