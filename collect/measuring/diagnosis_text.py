"""A diagnosis in words, for a person."""

from collections.abc import Iterator

from numapredict.collect.host.facts.allocation_text import allocation_in_words
from numapredict.collect.host.facts.facts_text import facts_in_words
from numapredict.collect.measuring.counters.calibration import Examined
from numapredict.collect.measuring.diagnosis import Diagnosis
from numapredict.collect.terminal.printable import counted


def diagnosis_in_words(diagnosis: Diagnosis) -> str:
    """Return the whole diagnosis: the computer, its facts, its counters, and what that means for measurements."""
    lines = [f"{diagnosis.machine}: {counted(diagnosis.nodes, 'NUMA node')}, {diagnosis.cores} cores"]
    if diagnosis.allocation is not None:
        lines.append(allocation_in_words(diagnosis.allocation))
    lines += ["", "this computer (! disturbs measuring)", *facts_in_words(diagnosis.facts), "", "counters"]
    for source in diagnosis.sources:
        lines += _source_lines(source)
    if diagnosis.counters is not None:
        lines += ["", f"measurements here use {diagnosis.counters}"]
    else:
        lines += ["", "measurements here use no counters: run times, and samples of who touches which page"]
    return "\n".join(lines)


def _source_lines(source: Examined) -> Iterator[str]:
    """Yield one source's state: trusted or not, why, and the commands that would help, least privilege first."""
    verdict = source.verdict
    if verdict is not None and verdict.believed:
        tested = "local and remote loads" if verdict.remote_tested else "a local load (there is no remote node here)"
        yield f"  {source.name:8} believed: it counts {verdict.factor:.2f} bytes for each one moved, tested by {tested}"
    elif source.obstacle is not None:
        yield f"  {source.name:8} cannot count here: {source.obstacle.reason}"
        for remedy in source.obstacle.remedies:
            yield f"  {'':8} -> {remedy}"
    else:
        yield f"  {source.name:8} not believed: {source.reason}"
        for reason in verdict.reasons[1:] if verdict is not None else ():
            yield f"  {'':8} and {reason}"
    if verdict is not None and verdict.controllers is not None:
        yield f"  {'':8} its memory controllers count {verdict.controllers:.2f} bytes for each one moved"
