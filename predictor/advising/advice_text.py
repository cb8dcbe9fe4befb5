"""The answer in words, for a person to read."""

import statistics
import textwrap

from numapredict.collect.figure import number_in_words
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.measuring.quiet import busy_in_words
from numapredict.collect.terminal.estimated_time import seconds_in_words
from numapredict.collect.terminal.printable import counted, name_cell, printable
from numapredict.predictor.advising.advice import Advice, FurtherRun
from numapredict.predictor.advising.confirmation import LEAST_GAIN, Confirmation
from numapredict.predictor.advising.explanation import Choice, Explanation
from numapredict.predictor.advising.mapping_text import mapping_in_words
from numapredict.predictor.advising.search_run import SearchRun, numbers_of, outcome_in_words
from numapredict.predictor.advising.similar_programs import similar_in_words

_COLUMN = " " * 20  # where the answers begin
_WIDTH = 100
_LEAST_SEEN = 1.0005  # less is printed as 0.0%


def advice_in_words(found: Advice) -> str:
    """Return the answer for a person to read."""
    modelled = " (modelled)" if found.modelled else ""
    lines = [f"{printable(found.program)} on {name_cell(found.machine)}{modelled}", ""]
    if found.own_threads:
        lines += [*under("its own threads", found.own_threads), ""]
    lines += [
        *(kept_lines(found) if found.keep else _gain_lines(found)),
        "",
        *_explanation_lines(found.explanation),
        "",
        *_run_lines(found),
        "",
        *under("chosen by", chosen_by(found)),
    ]
    if found.similar is not None:
        first, *others = similar_in_words(found.similar)
        lines += ["", *under("similar programs", first), *(line for text in others for line in under("", f"- {text}"))]
    if found.warnings:
        lines += ["", *under("warnings", "; ".join(found.warnings))]
    return "\n".join([*lines, "", *_command_lines(found)])


def chosen_by(found: Advice) -> str:
    """Return what chose the runs, and the mapping."""
    if found.method == "thesis":
        return "two probe runs and the cluster that they assign the program to, by the thesis's method"
    return f"what {found.knows} gained"


def computed_in_words(found: Advice) -> str:
    """Return which mappings were computed from traces; empty for none."""
    if not found.computed:
        return ""
    threads = sorted({run.mapping.threads for run in found.runs if isinstance(run.mapping, Mapping)})
    *most, last = map(str, threads)
    listed = f"{', '.join(most)} or {last}" if most else last
    mappings = f"{counted(found.computed, 'mapping')} of {listed} threads"  # AS_FAST: the simplest, not the very best
    return f"within 2% of the best of {mappings}, all computed from their traces"


def _explanation_lines(explanation: Explanation) -> list[str]:
    """Return a few lines: why, what each choice gives, what is nearly as good, and what would change the answer."""
    topics = {
        "why": [each.text for each in explanation.findings if each.topic in ("default", "binds")],
        "page policies": [_choice_in_words(each) for each in explanation.choices if each.part == "pages"],
        "threads": [_choice_in_words(each) for each in explanation.choices if each.part == "threads"],
        "nearly as good": [f"{each.mapping} ({each.speedup:.2f}x: {each.differs})" for each in explanation.close],
        "in the source": [each.text for each in explanation.findings if each.topic == "tip"],
        "would change it": [each.text for each in explanation.findings if each.topic == "change"],
    }
    return [line for title, texts in topics.items() for line in under(title, "; ".join(texts))]


def _choice_in_words(choice: Choice) -> str:
    expected = "" if choice.ran else f" expected, {choice.low:.2f}x to {choice.high:.2f}x"
    return f"{choice.words} {choice.speedup:.2f}x{expected}"


def name_in_words(mapping: AnyMapping) -> str:
    """Return a mapping's label, or that it is none: the program as it is."""
    return mapping.label if isinstance(mapping, Mapping) else "as it is now"


def baseline_in_words(found: Advice) -> str:
    """Return what speedups are over, as part of a sentence."""
    return found.baseline.label if isinstance(found.baseline, Mapping) else "the program as it is now"


def title_of(found: Advice) -> str:
    """Return what the mapping of an answer is called: of the thesis's method another one may have been faster."""
    return "best mapping" if found.method == "search" else "cluster's mapping"


def faster_in_words(found: Advice) -> str:
    """Return which run was faster than the mapping of the cluster; empty for none."""
    advised = next((run.speedup for run in found.runs if run.mapping == found.mapping), None) or 1.0
    fastest = max(found.runs, key=lambda run: run.speedup or 0.0)
    faster = found.method == "thesis" and (fastest.speedup or 0.0) > advised
    return f"another mapping was faster: {fastest.mapping} ({fastest.speedup:.2f}x)" if faster else ""


