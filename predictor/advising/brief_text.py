"""The answer in brief, as it is printed without `--explain`: the mapping, its gain, and the command that applies it."""

from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.terminal.printable import name_cell, printable
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.advice_text import (
    baseline_in_words,
    computed_in_words,
    confirmed_in_words,
    faster_in_words,
    further_in_brief,
    gain_in_words,
    kept_in_words,
    title_of,
    to_apply,
    under,
)
from numapredict.predictor.advising.mapping_text import mapping_in_words

Rows = list[tuple[str, str]]
"""Titles, and what stands beside each; one without a title continues the one before."""

_EXPLAIN = "--explain prints the reasons, all runs, other tools' commands and similar programs"


def advice_in_brief(found: Advice) -> str:
    """Return the answer for a person to read, in brief."""
    answer = [line for row in advice_rows(found) for line in under(*row)]
    remarks = [*([found.own_threads] if found.own_threads else []), *found.warnings]
    notes = [line for number, text in enumerate(remarks) for line in under("" if number else "note", text)]
    command = ["", to_apply(found.modelled), f"  {found.command}"]
    return "\n".join([subject(found), "", *answer, *command, *([""] if notes else []), *notes, "", f"  {_EXPLAIN}"])


def advice_rows(found: Advice) -> Rows:
    """Return mapping, gain, and what a further run should add."""
    if found.keep:
        kept, *again = kept_in_words(found)
        rows = [("best mapping", f"keep what you have: {kept}"), *(("", text) for text in again)]
    else:
        text = f"{gain_in_words(found)}, over {baseline_in_words(found)}"
        if found.confirmation is not None and len(found.confirmation.mapping_s) > 1:
            text += f" ({confirmed_in_words(found.confirmation)})"
        if computed := computed_in_words(found):
            text += f"; {computed}"
        if faster := faster_in_words(found):
            text += f"; {faster}"
        title = "modelled gain" if found.modelled else "measured gain"
        rows = [(title_of(found), _mapping(found.mapping)), (title, text)]
    return rows if found.method == "thesis" or found.disturbed else [*rows, ("a further run", further_in_brief(found))]


def subject(found: Advice) -> str:
    """Return the program and the machine that an answer is about."""
    return f"{printable(found.program)} on {name_cell(found.machine)}{' (modelled)' if found.modelled else ''}"


def _mapping(mapping: AnyMapping) -> str:
    """Return what a mapping means, and its label."""
    return f"{mapping_in_words(mapping)} ({mapping})" if isinstance(mapping, Mapping) else f"{mapping}"
