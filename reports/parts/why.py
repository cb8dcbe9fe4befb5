"""Why an answer is what it is, and which known programs are like the one asked about, as a page shows it."""

from collections.abc import Mapping

import msgspec

from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.explanation import Close
from numapredict.predictor.advising.similar_programs import SimilarPrograms, doubts_in_words
from numapredict.reports.parts.quantity import NO_BREAK, factor, rate

WORDS = {
    "speedup": "the other mapping over the default",
    "default_local_share": "local accesses under the default",
    "other_local_share": "local accesses under the other mapping",
    "default_traffic_GBps": "memory traffic under the default",
    "other_traffic_GBps": "memory traffic under the other mapping",
    "default_local_GBps": "local traffic under the default",
    "home_share": "largest part of the local accesses that one node's cores make",
    "reached_GBps": "most that a training program reached",
    "controllers_GBps": "all memory controllers can read",
}
"""The fields of `Evidence`, which explanations rest on, in words."""


class Reason(msgspec.Struct, frozen=True):
    """One finding of the explanation, and the numbers that it rests on in words, empty if there are none."""

    text: str
    numbers: str


class WhyData(msgspec.Struct, frozen=True):
    """The findings of an explanation, and mappings that are nearly as fast."""

    reasons: tuple[Reason, ...]
    good: tuple[Close, ...]


class ResemblesData(msgspec.Struct, frozen=True):
    """The cluster of the program, and what makes that doubtful."""

    cluster: SimilarPrograms
    doubts: tuple[str, ...]


def why_data(found: Advice) -> WhyData:
    """Return the reasons of an answer."""
    findings = found.explanation.findings
    reasons = tuple(Reason(each.text, readings_in_words(each.evidence)) for each in findings)
    return WhyData(reasons, found.explanation.close)


def resembles_data(found: SimilarPrograms) -> ResemblesData:
    """Return the cluster with its doubts in words."""
    return ResemblesData(found, doubts_in_words(found))


def reading_in_words(name: str, value: float) -> str:
    """Return a reading with its meaning: `local accesses under the default: 25%`."""
    words = WORDS.get(name, name.removesuffix("_GBps").replace("_", " "))
    return f"{words}: {_value(name, value)}"


def readings_in_words(readings: Mapping[str, float]) -> str:
    """Return readings in words, in their order."""
    return "; ".join(reading_in_words(name, value) for name, value in readings.items())


def _value(name: str, value: float) -> str:
    if name.endswith("_share"):
        return f"{value:.0%}"
    if name.endswith("_GBps"):
        return rate(value)
    if name == "speedup":
        return factor(value)
    return f"{value:.3g}".replace(" ", NO_BREAK)
