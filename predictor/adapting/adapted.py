"""The record of a run that changed its mapping while it ran, and its summary in words."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from numapredict.collect.measuring.quiet import busy_in_words
from numapredict.collect.placing.adapt_table import Outcome
from numapredict.collect.terminal.estimated_time import seconds_in_words
from numapredict.collect.terminal.printable import counted

BASELINE = "as-it-is"
_LEAST_GAIN = 0.01  # native/placement/adapt/decision.h


class TriedMapping(msgspec.Struct, frozen=True, kw_only=True):
    """A mapping that was tried, or ``teams`` of its regions, after ``at_s`` seconds, and what became of it.

    ``speedup`` is over the mapping that the program had ``before``, or its own teams: by ``turns`` pairs of both in
    turn, or, where that is 0, by the medians of ``steps`` steps; at most this where it was cut short. ``cost_s``: how
    much longer the program took for it, below 0 where it was faster at once.
    """

    mapping: str
    before: str
    outcome: Outcome
    speedup: float
    cost_s: float
    at_s: float
    steps: int
    turns: int = 0
    teams: bool = False


class TeamOfRegion(msgspec.Struct, frozen=True):
    """A region, by the lower 32 bits of its key in other files, and its threads over nodes, such as 4x1."""

    region: int
    team: str


class Adapted(msgspec.Struct, frozen=True, kw_only=True):
    """A run of `run --adapt`, as its `-o` writes it.

    ``mapping`` is the one at the end, ``start`` the one at the start, each ``as-it-is`` for the program without a
    mapping. ``speedup`` is that of its steps at the end over those before the first trial, as the trials measured it.
    ``spent_s``: what trials cost, ``saved_s`` what kept mappings saved meanwhile. ``pages``: moved between regions;
    those that followed their threads are not counted. ``step_regions`` regions make a step of ``step_s`` seconds.
    ``left_alone`` says why nothing was tried, or nothing more. ``kept``: whether the next run starts by this one.
    ``regions``: those that have a smaller team than the mapping's at the end.
    ``disturbed`` is what others took of the computer meanwhile: then the speedups say little, and nothing is kept.
    """

    command: tuple[str, ...]
    machine: str
    start: str
    mapping: str
    speedup: float
    spent_s: float
    saved_s: float
    pages: int
    step_regions: int
    step_s: float
    trials: tuple[TriedMapping, ...]
    left_alone: str
    kept: bool
    time_s: float
    exit_code: int
    signal: str | None
    status: Literal["ended", "cut off"]
    regions: tuple[TeamOfRegion, ...] = ()
    disturbed: str = ""


def starts_next_run(mapping: str, start: str, gain: float) -> bool:
    """Return whether the next run begins under the mapping of the end, by its gain over that of the start in log2.

    Pages that have all moved stay there also where that was no gain: moving them back would cost as much again.
    """
    return mapping != BASELINE and (mapping == start or gain > _LEAST_GAIN)


def adapted_in_words(found: Adapted) -> Iterator[str]:
    """Return the lines of the summary; the first says so where others disturbed the trials."""
    if found.disturbed:
        yield f"adapt: {busy_in_words(found.disturbed)}"
    if found.left_alone:
        yield f"adapt: left alone{'' if not found.trials else ' from then on'}: {found.left_alone}"
    elif not found.step_regions:
        yield "adapt: nothing was tried: it ended too early, or its regions follow no pattern"
    elif not found.trials:
        yield (
            f"adapt: nothing was tried in {seconds_in_words(found.time_s)}: no mapping promised more than a trial costs"
        )
    for trial in found.trials:
        yield f"adapt: after {seconds_in_words(trial.at_s)}: {_trial_in_words(trial)}"
    if found.disturbed:
        yield "adapt: what was measured meanwhile says little, and is not kept"
    elif found.trials or found.start != BASELINE:
        yield _end_in_words(found)


def _trial_in_words(trial: TriedMapping) -> str:
    cost = "" if trial.cost_s < 0 else f", which cost {seconds_in_words(trial.cost_s)}"
    gain = f"{trial.speedup:.2f}x over {trial.before}"
    if trial.turns:
        gain += f" in {counted(trial.turns, 'pair')} of turns"
    what = "smaller teams of regions" if trial.teams else trial.mapping
    match trial.outcome:
        case "kept":
            return f"{what} kept: {gain}{cost}"
        case "no gain" if trial.teams and not trial.turns:
            return f"{what} left again: none was faster{cost}"
        case "no gain":
            return f"{what} left again: {gain}{cost}"
        case "cut short":
            return f"{what} cut short: at most {gain}{cost}"
        case "gone back":
            return f"{what} given up: {gain} after all"
        case "interrupted":
            return f"{what} interrupted: moves of pages were dearer than expected, or its regions changed"


def _end_in_words(found: Adapted) -> str:
    where = found.mapping if found.mapping != BASELINE else "as it is"
    if found.regions:
        where += f", with a smaller team in {counted(len(found.regions), 'region')}"
    if found.status == "cut off":
        return f"adapt: at the last trial's end {where}"
    kept = "; the next run starts with it" if found.kept and (found.mapping != BASELINE or found.regions) else ""
    measured = [trial for trial in found.trials if trial.outcome == "kept"]
    turns = sum(trial.turns for trial in measured)
    how = f", by {counted(turns, 'pair')} of turns" if measured and all(each.turns for each in measured) else ""
    return (
        f"adapt: at the end {where}, steps {found.speedup:.2f}x as fast as at the start{how}; trials cost "
        f"{seconds_in_words(found.spent_s)} of {seconds_in_words(found.time_s)} and gained "
        f"{seconds_in_words(found.saved_s)}{kept}"
    )
