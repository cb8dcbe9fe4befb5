"""Why an answer is what it is: findings in words, each with the numbers that it rests on."""

from collections.abc import Collection, Sequence
from collections.abc import Mapping as ByName
from typing import Literal

import msgspec

from numapredict.collect.domain import most_domains
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.page_policy import FACTS
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology
from numapredict.predictor.advising.evidence import Evidence
from numapredict.predictor.advising.verdicts import Bound, Pages, bound_of, is_shared, pages_gain_nothing, pages_of
from numapredict.predictor.learning.scores import SLOWER

Topic = Literal["default", "binds", "tip", "change"]

CLOSE_SHOWN = 3
"""How many of the mappings that are nearly as good are named."""


class Finding(msgspec.Struct, frozen=True):
    """One statement: its ``rule``, its text, and the numbers it rests on, by the fields of ``Evidence``."""

    topic: Topic
    rule: str
    text: str
    evidence: dict[str, float]


class Close(msgspec.Struct, frozen=True):
    """A mapping with the same number of threads that is nearly as fast, its speedup, and how it differs."""

    mapping: AnyMapping
    speedup: float
    differs: str


class Choice(msgspec.Struct, frozen=True):
    """What one choice gives: a page policy of the answer's team, or a number of threads at its best.

    ``part`` is ``pages`` or ``threads``; ``words`` names the policy, or the number of threads. ``speedup`` is over the
    baseline; where the mapping did not run (``ran``), it is expected, and between ``low`` and ``high`` with a
    probability of 90%.
    """

    part: Literal["pages", "threads"]
    words: str
    mapping: AnyMapping
    speedup: float
    low: float
    high: float
    ran: bool


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why, in findings; ``close`` are the fastest mappings within 2% of the answer's time, of those that were computed.

    ``choices`` are all page policies of the answer's team, the best first, and the best mapping of each number of
    threads.
    """

    pages: Pages
    binds: Bound
    findings: tuple[Finding, ...]
    close: tuple[Close, ...] = ()
    choices: tuple[Choice, ...] = ()


def of_one_node(topology: Topology) -> Finding:
    """Return what is said of a computer with one NUMA node: what there is to choose."""
    choices = ["how many threads there are"]
    choices += ["whether several share a core"] if topology.threads_per_core > 1 else []
    choices += ["over how many L3 caches they are spread"] if most_domains(topology) > 1 else []
    words = " and ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))
    return Finding("binds", "one node", f"all memory is equally near: {words} is all that can be chosen", {})


def explain(evidence: Evidence | None, default: Mapping, tried: Collection[AnyMapping] = ()) -> Explanation:
    """Return what the readings show; ``evidence`` is None if the default or another mapping did not run.

    ``tried`` are the mappings that ran or were computed.
    """
    pages: Pages = "unknown" if evidence is None else pages_of(evidence)
    binds: Bound = "unknown" if evidence is None else bound_of(evidence, pages)
    found = [] if evidence is None else _default_findings(evidence, pages)
    found.append(_bound_finding(evidence, pages, binds))
    if evidence is not None:
        found += _change_findings(evidence, pages, binds, default, tried)
    return Explanation(pages=pages, binds=binds, findings=tuple(found))


def close_to(advised: Mapping, speedups: ByName[Mapping, float]) -> tuple[Close, ...]:
    """Return the fastest mappings with as many threads as ``advised`` whose time is at most 2% greater."""
    near = [
        each
        for each, speedup in sorted(speedups.items(), key=lambda pair: -pair[1])
        if each.threads == advised.threads and each != advised and speedup * (1 + SLOWER) >= speedups[advised]
    ]
    return tuple(Close(each, speedups[each], _differences(advised, each)) for each in near[:CLOSE_SHOWN])


def choices_of(advised: Mapping, known: Sequence[tuple[Mapping, float]]) -> tuple[tuple[str, str, Mapping], ...]:
    """Return part, words and mapping of the choices to compare; a choice with one value is left out.

    ``known`` has each mapping's speedup, run or expected: the best of each number of threads is the one to show.
    """
    pages: dict[str, tuple[str, str, Mapping]] = {}
    threads: dict[int, tuple[str, str, Mapping]] = {}
    for mapping, _ in sorted(known, key=lambda pair: (pair[0] != advised, -pair[1])):
        if mapping.replaced(page_policy=advised.page_policy, page_nodes=advised.page_nodes) == advised:
            words = FACTS[mapping.page_policy].short
            pages.setdefault(words, ("pages", words, mapping))
        threads.setdefault(mapping.threads, ("threads", counted(mapping.threads, "thread"), mapping))
    by_number = [threads[number] for number in sorted(threads)]
    return tuple(choice for row in (list(pages.values()), by_number) if len(row) > 1 for choice in row)


def _default_findings(evidence: Evidence, pages: Pages) -> list[Finding]:
    """Return where the default puts the program's pages, as far as the readings show."""
    found = []
    here, home, gain = evidence.default_local_share, evidence.home_share, evidence.speedup
    if pages == "one node" and home is not None:
        text = (
            f"the default has the pages on one node: its cores make {home:.0%} of the local accesses, and "
            f"{here:.0%} of all accesses are local"
        )
        found.append(_finding("default", "one node", text, evidence, "home_share", "default_local_share"))
    elif pages == "one node":
        text = (
            f"the default seems to have the pages on one node: {here:.0%} of the accesses seen are local, "
            f"{evidence.other_local_share:.0%} under {evidence.other}"
        )
        read = ("default_local_share", "other_local_share", "speedup")
        found.append(_finding("default", "one node by shares", text, evidence, *read))
    elif pages == "own nodes" and pages_gain_nothing(evidence, pages):
        text = (
            f"the default has the pages where they are used: {here:.0%} of accesses are local; under "
            f"{evidence.other} it is {gain:.2f}x as fast, and no placement of pages alone gains a tenth"
        )
        found.append(_finding("default", "own nodes", text, evidence, "default_local_share", "speedup"))
    elif pages == "unknown" and None not in (here, evidence.other_local_share) and not is_shared(evidence):
        there = f"{evidence.other_local_share:.0%} under {evidence.other}"
        text = f"{here:.0%} of accesses are local under the default, {there}"
        found.append(_finding("default", "unclear", text, evidence, "default_local_share", "other_local_share"))
    if is_shared(evidence):
        text = (
            f"threads of several nodes use the same pages: no more than "
            f"{max(here or 0.0, evidence.other_local_share or 0.0):.0%} of accesses are local in either run"
        )
        if pages_gain_nothing(evidence, pages):
            text += f"; under {evidence.other} it is {gain:.2f}x as fast, and no placement of pages alone gains a tenth"
        found.append(
            _finding("default", "shared", text, evidence, "default_local_share", "other_local_share", "speedup")
        )
    return found


