"""How two answers differ: advice, gain and the time of the run as it is."""

import msgspec

from numapredict.collect.figure import Figure
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.terminal.estimated_time import seconds_in_words
from numapredict.native.errors import InvalidInputError
from numapredict.predictor.advising.advice import Advice


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One answer: its mapping, its speedup of the whole run from ``low`` to ``high``, and the baseline's seconds.

    ``baseline_s`` is None where that run failed.
    """

    program: str
    machine: str
    modelled: bool
    mapping: AnyMapping
    keep: bool
    speedup: float
    low: float
    high: float
    baseline_s: float | None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Two answers; ``differ`` says in words in what they do, empty where in nothing."""

    figure: Figure
    first: Side
    second: Side
    differ: tuple[str, ...]


def compare(first: Advice, second: Advice) -> Compared:
    """Return how two answers differ; InvalidInputError where they are by two figures."""
    if first.figure != second.figure:
        raise InvalidInputError(f"the answers on {first.program} compare runs by two figures: name two by the same")
    sides = _side(first), _side(second)
    return Compared(figure=first.figure, first=sides[0], second=sides[1], differ=_differences(*sides))


def _side(advice: Advice) -> Side:
    return Side(
        program=advice.program,
        machine=advice.machine,
        modelled=advice.modelled,
        mapping=advice.mapping,
        keep=advice.keep,
        speedup=advice.speedup,
        low=advice.low,
        high=advice.high,
        baseline_s=advice.runs[0].time_s,
    )


def _differences(first: Side, second: Side) -> tuple[str, ...]:
    found = []
    if first.program != second.program:
        found.append("the command")
    if (first.machine, first.modelled) != (second.machine, second.modelled):
        found.append("the machine")
    if first.mapping != second.mapping and not (first.keep and second.keep):
        found.append("the mapping")
    if first.high < second.low or second.high < first.low:
        found.append("the gain, by more than both intervals")
    return tuple(found)


def compared_in_words(found: Compared) -> str:
    """Return a line an answer, and one on what differs."""
    lines = []
    for side in (found.first, found.second):
        gain = f"{side.speedup:.2f}x ({side.low:.2f} to {side.high:.2f})"
        advice = "keep as it is" if side.keep else f"{side.mapping} {gain}"
        if side.baseline_s is not None:
            advice += f"; {side.program} as it is {seconds_in_words(side.baseline_s)}"
        lines.append(f"{advice} on {side.machine}{', modelled' if side.modelled else ''}")
    lines.append(f"They differ in {', '.join(found.differ)}." if found.differ else "They agree.")
    return "\n".join(lines)
