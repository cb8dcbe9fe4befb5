"""Checks a prediction from a file, which may have the right fields but impossible values."""

import math
from collections.abc import Iterator, Mapping

from numapredict.collect.mapping import AnyMapping, applicable
from numapredict.collect.placement import resolve
from numapredict.collect.placing.command import run_words
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidInputError, NumapredictError
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.learning.model import ExpectedSpeedup
from numapredict.reports.parts.regions import region_problems


def check_consistency(advice: Advice, topology: Topology | None) -> None:
    """Raise InvalidInputError, naming the first impossible field; ``topology`` is None if unknown."""
    for field, problem in _problems(advice, topology):
        raise InvalidInputError(f"{field}: {problem}")


def _problems(advice: Advice, topology: Topology | None) -> Iterator[tuple[str, str]]:
    yield from _mapping_problems(advice, topology)
    for field, speed in _speedups(advice):
        yield from speedup_problems(field, speed)
    for tool, other in ((each.tool, each.expected_speedup) for each in (advice.alternative, *advice.alternatives)):
        if other is not None and other.median > advice.expected_speedup.median * (1 + 1e-9):
            found = f"{other.median:g} is more than the answer's {advice.expected_speedup.median:g}"
            yield f"expected_speedup of {tool}'s command", f"{found}, which was chosen since it is worth most"
    for field in ("confidence", "region_share", "trace_share", "ambiguity"):
        share = getattr(advice, field)
        if share is not None and not 0 <= share <= 1 + 1e-9:
            yield field, f"{share:g} is not within 0 to 1"
    for number, probe in enumerate(advice.probes, 1):
        values = {"time_s": probe.time_s, **{f"features.{name}": value for name, value in probe.features.items()}}
        for name, value in values.items():
            if not math.isfinite(value) or value < 0 or (value == 0 and name == "time_s"):
                yield f"probe {number}, {name}", f"{value:g} cannot have been read"
        if probe.features.get("local_share", 0.0) > 1 + 1e-9:
            yield f"probe {number}, features.local_share", f"{probe.features['local_share']:g} is not within 0 to 1"
    yield from region_problems(advice.regions)
    if advice.cluster.centroid not in advice.cluster.members:
        yield "cluster", "its centroid is not one of its members"


def _mapping_problems(advice: Advice, topology: Topology | None) -> Iterator[tuple[str, str]]:
    """Yield field and problem of labels that belong to another machine or to another answer."""
    if len(advice.probes) != 2:
        yield "probes", f"{len(advice.probes)} of them, where a prediction rests on two"
    mappings = {"mapping": advice.mapping, "default": advice.default}
    mappings |= {f"probe {number}, mapping": probe.mapping for number, probe in enumerate(advice.probes, 1)}
    yield from label_problems(mappings, advice.machine, topology)
    if run_words(advice.mapping.label) not in advice.command:
        yield "command", f"it does not run the program under {advice.mapping}, the answer"


def label_problems(
    mappings: Mapping[str, AnyMapping], machine: str, topology: Topology | None
) -> Iterator[tuple[str, str]]:
    """Yield field and problem of labels that are none, or do not fit the machine."""
    for field, named in mappings.items():
        try:
            mapping = applicable(named)
            if topology is not None:
                resolve(mapping, topology)
        except NumapredictError as error:
            yield field, f"{error} (machine {machine})" if topology is not None else f"{error}"


def speedup_problems(field: str, speed: ExpectedSpeedup) -> Iterator[tuple[str, str]]:
    """Yield a field and its problem if its three speedups are no interval."""
    if not (math.isfinite(speed.high) and 0 < speed.low <= speed.median <= speed.high):
        found = f"{speed.median:g} between {speed.low:g} and {speed.high:g}"
        yield field, f"{found} is no interval of speedups, which are above 0 with the median inside"


def _speedups(advice: Advice) -> Iterator[tuple[str, ExpectedSpeedup]]:
    yield "expected_speedup", advice.expected_speedup
    for alternative in (advice.alternative, *advice.alternatives):
        if alternative.expected_speedup is not None:
            yield f"expected_speedup of {alternative.tool}'s command", alternative.expected_speedup
    if advice.cluster.speedup is not None:
        yield "cluster.speedup", advice.cluster.speedup
    for close in advice.explanation.close:
        yield f"expected_speedup of {close.mapping}", close.expected_speedup
    for choice in advice.explanation.choices:
        yield f"expected_speedup of {choice.mapping}", choice.expected_speedup