def _bound_finding(evidence: Evidence | None, pages: Pages, binds: Bound) -> Finding:
    """Return what the program waits for, or why that is not known."""
    if evidence is None:
        text = "what limits it is not known: the default did not run, or nothing to compare it with"
        return Finding("binds", "unknown", text, {})
    if binds == "unknown":
        where = "where the default has the pages and " if pages == "unknown" and not is_shared(evidence) else ""
        return Finding("binds", "unknown", f"{where}what limits it is not known from these readings", {})
    text, read = _bound_in_words(evidence, binds)
    return _finding("binds", binds, text, evidence, *read)


def _bound_in_words(evidence: Evidence, binds: Bound) -> tuple[str, tuple[str, ...]]:
    """Return what the program waits for as part of a sentence, and the names of the numbers that show it."""
    gain = f"with pages on all nodes it is {evidence.speedup or 1.0:.2f}x as fast"
    if binds == "one node's bandwidth":
        return f"it is limited by that node's memory bandwidth: {gain}", ("speedup",)
    if binds == "one node's memory":
        return f"it is limited by that node's memory or the links to it: {gain}", ("speedup",)
    if binds == "all nodes' bandwidth":
        rate = f"{evidence.default_local_GBps:.1f} GB/s of the {evidence.controllers_GBps:.1f} that they can read"
        return f"it is limited by the memory bandwidth of all nodes: {rate}", ("default_local_GBps", "controllers_GBps")
    most = max(evidence.default_traffic_GBps or 0.0, evidence.other_traffic_GBps or 0.0)
    text = (
        f"page placement hardly matters: {most:.2f} GB/s of memory traffic, where training programs had up to "
        f"{evidence.reached_GBps:.1f}; whether compute, caches or synchronisation limit it is not known"
    )
    return text, ("default_traffic_GBps", "other_traffic_GBps", "reached_GBps", "speedup")


