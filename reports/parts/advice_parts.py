"""An answer as a page shows it: the advice, the runs that confirm it, and what a further run would be."""

import itertools
from typing import NamedTuple

import msgspec

from numapredict.collect.figure import Figure, number_in_words
from numapredict.collect.mapping import Mapping
from numapredict.collect.terminal.printable import counted
from numapredict.predictor.advising.advice import Advice, FurtherRun
from numapredict.predictor.advising.advice_text import (
    adds_nothing,
    baseline_in_words,
    chosen_by,
    computed_in_words,
    confirmed_in_words,
    decided_by,
    gain_in_words,
    kept_in_words,
    name_in_words,
    to_apply,
)
from numapredict.predictor.advising.confirmation import Confirmation
from numapredict.predictor.advising.mapping_text import mapping_in_words
from numapredict.reports.parts.quantity import factor, seconds
from numapredict.reports.parts.topology import TopologyData


class AnswerData(msgspec.Struct, frozen=True, kw_only=True):
    """The advice and its ``gain`` in words; ``why_kept`` is why the program should stay as it is.

    ``interval`` is what confirms a gain.
    ``computed`` says which mappings were computed from traces, ``to_apply`` where the command applies the advice.
    ``over_default`` is the speedup over the default mapping, None where it is not known or would say nothing new.
    ``placed`` is the mapping drawn on the nodes, None where the program stays as it is. ``local`` has the shares of
    local accesses before and after, each by its mapping, empty where not both were read.
    """

    answer: Advice
    words: str
    why_kept: tuple[str, ...]
    gain: str
    over: str
    over_default: float | None
    interval: str
    computed: str
    to_apply: str
    placed: TopologyData | None
    local: tuple[tuple[str, float], ...]


class Round(NamedTuple):
    """A confirming round: both times or metrics in words, and the speedup, None where a run failed or was not made."""

    baseline: str
    mapping: str
    speedup: float | None


class ConfirmingData(msgspec.Struct, frozen=True, kw_only=True):
    """The confirming rounds of ``mapping`` against what it is ``over``, and the ``result`` in words."""

    mapping: str
    over: str
    rounds: tuple[Round, ...]
    result: str


class FurtherData(msgspec.Struct, frozen=True, kw_only=True):
    """What a further run should bring and costs, as pairs of name and text; ``decided_by`` would make it, or why not.

    ``expected_by`` says whose gains these figures rest on.
    """

    mapping: str
    words: str
    facts: tuple[tuple[str, str], ...]
    decided_by: str
    expected_by: str


def answer_data(found: Advice, placed: TopologyData | None = None) -> AnswerData:
    """Return the record of an answer that is consistent."""
    mapping, confirmation = found.mapping, found.confirmation
    new = found.baseline != found.default != mapping and not found.keep
    return AnswerData(
        answer=found,
        words=mapping_in_words(mapping) if isinstance(mapping, Mapping) else "",
        why_kept=kept_in_words(found) if found.keep else (),
        gain=gain_in_words(found),
        over=baseline_in_words(found),
        over_default=found.speedup_over_default if new else None,
        interval=confirmed_in_words(confirmation) if confirmation and len(confirmation.mapping_s) > 1 else "",
        computed=computed_in_words(found),
        to_apply=to_apply(found.modelled).strip(),
        placed=placed,
        local=_local_shares(found),
    )


def _local_shares(found: Advice) -> tuple[tuple[str, float], ...]:
    """Return the shares of local accesses under the baseline and under the advised mapping."""
    shares = {run.mapping: run.local_share for run in found.runs if run.outcome == "done"}
    both = [(name_in_words(each), shares.get(each)) for each in (found.baseline, found.mapping)]
    known = tuple((name, share) for name, share in both if share is not None)
    return known if len(known) == 2 and not found.keep else ()


def confirming_data(found: Advice, confirmation: Confirmation) -> ConfirmingData:
    """Return the confirming rounds of an answer that is consistent."""
    result = confirmation.reason
    if confirmation.speedup is not None:
        mean = " on average (geometric mean)" if len(confirmation.mapping_s) > 1 else ""
        better = "significantly faster" if found.figure.is_time else f"significantly better by {found.figure.name}"
        sure = better if confirmation.won else f"not {better}: keep what you have"
        result = f"{factor(confirmation.speedup)}{mean}: {sure}"
    return ConfirmingData(
        mapping=confirmation.mapping.label,
        over=baseline_in_words(found),
        rounds=_rounds(found.figure, confirmation),
        result=result,
    )


def _rounds(figure: Figure, confirmation: Confirmation) -> tuple[Round, ...]:
    def in_words(value: float | None) -> str:
        if value is None:
            return "no time" if figure.is_time else "none"
        return seconds(value) if figure.is_time else number_in_words(value)

    times = confirmation.baseline_s, confirmation.mapping_s
    sides = times if figure.is_time else (confirmation.baseline_figures, confirmation.mapping_figures)
    return tuple(
        Round(in_words(one), in_words(other), figure.speedup(one, other) if one and other else None)
        for one, other in itertools.zip_longest(*sides)
    )


def further_data(found: Advice) -> FurtherData | None:
    """Return what a further run would be, None if no mapping is left."""
    if found.next is None:
        return None
    mapping, worth_from = found.next.mapping, found.next.worth_from_runs
    decided = "" if adds_nothing(found, found.next) else decided_by(found, found.next)
    if worth_from is not None and found.expected_runs is not None and found.expected_runs < worth_from:
        decided = "not made, since the program will run less often"
    return FurtherData(
        mapping=mapping.label,
        words=mapping_in_words(mapping) if isinstance(mapping, Mapping) else "",
        facts=_further_facts(found, found.next),
        decided_by=decided,
        expected_by=f"expected by {chosen_by(found)}",
    )


def _further_facts(found: Advice, following: FurtherRun) -> tuple[tuple[str, str], ...]:
    speed, worth_from = following.speedup, following.worth_from_runs
    confirming = f", of which {seconds(following.confirming_s)} to confirm its gain" if following.confirming_s else ""
    facts = [
        (
            f"It should {'speed up' if found.figure.is_time else 'improve'} the best so far by",
            f"{following.expected_speedup - 1:.1%} on average; a worse run counts as 0%",
        ),
        (
            "The run itself, over the best so far",
            f"{factor(speed.median)}, {factor(speed.low)} to {factor(speed.high)} (90% interval)",
        ),
        (f"Chance that it is {'faster' if found.figure.is_time else 'better'}", f"{following.chance:.0%}"),
        ("It costs at most", "a trace" if found.modelled else f"{seconds(following.cost_s)}{confirming}"),
    ]
    if not found.figure.is_time:
        return tuple(facts)
    if worth_from is None:
        return (*facts, ("Worth it", "never: it should save nothing"))
    facts += [
        ("It should save", f"{seconds(following.saving_s)} in each later run of the program"),
        ("Worth it", f"from {worth_from} runs of the program on" if worth_from > 1 else "from the first run on"),
    ]
    if found.expected_runs is not None:
        facts.append(("The program will run", f"{counted(found.expected_runs, 'time')}, by --for"))
    return tuple(facts)
