"""The answer in brief, as it is printed without `--explain`: the mapping, its gain, and the command that applies it."""

from numapredict.collect.mapping import AnyMapping, Mapping, applicable
from numapredict.collect.terminal.printable import name_cell, printable
from numapredict.predictor.advising.advice import TWO_CLUSTERS, Advice, whole_run
from numapredict.predictor.advising.advice_text import (
    DIRECT,
    is_measured,
    mapping_in_words,
    to_apply,
    under,
    verified_in_words,
)
from numapredict.predictor.advising.searched import Searched
from numapredict.predictor.advising.searched_text import (
    baseline_in_words,
    confirmed_in_words,
    further_in_brief,
    kept_in_words,
)
from numapredict.predictor.learning.model import ExpectedSpeedup

Rows = list[tuple[str, str]]
"""Titles, and what stands beside each; one without a title continues the one before."""

_EXPLAIN = "--explain prints the reasons, all runs, other tools' commands and similar programs"


def advice_in_brief(advice: Advice) -> str:
    """Return the answer of two probes for a person to read, in brief."""
    own = [advice.own_threads.text] if advice.own_threads else []
    return _brief(
        subject(advice),
        advice_rows(advice),
        _command(advice.command, advice.modelled),
        (*own, *(text for text in advice.warnings if text != TWO_CLUSTERS or advice.confidence is None)),
    )


def searched_in_brief(found: Searched) -> str:
    """Return the answer of a search for a person to read, in brief."""
    return _brief(
        subject(found),
        searched_rows(found),
        _command(found.command, found.modelled),
        (*([found.own_threads] if found.own_threads else []), *found.warnings),
    )


def advice_rows(advice: Advice) -> Rows:
    """Return mapping and gain of an answer of two probes."""
    return [("best mapping", _mapping(advice.mapping)), _gain(advice)]


def searched_rows(found: Searched) -> Rows:
    """Return mapping, gain, and what a further run should add, of an answer of a search."""
    if found.keep:
        kept, *again = kept_in_words(found)
        rows = [("best mapping", f"keep what you have: {kept}"), *(("", text) for text in again)]
    else:
        what = "its parallel regions" if found.clock == "regions" else "the whole run"
        text = f"{found.speedup:.2f}x for {what}, over {baseline_in_words(found)}"
        if found.confirmation is not None and len(found.confirmation.mapping_s) > 1:
            text += f" ({confirmed_in_words(found.confirmation)})"
        title = "modelled gain" if found.modelled else "measured gain"
        rows = [("best mapping", _mapping(found.mapping)), (title, text)]
    return [*rows, ("a further run", further_in_brief(found))]


def subject(found: Advice | Searched) -> str:
    """Return the program and the machine that an answer is about."""
    return f"{printable(found.program)} on {name_cell(found.machine)}{' (modelled)' if found.modelled else ''}"


def _brief(title: str, rows: Rows, command: list[str], remarks: tuple[str, ...]) -> str:
    answer = [line for row in rows for line in under(*row)]
    warnings = [line for number, text in enumerate(remarks) for line in under("" if number else "note", text)]
    blank = [""] if warnings else []
    return "\n".join([title, "", *answer, *command, *blank, *warnings, "", f"  {_EXPLAIN}"])


def _mapping(mapping: AnyMapping) -> str:
    """Return what a mapping means, and its label."""
    return f"{mapping_in_words(applicable(mapping))} ({mapping})" if isinstance(mapping, Mapping) else f"{mapping}"


def _gain(advice: Advice) -> tuple[str, str]:
    """Return the title and the text of the gain: of the whole run first, where it differs from that of the regions."""
    verification = advice.verification
    if verification is not None and not verification.won:
        return "gain", f"none: {verified_in_words(verification)}"
    if advice.mapping == advice.default:
        return "gain", "none: it runs under this mapping already, and no other is expected to be faster"
    over, speed = f"over {advice.default}", advice.expected_speedup
    title = "modelled gain" if advice.modelled and is_measured(advice) else "expected gain"
    if verification is not None:
        title, over = "measured gain", f"{over}; {verified_in_words(verification)}"
    elif is_measured(advice):
        title = title if advice.modelled else "measured gain"
        over = f"{over}; {DIRECT[advice.modelled]}"
    if advice.clock != "regions":
        return title, f"{_interval(speed)} for the whole run, {over}"
    regions = f"{_interval(speed)} for its parallel regions, {over}"
    share = advice.region_share
    if share is None or (whole := whole_run(share, speed.median)) is None:
        return title, regions
    return title, f"about {whole:.2f}x for the whole run, {share:.0%} of which are parallel regions; {regions}"


def _interval(speed: ExpectedSpeedup) -> str:
    return f"{speed.median:.2f}x (90% interval {speed.low:.2f}x to {speed.high:.2f}x)"


def _command(command: str, modelled: bool) -> list[str]:
    return ["", to_apply(modelled), f"  {command}"]