def _change_findings(
    evidence: Evidence, pages: Pages, binds: Bound, default: Mapping, tried: Collection[AnyMapping]
) -> list[Finding]:
    """Return what would change the answer, and what could be changed in the source."""
    found = []
    if pages == "one node" and binds in ("one node's bandwidth", "one node's memory"):
        text = (
            "initialise the arrays in a parallel loop, scheduled like the loops that use them: each page is then on "
            "the node of the thread that writes it first, and the default itself gains most of this"
        )
        found.append(_finding("tip", "parallel first touch", text, evidence, "default_local_share", "speedup"))
    if evidence.home_share is None and evidence.default_traffic_GBps is None:
        text = "hardware counters would show more (see numapredict doctor)"
        found.append(Finding("change", "counters", text, {}))
    on_one = any(isinstance(each, Mapping) and each.thread_nodes == 1 for each in tried)
    if not on_one and is_shared(evidence) and default.threads % default.thread_nodes == 0 and default.thread_nodes > 1:
        alone = Mapping(default.threads // default.thread_nodes, 1, "contiguous", 1, "bind")
        text = (
            "one node alone was not tried: its threads would share a cache, and no page would be remote; it rarely "
            f"pays, but then a lot (numapredict characterize times {alone}, too)"
        )
        read = ("default_local_share", "other_local_share")
        found.append(_finding("change", "one node alone", text, evidence, *read))
    if binds == "not memory":
        text = "an input too large for the caches was not tried: run again with one"
        found.append(_finding("change", "input", text, evidence, "default_traffic_GBps", "reached_GBps"))
    return found


def _finding(topic: Topic, rule: str, text: str, evidence: Evidence, *read: str) -> Finding:
    values = {name: getattr(evidence, name) for name in read}
    return Finding(topic, rule, text, {name: float(value) for name, value in values.items() if value is not None})


def _differences(chosen: Mapping, other: Mapping) -> str:
    """Return in a few words how another mapping differs."""
    found = []
    if chosen.thread_nodes != other.thread_nodes:
        found.append(f"threads on {counted(other.thread_nodes, 'node')}")
    if chosen.thread_policy != other.thread_policy:
        found.append(f"threads {other.thread_policy}")
    if chosen.threads_per_core != other.threads_per_core:
        found.append(f"{counted(other.threads_per_core, 'thread')} on each core")
    if chosen.thread_l3s != other.thread_l3s:
        l3s = counted(other.thread_l3s, "L3 cache")
        found.append(f"threads over {l3s}" if other.thread_l3s else "threads on the fewest L3 caches")
    if (chosen.page_policy, chosen.page_nodes) != (other.page_policy, other.page_nodes):
        few = f" on {counted(other.page_nodes, 'node')}"
        found.append(f"pages by {other.page_policy}{few if chosen.page_nodes != other.page_nodes else ''}")
    return ", ".join(found)