def _gain_lines(found: Advice) -> list[str]:
    title = "modelled speedup" if found.modelled else "measured speedup"
    lines = [f"  {title_of(found):18}{found.mapping}"]
    if isinstance(found.mapping, Mapping):
        lines.append(_wrapped(mapping_in_words(found.mapping)))
    lines += under(title, f"{gain_in_words(found)}, over {baseline_in_words(found)}")
    if computed := computed_in_words(found):
        lines.append(_wrapped(f"({computed})"))
    if faster := faster_in_words(found):
        lines.append(_wrapped(f"({faster})"))
    if found.confirmation is not None and len(found.confirmation.mapping_s) > 1:
        lines.append(_wrapped(f"({confirmed_in_words(found.confirmation)})"))
    if found.speedup_over_default is not None and found.baseline != found.default != found.mapping:
        lines.append(_wrapped(f"{found.speedup_over_default:.2f}x over {found.default}, the default mapping"))
    return lines


def gain_in_words(found: Advice) -> str:
    """Return the gain of the whole run, and that of its parallel regions with their part of it, or by the metric."""
    confirmation = found.confirmation
    if not found.figure.is_time and confirmation is not None:
        before, after = map(statistics.geometric_mean, (confirmation.baseline_figures, confirmation.mapping_figures))
        change = f"from {number_in_words(before)} to {number_in_words(after)}"
        by_time = f" ({confirmation.time_speedup or 0.0:.2f}x by run time)" if found.figure.seconds is None else ""
        return f"{found.speedup:.2f}x by {found.figure.name}, {change}{by_time}"
    text = f"{found.speedup:.2f}x for the whole run"
    if found.region_speedup is None or found.region_share is None:
        return text
    return f"{text}, {found.region_speedup:.2f}x for its parallel regions ({found.region_share:.0%} of it)"


def confirmed_in_words(confirmation: Confirmation) -> str:
    """Return the interval of the confirming runs."""
    low, high, rounds = confirmation.low or 0.0, confirmation.high or 0.0, len(confirmation.mapping_s)
    return f"{low:.2f}x to {high:.2f}x in {counted(rounds, 'further run')} of each, in turn"


def kept_in_words(found: Advice) -> tuple[str, ...]:
    """Return why the program should stay as it is, and what the fastest mapping gave when it was run again, if it was.

    For an answer that keeps the baseline.
    """
    confirmation, (better, fastest_is) = found.confirmation, _better(found)
    kept = f"no mapping that ran was significantly {better}"
    others = found.runs[1:]
    if found.computed:
        kept = f"none of {counted(found.computed, 'mapping')} that were computed was significantly faster"
    if found.disturbed:
        return _disturbed_in_words(found)
    if others and all(run.outcome == "failed" for run in others):
        which = "the only other run" if len(others) == 1 else f"all {len(others)} other runs"
        return (f"{which} failed, the last one under {others[-1].mapping}: {others[-1].message}",)
    if isinstance(found.baseline, Mapping):
        kept += f" than {found.baseline}"
    thesis = found.method == "thesis"
    if confirmation is None:
        fastest = max(found.runs, key=lambda run: run.speedup or 0.0)
        if thesis:
            probe = f", but another was: {fastest.mapping} ({fastest.speedup:.2f}x)"
            return (f"its cluster's mapping was not faster{probe if (fastest.speedup or 0.0) > 1 else ''}",)
        if (fastest.speedup or 0.0) > 1:  # equal to the baseline's only for itself
            kept = f"{fastest.mapping} was the fastest ({fastest.speedup:.2f}x), but to confirm that"
            kept += f" would cost more than it saves in {counted(found.expected_runs or 0, 'run')}"
        elif len(found.runs) == 1 and found.next is not None and not found.computed:
            kept = f"no mapping was tried, for none was expected to add {2**LEAST_GAIN - 1:.2%}"
            if found.expected_runs is not None:
                kept = "no mapping was tried, for that would cost more than it should save in "
                kept += counted(found.expected_runs, "run")
        return (kept,)
    was = "of its cluster was faster" if thesis else f"was the {fastest_is}"
    if confirmation.speedup is None:
        return kept, f"{confirmation.mapping} {was}, but {confirmation.reason}"
    again = f"{confirmation.speedup:.2f}x ({confirmed_in_words(confirmation)})"
    return kept, f"{confirmation.mapping} {was}, but run again it gave {again}"


def _better(found: Advice) -> tuple[str, str]:
    """Return what a mapping is that is better than another, and than all others."""
    return ("faster", "fastest") if found.figure.is_time else (f"better by {found.figure.name}", "best by it")


def _disturbed_in_words(found: Advice) -> tuple[str, ...]:
    """Return what others did on the computer, what to do, and what was measured."""
    fastest = max(found.runs[1:], key=lambda run: run.speedup or 0.0, default=None)
    told = busy_in_words(found.disturbed)
    if fastest is None or not fastest.speedup:
        return (told,)
    return told, f"measured meanwhile, which says little: {fastest.speedup:.2f}x under {fastest.mapping}"


def kept_lines(found: Advice) -> list[str]:
    """Return the lines of an answer that keeps the baseline."""
    kept, *again = kept_in_words(found)
    return [*under("best mapping", f"keep what you have: {kept}"), *map(_wrapped, again)]


