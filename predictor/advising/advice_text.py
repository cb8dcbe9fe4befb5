"""Advice in words, for a person to read."""

import textwrap

from numapredict.collect.mapping import Mapping, applicable
from numapredict.collect.page_policy import FACTS
from numapredict.collect.terminal.estimated_time import seconds_in_words
from numapredict.collect.terminal.printable import counted, name_cell, percent, printable
from numapredict.predictor.advising.advice import Advice, Alternative, expected_in_words, whole_run
from numapredict.predictor.advising.explanation import Close, Explanation
from numapredict.predictor.advising.verification import Verification
from numapredict.predictor.learning.model import ExpectedSpeedup

_COLUMN = " " * 20  # where the answers begin
_WIDTH = 100
_WHY_LINES = 14
_GOOD = "nearly as good"
WITHOUT_COUNTERS = {
    "share": "judged without counters: by times and by which sampled accesses were local",
    "times": "judged without counters: by times alone",
}
"""The line added to an answer that does not rest on bandwidths."""

DIRECT = {
    False: "measured directly by the probes, not predicted",
    True: "modelled for both mappings, not predicted",
}
"""What is said of a gain of one probe over the other, by whether runs are modelled."""


def on_each_core(threads: int) -> str:
    """Return the words for several threads on each core, with a comma before them; empty for one."""
    return f", {threads} threads on each core" if threads > 1 else ""


def mapping_in_words(mapping: Mapping) -> str:
    """Return what a mapping means, as part of a sentence."""
    threads, nodes = counted(mapping.threads, "thread"), counted(mapping.thread_nodes, "node")
    spread = "round-robin across the nodes" if mapping.thread_policy == "scatter" else "consecutive threads together"
    spread = on_each_core(mapping.threads_per_core) + ("" if mapping.thread_nodes == 1 else f", {spread}")
    where = counted(mapping.page_nodes, "node")
    there = "on the first of them" if mapping.thread_nodes > 1 else "there"
    pages = FACTS[mapping.page_policy].sentence.format(nodes=where, there=there)
    return f"{threads} on {nodes}{spread}; {pages}"


def advice_in_words(advice: Advice) -> str:
    """Return the answer for a person to read."""
    modelled = " (modelled)" if advice.modelled else ""
    what = "its parallel regions" if advice.clock == "regions" else "the whole run"
    lines = [
        f"{printable(advice.program)} on {name_cell(advice.machine)}{modelled}",
        "",
        *([*under("its own threads", advice.own_threads.text), ""] if advice.own_threads else []),
        f"  best mapping      {advice.mapping}",
        _wrapped(mapping_in_words(applicable(advice.mapping))),
        *_expected_gain_lines(advice, what),
    ]
    if advice.region_share is not None and advice.clock == "regions":
        lines.append(_wrapped(_share_in_words(advice.region_share, advice.expected_speedup.median)))
    lines += [
        "",
        *explanation_lines(advice.explanation),
        "",
        *_probe_lines(advice),
        "",
        *_command_lines(advice),
        "",
        *_cluster_lines(advice),
    ]
    return "\n".join(lines)


def _share_in_words(share: float, speedup: float) -> str:
    """Return the share of a run in its parallel regions, and the resulting speedup of the whole run."""
    whole = whole_run(share, speedup)
    gain = f": about {whole:.2f}x for the whole run" if whole is not None and speedup != 1 else ""
    return f"the regions take {share:.0%} of its run time under the probes{gain}"


def _expected_gain_lines(advice: Advice, what: str) -> list[str]:
    speed = advice.expected_speedup
    if advice.verification is not None and not advice.verification.won:
        return [f"  expected speedup  none: {verified_in_words(advice.verification)}"]
    if advice.mapping == advice.default:
        return ["  expected speedup  none: it runs under this mapping already, and no other is expected to be faster"]
    least = "among similar programs"
    if advice.confidence is not None:
        least = f"90% interval; probability that it beats the default: {percent(advice.confidence)}"
    return [
        f"  expected speedup  {speed.median:.2f}x over {advice.default} for {what}",
        f"                    ({speed.low:.2f}x to {speed.high:.2f}x {least})",
        *([_wrapped(DIRECT[advice.modelled])] if is_measured(advice) else []),
        *([_wrapped(verified_in_words(advice.verification))] if advice.verification is not None else []),
    ]


def is_measured(advice: Advice) -> bool:
    """Return whether the speedup was measured, as one probe's over the other's."""
    whole = advice.trace_share is None or advice.trace_share >= 1
    both = {advice.mapping, advice.default} == {p.mapping for p in advice.probes}
    return whole and both and advice.confidence is not None


def verified_in_words(verification: Verification) -> str:
    """Return the result of the verification as part of a sentence."""
    if verification.speedup is None:
        return f"{verification.mapping} was advised, but {verification.reason}; the default is kept"
    rounds = len(verification.chosen_s)
    between = f" ({verification.low:.2f}x to {verification.high:.2f}x in {rounds} rounds)" if rounds > 1 else ""
    if verification.won:
        return f"verified: {verification.speedup:.2f}x when both were run{between}"
    return (
        f"{verification.mapping} was advised, but ran at {verification.speedup:.2f}x of the default's speed{between}; "
        "the default is kept"
    )


