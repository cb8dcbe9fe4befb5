"""The answer of a search in words, for a person to read."""

from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.terminal.estimated_time import seconds_in_words
from numapredict.collect.terminal.printable import counted, name_cell, printable
from numapredict.predictor.advising.advice_text import lines_to_run, mapping_in_words, to_apply, under
from numapredict.predictor.advising.search import SearchRun, outcome_in_words
from numapredict.predictor.advising.searched import Confirmation, FurtherRun, Searched
from numapredict.predictor.advising.verification import LEAST_GAIN


def searched_in_words(found: Searched) -> str:
    """Return the answer for a person to read."""
    modelled = " (modelled)" if found.modelled else ""
    lines = [f"{printable(found.program)} on {name_cell(found.machine)}{modelled}", ""]
    if found.own_threads:
        lines += [*under("its own threads", found.own_threads), ""]
    lines += [
        *(kept_lines(found) if found.keep else _gain_lines(found)),
        "",
        *_run_lines(found),
        "",
        *under("chosen by", f"what {found.knows} gained"),
    ]
    if found.warnings:
        lines += ["", *under("warnings", "; ".join(found.warnings))]
    return "\n".join([*lines, "", *_command_lines(found)])


def name_in_words(mapping: AnyMapping) -> str:
    """Return a mapping's label, or that it is none: the program as it is."""
    return mapping.label if isinstance(mapping, Mapping) else "as it is now"


def baseline_in_words(found: Searched) -> str:
    """Return what speedups are over, as part of a sentence."""
    return found.baseline.label if isinstance(found.baseline, Mapping) else "the program as it is now"


def _gain_lines(found: Searched) -> list[str]:
    what = "its parallel regions" if found.clock == "regions" else "the whole run"
    title = "modelled speedup" if found.modelled else "measured speedup"
    lines = [f"  best mapping      {found.mapping}"]
    if isinstance(found.mapping, Mapping):
        lines.append(_wrapped(mapping_in_words(found.mapping)))
    lines += under(title, f"{found.speedup:.2f}x over {baseline_in_words(found)}, for {what}")
    if found.confirmation is not None and len(found.confirmation.mapping_s) > 1:
        lines.append(_wrapped(f"({confirmed_in_words(found.confirmation)})"))
    if found.speedup_over_default is not None and found.baseline != found.default != found.mapping:
        lines.append(_wrapped(f"{found.speedup_over_default:.2f}x over {found.default}, the default mapping"))
    return lines


def confirmed_in_words(confirmation: Confirmation) -> str:
    """Return the interval of the confirming runs."""
    low, high, rounds = confirmation.low or 0.0, confirmation.high or 0.0, len(confirmation.mapping_s)
    return f"{low:.2f}x to {high:.2f}x in {counted(rounds, 'further run')} of each, in turn"


def kept_in_words(found: Searched) -> tuple[str, ...]:
    """Return why the program should stay as it is, and what the fastest mapping gave when it was run again, if it was.

    For an answer that keeps the baseline.
    """
    confirmation, kept = found.confirmation, "no mapping that ran was significantly faster"
    others = found.runs[1:]
    if others and all(run.outcome == "failed" for run in others):
        which = "the only other run" if len(others) == 1 else f"all {len(others)} other runs"
        return (f"{which} failed, the last one under {others[-1].mapping}: {others[-1].message}",)
    if isinstance(found.baseline, Mapping):
        kept += f" than {found.baseline}"
    if confirmation is None:
        fastest = max(found.runs, key=lambda run: run.speedup or 0.0)
        if (fastest.speedup or 0.0) > 1:  # equal to the baseline's only for itself
            kept = f"{fastest.mapping} was the fastest ({fastest.speedup:.2f}x), but to confirm that"
            kept += f" would cost more than it saves in {counted(found.expected_runs or 0, 'run')}"
        elif len(found.runs) == 1 and found.next is not None:
            kept = "no mapping was tried, for that would cost more than it should save in "
            kept += counted(found.expected_runs or 0, "run")
        return (kept,)
    if confirmation.speedup is None:
        return kept, f"{confirmation.mapping} was the fastest, but {confirmation.reason}"
    again = f"{confirmation.speedup:.2f}x ({confirmed_in_words(confirmation)})"
    return kept, f"{confirmation.mapping} was the fastest, but run again it gave {again}"


