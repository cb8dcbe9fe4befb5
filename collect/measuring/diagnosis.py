"""What `numapredict doctor` finds, and in words: the computer, what disturbs measurements, counters to be trusted."""

from collections.abc import Iterator, Sequence

import msgspec

from numapredict.collect.host.cache import cache_folder
from numapredict.collect.host.facts.allocation import Allocation, allocation
from numapredict.collect.host.facts.allocation_text import allocation_in_words
from numapredict.collect.host.facts.fact import Fact
from numapredict.collect.host.facts.facts import facts
from numapredict.collect.measuring.counters.calibration import Examined, examine, write_calibrations
from numapredict.collect.measuring.counters.source import CounterSource
from numapredict.collect.measuring.measurement_lock import MeasurementLock
from numapredict.collect.measuring.samples.selftest import examined_samples
from numapredict.collect.measuring.samples.source import PerfSamples
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a computer, as `--json` prints it.

    ``allocation`` is None where this process may use all of the computer, or where the kernel does not report it.
    ``counters`` is the name of the source that measurements will use, None for none; ``sources`` the state of all;
    ``memory_samples`` that of perf's samples of memory accesses, for `variables`.
    """

    machine: str
    nodes: int
    cores: int
    allocation: Allocation | None
    facts: tuple[Fact, ...]
    counters: str | None
    sources: tuple[Examined, ...]
    memory_samples: Examined


def diagnose(topology: Topology, sources: Sequence[CounterSource]) -> Diagnosis:
    """Return the diagnosis of this computer; its counters are tested on known loads, and the results kept."""
    found = facts()
    with MeasurementLock().take():
        examined = examine(sources, topology)
        samples = examined_samples(PerfSamples(), topology)
    write_calibrations(cache_folder(), topology, (*examined, samples))
    given = allocation(topology)
    return Diagnosis(
        machine=topology.name,
        nodes=len(topology.nodes),
        cores=topology.core_count,
        allocation=given if given is not None and given.restricts else None,
        facts=found,
        counters=next((source.name for source in examined if source.passed), None),
        sources=examined,
        memory_samples=samples,
    )


def facts_in_words(facts: Sequence[Fact]) -> Iterator[str]:
    """Return a line for each fact, with a mark before those that disturb, and what to do in a line below them."""
    width = max((len(fact.name) for fact in facts), default=0)
    for fact in facts:
        mark = "!" if fact.disturbs else " "
        why = f": {fact.why}" if fact.why else ""
        yield f"{mark} {fact.name:{width}}  {fact.value}{why}"
        if fact.remedy:
            yield f"  {'':{width}}  -> {fact.remedy}"


def diagnosis_in_words(diagnosis: Diagnosis) -> str:
    """Return the whole diagnosis: the computer, its facts, its counters, and what that means for measurements."""
    lines = [f"{diagnosis.machine}: {counted(diagnosis.nodes, 'NUMA node')}, {counted(diagnosis.cores, 'core')}"]
    if diagnosis.allocation is not None:
        lines.append(allocation_in_words(diagnosis.allocation))
    lines += ["", "this computer (! disturbs measuring)", *facts_in_words(diagnosis.facts), "", "counters"]
    for source in diagnosis.sources:
        lines += _source_lines(source)
    lines += [
        "",
        "samples of memory accesses, for numapredict variables",
        *_source_lines(diagnosis.memory_samples, "sample"),
    ]
    if diagnosis.counters is not None:
        lines += ["", f"measurements here use {diagnosis.counters}"]
    else:
        lines += ["", "measurements here use no counters: run times, and samples of which thread touches which page"]
    return "\n".join(lines)


def _source_lines(source: Examined, counts: str = "count") -> Iterator[str]:
    """Yield one source's state: trusted or not, why, and the commands that would help, least privilege first."""
    verdict = source.verdict
    if verdict is not None and verdict.passed:
        tested = "local and remote loads" if verdict.remote_tested else "a local load (there is no remote node here)"
        what = (
            f"counts {verdict.factor:.2f} bytes for each one moved" if counts == "count" else "tells what served loads"
        )
        yield f"  {source.name:8} passed: it {what}, tested by {tested}"
    elif source.obstacle is not None:
        yield f"  {source.name:8} cannot {counts} here: {source.obstacle.reason}"
        for remedy in source.obstacle.remedies:
            yield f"  {'':8} -> {remedy}"
    else:
        yield f"  {source.name:8} failed: {source.reason}"
        for reason in verdict.reasons[1:] if verdict is not None else ():
            yield f"  {'':8} and {reason}"
    if verdict is not None and verdict.controllers is not None:
        yield f"  {'':8} its memory controllers count {verdict.controllers:.2f} bytes for each one moved"