def explanation_lines(explanation: Explanation) -> list[str]:
    """Return a few lines: why, what else is nearly as good, and what would change the answer.

    If there are too many lines, alternative mappings are left out, the last first.
    """
    said = {
        "why": [f.text for f in explanation.findings if f.topic in ("default", "binds")],
        "by choice": [f.text for f in explanation.findings if f.topic == "choice"],
        _GOOD: [],
        "in the source": [f.text for f in explanation.findings if f.topic == "tip"],
        "would change it": [f.text for f in explanation.findings if f.topic == "change"],
    }
    for shown in range(len(explanation.close), -1, -1):
        said[_GOOD] = [", ".join(map(_close_in_words, explanation.close[:shown]))] if shown else []
        lines = [line for title, texts in said.items() for line in under(title, "; ".join(texts))]
        if len(lines) <= _WHY_LINES:
            break
    return lines


def _close_in_words(close: Close) -> str:
    speed = close.expected_speedup
    return f"{close.mapping} ({speed.median:.2f}x, {speed.low:.2f}x to {speed.high:.2f}x: {close.differs})"


def under(title: str, text: str) -> list[str]:
    """Return a text behind a title, in lines of at most 100 columns; labels are never broken."""
    return textwrap.wrap(
        text, _WIDTH, initial_indent=f"  {title:18}", subsequent_indent=_COLUMN, break_on_hyphens=False
    )


def _probe_lines(advice: Advice) -> list[str]:
    lines = []
    for number, probe in enumerate(advice.probes, 1):
        bandwidth, share = probe.features.get("local_bandwidth_GBps"), probe.features.get("local_share")
        read = f", {share:.0%} of accesses local" if share is not None else ""
        read = f", {bandwidth:.2f} GB/s local memory bandwidth" if bandwidth is not None else read
        lines.append(f"  probe {number}           {probe.mapping}: {seconds_in_words(probe.time_s)}{read}")
    if advice.judged_by != "bandwidth":
        lines.append(_wrapped(WITHOUT_COUNTERS[advice.judged_by]))
    if advice.trace_share is not None:
        lines.append(_wrapped(f"the traces saw regions with {advice.trace_share:.0%} of the native region time"))
    return lines


def _cluster_lines(advice: Advice) -> list[str]:
    members = f"{counted(len(advice.cluster.members), 'program')} of the model"
    gained = _members_in_words(advice.cluster.speedup)
    lines = under("similar programs", f"cluster {advice.cluster.id}, {members}{gained}:")
    shown = advice.cluster.descriptions[:5]
    lines += [_wrapped(f"- {text}") for text in shown]
    if len(advice.cluster.descriptions) > len(shown):
        lines.append(_wrapped(f"and {len(advice.cluster.descriptions) - len(shown)} more"))
    if advice.warnings:
        lines += ["", "  warnings          " + _wrapped(f"- {advice.warnings[0]}").lstrip()]
        lines += [_wrapped(f"- {text}") for text in advice.warnings[1:]]
    return lines


def _members_in_words(speedup: ExpectedSpeedup | None) -> str:
    """Return the speedups of a cluster's members under the advised mapping."""
    if speedup is None:
        return ""
    return f"; by that mapping they gain {speedup.median:.2f}x ({speedup.low:.2f}x to {speedup.high:.2f}x)"


def _command_lines(advice: Advice) -> list[str]:
    other = advice.alternative
    if not other.exact and other.mapping == advice.default != advice.mapping:
        how = ": the default, bound; no other of their mappings clearly gains"
    else:
        speed = other.expected_speedup
        how = f", approximately: {other.mapping}{'' if speed is None else f' ({expected_in_words(speed)})'}"
    return lines_to_run(advice.command, other, how, advice.modelled)


def to_apply(modelled: bool) -> str:
    """Return the line above a command: of a described machine, this computer is none."""
    return "  to apply it on such a machine" if modelled else "  to apply it"


def lines_to_run(command: str, other: Alternative, how: str, modelled: bool) -> list[str]:
    """Return the lines with the command of the advice and numactl's, which does what ``how`` says if not the same."""
    without = f"or with OMP_* and numactl alone{', to the same effect' if other.exact else how}"
    without = textwrap.fill(without, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    lines = [to_apply(modelled), f"  {command}", "", without, f"  {other.command}"]
    return [*lines, f"  ({other.note})"] if other.note else lines


def _wrapped(text: str) -> str:
    """Return a text in lines of at most 100 columns, indented to the column of answers."""
    rest = " " * 22 if text.startswith("- ") else _COLUMN
    return textwrap.fill(text, _WIDTH, initial_indent=_COLUMN, subsequent_indent=rest)