def kept_runs_in_words(found: Advice) -> str:
    """Return which runs earlier commands made, and since when; empty for none."""
    if not found.kept_runs:
        return ""
    since = found.kept_since[:16].replace("T", " ")
    which = "the first run" if found.kept_runs == 1 else f"the first {found.kept_runs} runs"
    return f"{which}, made from {since} UTC on; --fresh makes all runs anew"


def _run_lines(found: Advice) -> list[str]:
    lines = []
    for run, number in zip(found.runs, numbers_of(found.runs), strict=True):
        lines += under(number, _run_in_words(found, run))
    if found.trace_share is not None and found.trace_share < 1:
        lines.append(_wrapped(f"(without the {1 - found.trace_share:.1%} of the region time that no trace saw)"))
    if found.kept_runs:
        lines += under("kept", kept_runs_in_words(found))
    if found.method == "thesis" or found.disturbed:
        return lines
    following = "no mapping is left to run" if found.next is None else _further_in_words(found, found.next)
    return [*lines, _wrapped(following)]


def _further_in_words(found: Advice, following: FurtherRun) -> str:
    """Return what a further run should bring and what it costs, and what would make it."""
    speed, worth_from = following.expected_speedup, following.worth_from_runs
    text = f"a further run, of {following.mapping}, is expected to "
    if adds_nothing(found, following):
        return text + "add nothing"
    better, improve = ("faster", "speed up") if found.figure.is_time else ("better", "improve")
    alone, chance = following.speedup, f"{better} with a chance of {following.chance:.0%}"
    interval = f"{alone.low:.2f}x to {alone.high:.2f}x over it, 90% interval"
    if found.modelled or worth_from is None:  # what it costs here is a trace, and what a metric is worth who knows
        text += f"{improve} the best by {speed - 1:.1%} on average ({interval}, {chance})"
        return f"{text}; {decided_by(found, following)}"
    cost, saving = seconds_in_words(following.cost_s), seconds_in_words(following.saving_s)
    confirming = " with the runs that confirm it" if following.confirming_s else ""
    text += f"speed up the best by {speed - 1:.1%} on average ({interval}, {chance}): it costs {cost} at most"
    text += (
        f"{confirming} and should save {saving} a run, which pays off after {counted(worth_from, 'run')} of the program"
    )
    return f"{text}; {decided_by(found, following)}"


def further_in_brief(found: Advice) -> str:
    """Return what a further run should add, and what would make it."""
    following = found.next
    if following is None:
        return "no mapping is left to try"
    if adds_nothing(found, following):
        return "is expected to add nothing"
    return f"is expected to add {following.expected_speedup - 1:.1%}; {decided_by(found, following)}"


def adds_nothing(found: Advice, following: FurtherRun) -> bool:
    """Return whether a further run is expected to add nothing that is seen; what a better metric saves is not known."""
    if following.expected_speedup < _LEAST_SEEN:
        return True
    return following.worth_from_runs is None and found.figure.is_time


def decided_by(found: Advice, following: FurtherRun) -> str:
    """Return what would make a further run that should add something, or why it was not made."""
    worth_from, said = following.worth_from_runs or 0, found.expected_runs
    if said is not None and said < worth_from:
        return f"you said {said}"
    enough = said or following.expected_speedup >= 2**LEAST_GAIN
    made = sum(not run.computed for run in found.runs)
    if not found.figure.is_time and not enough:
        return "too little for a run"
    return f"--runs {made + 1} makes it" if enough else f"--for {worth_from} makes it"


def _run_in_words(found: Advice, run: SearchRun) -> str:
    outcome = outcome_in_words(run, found.figure)
    return f"{name_in_words(run.mapping)}: {outcome.removesuffix(', 1.00x') if run is found.runs[0] else outcome}"


def _command_lines(found: Advice) -> list[str]:
    other = found.alternative
    if other is None:
        return [to_apply(found.modelled), f"  {found.command}"]
    measured = "" if other.speedup is None else f" ({other.speedup:.2f}x)"
    how = ", to the same effect" if other.exact else f", approximately: {other.mapping}{measured}"
    without = f"or with OMP_* and numactl alone{how}"
    without = textwrap.fill(without, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    lines = [to_apply(found.modelled), f"  {found.command}", "", without, f"  {other.command}"]
    return [*lines, f"  ({other.note})"] if other.note else lines


def to_apply(modelled: bool) -> str:
    """Return the line above a command: of a described machine, this computer is none."""
    return "  to apply it on such a machine" if modelled else "  to apply it"


def under(title: str, text: str) -> list[str]:
    """Return a text behind a title, in lines of at most 100 columns; labels are never broken."""
    return textwrap.wrap(
        text, _WIDTH, initial_indent=f"  {title:18}", subsequent_indent=_COLUMN, break_on_hyphens=False
    )


def _wrapped(text: str) -> str:
    return "\n".join(under("", text))
