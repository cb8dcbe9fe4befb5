"""The answer on a program's regions as a page shows it: what is to gain, and the tables of regions and of replays."""

import msgspec

from numapredict.collect.mapping import parse_label
from numapredict.collect.measuring.quiet import busy_in_words
from numapredict.collect.placing.command import run_words
from numapredict.collect.source.region_names import region_names
from numapredict.collect.terminal.estimated_time import seconds_in_words
from numapredict.collect.terminal.printable import command_line
from numapredict.predictor.advising.mapping_text import mapping_in_words
from numapredict.predictor.regions.one_mapping import OneMapping
from numapredict.predictor.regions.planned_application import PlannedApplication
from numapredict.predictor.regions.regions_text import PlanChange, class_lines, plan_changes, plan_command, plan_remarks
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.reports.parts.gains_drawing import GainsDrawing, gains_drawing
from numapredict.reports.region_gains import GainCell, region_gains_data


class ReplayedData(msgspec.Struct, frozen=True, kw_only=True):
    """The answer: the one mapping to run the whole program under, with its ``words`` and ``command``, if there is one.

    ``plan_command`` applies the ``plan``, if one was written: its ``changes``, and ``remarks`` on these. ``bound`` is
    the speedup with each region under its own best mapping; ``worth`` says whether that is noticeable, ``busy`` why no
    gain can be told, if others disturbed the run.
    """

    one: OneMapping | None
    words: str
    command: str
    bound: float
    worth: bool
    replayed_share: float
    busy: str
    baseline: str
    notes: tuple[str, ...]
    plan: PlannedApplication | None
    plan_command: str
    changes: tuple[PlanChange, ...]
    remarks: tuple[str, ...]


class GainedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table of regions; ``mapping`` is the best that is confirmed, ``why`` the reason if there is none.

    Figures are None where there are none.
    """

    name: str
    share: float
    instances: int
    team: int
    replay_ratio: float | None
    mapping: str
    speedup: float | None
    lowest: float | None
    why: str


class ReplayRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table of replays: a region under a mapping."""

    region: str
    mapping: str
    cell: GainCell


class GainsData(msgspec.Struct, frozen=True, kw_only=True):
    """The heat map and its tables; ``baseline`` is what speedups are over."""

    drawing: GainsDrawing | None
    regions: tuple[GainedRow, ...]
    replays: tuple[ReplayRow, ...]
    baseline: str


def replayed_data(answer: ReplayedRegions) -> ReplayedData:
    """Return the answer itself."""
    one = answer.whole_program
    unlike = [*map(region_names(answer.regions), filter(lambda region: region.is_unlike, answer.regions))]
    doubt = (
        f"a replay of {' and '.join(unlike)} takes another time than an instance in the run: these gains are those of "
        "the instance that was replayed"
    )
    return ReplayedData(
        one=one,
        words="" if one is None else mapping_in_words(parse_label(one.mapping)),
        command="" if one is None else f"{run_words(one.mapping)}{command_line(answer.command)}",
        bound=answer.speedup,
        worth=answer.is_worth_it,
        replayed_share=answer.replayed_share,
        busy=busy_in_words(answer.disturbed),
        baseline=answer.baseline,
        notes=((doubt,) if unlike else ()) + tuple(class_lines(answer)) + answer.notes,
        plan=answer.plan,
        plan_command="" if answer.plan is None else plan_command(answer.plan, answer),
        changes=() if answer.plan is None else tuple(plan_changes(answer.plan)),
        remarks=() if answer.plan is None else plan_remarks(answer.plan),
    )


def gains_data(answer: ReplayedRegions) -> GainsData:
    """Return the heat map and the tables, regions with most time first."""
    data = region_gains_data(answer)
    replays = [
        ReplayRow(region=row.name, mapping=label, cell=cell)
        for row in data.rows
        for label, cell in zip(data.mappings, row.cells, strict=True)
        if cell.state not in ("not tried", "own team")
    ]
    rows, names = [], region_names(answer.regions)
    for region in sorted(answer.regions, key=lambda each: -each.share):
        best = region.best
        rows.append(
            GainedRow(
                name=names(region),
                share=region.share,
                instances=region.count,
                team=region.team,
                replay_ratio=region.replay_ratio,
                mapping="" if best is None else best.mapping,
                speedup=None if best is None else best.speedup,
                lowest=None if best is None else best.lowest,
                why="" if best is not None else region.problem or next((g.problem for g in region.gains), ""),
            )
        )
    return GainsData(
        drawing=gains_drawing(data) if data.rows else None,
        regions=tuple(rows),
        replays=tuple(replays),
        baseline=answer.baseline,
    )


def replays_about(answer: ReplayedRegions) -> tuple[tuple[str, str], ...]:
    """Return the facts about the run, as pairs of name and text."""
    facts = [
        ("Program", command_line(answer.command)),
        ("Machine", answer.machine),
        ("Baseline", f"{answer.baseline}: the program ran so, and speedups are over it"),
        ("Run", f"{seconds_in_words(max(answer.wall_s - answer.replay_s, 0.0))} by the program itself"),
        ("Replays", f"{seconds_in_words(answer.replay_s)}, while the program stood still"),
        ("Regions", f"{seconds_in_words(answer.region_time_s)}, {answer.replayed_share:.0%} of it replayed"),
    ]
    if answer.signal is not None:
        facts.append(("Ended by", answer.signal))
    elif answer.exit_code:
        facts.append(("Exit code", str(answer.exit_code)))
    return tuple(facts)