def kept_lines(found: Searched) -> list[str]:
    """Return the lines of an answer that keeps the baseline."""
    kept, *again = kept_in_words(found)
    return [*under("best mapping", f"keep what you have: {kept}"), *map(_wrapped, again)]


def kept_runs_in_words(found: Searched) -> str:
    """Return which runs earlier commands made, and since when; empty for none."""
    if not found.kept_runs:
        return ""
    since = found.kept_since[:16].replace("T", " ")
    which = "the first run" if found.kept_runs == 1 else f"the first {found.kept_runs} runs"
    return f"{which}, made from {since} UTC on; --fresh makes all runs anew"


def _run_lines(found: Searched) -> list[str]:
    lines = []
    for number, run in enumerate(found.runs, 1):
        lines += under(f"run {number}", _run_in_words(run, number))
    if found.kept_runs:
        lines += under("kept", kept_runs_in_words(found))
    following = "no mapping is left to run" if found.next is None else _further_in_words(found, found.next)
    return [*lines, _wrapped(following)]


def _further_in_words(found: Searched, following: FurtherRun) -> str:
    """Return what a further run should bring and what it costs, and what would make it."""
    speed, worth_from = following.expected_speedup, following.worth_from_runs
    text = f"a further run, of {following.mapping}, is expected to "
    if worth_from is None:
        return text + "add nothing"
    alone, chance = following.speedup, f"faster with a chance of {following.chance:.0%}"
    interval = f"{alone.low:.2f}x to {alone.high:.2f}x over it, 90% interval"
    cost, saving = seconds_in_words(following.cost_s), seconds_in_words(following.saving_s)
    confirming = " with the runs that confirm it" if following.confirming_s else ""
    text += f"speed up the best by {speed - 1:.1%} on average ({interval}, {chance}): it costs {cost} at most"
    text += (
        f"{confirming} and should save {saving} a run, which pays off after {counted(worth_from, 'run')} of the program"
    )
    return f"{text}; {decided_by(found, following)}"


def further_in_brief(found: Searched) -> str:
    """Return what a further run should add, and what would make it."""
    following = found.next
    if following is None:
        return "no mapping is left to try"
    if following.worth_from_runs is None:
        return "is expected to add nothing"
    return f"is expected to add {following.expected_speedup - 1:.1%}; {decided_by(found, following)}"


def decided_by(found: Searched, following: FurtherRun) -> str:
    """Return what would make a further run that should add something, or why it was not made."""
    worth_from, said = following.worth_from_runs or 0, found.expected_runs
    if said is not None and said < worth_from:
        return f"you said {said}"
    enough = said or following.expected_speedup >= 2**LEAST_GAIN
    return f"--runs {len(found.runs) + 1} makes it" if enough else f"--for {worth_from} makes it"


def _run_in_words(run: SearchRun, number: int) -> str:
    outcome = outcome_in_words(run)
    return f"{name_in_words(run.mapping)}: {outcome.removesuffix(', 1.00x') if number == 1 else outcome}"


def _command_lines(found: Searched) -> list[str]:
    other = found.alternative
    if other is None:
        return [to_apply(found.modelled), f"  {found.command}"]
    speed = other.expected_speedup
    measured = "" if speed is None else f" ({speed.median:.2f}x)"
    return lines_to_run(found.command, other, f", approximately: {other.mapping}{measured}", found.modelled)


def _wrapped(text: str) -> str:
    return "\n".join(under("", text))
