"""A prediction, as a page shows it."""

from collections.abc import Mapping

import msgspec

from numapredict.collect.mapping import applicable
from numapredict.predictor.advising.advice import Advice, whole_run
from numapredict.predictor.advising.advice_text import DIRECT, WITHOUT_COUNTERS, is_measured, mapping_in_words, to_apply
from numapredict.predictor.advising.explanation import Close
from numapredict.reports.parts.quantity import NO_BREAK, factor, rate

WORDS = {
    "speedup": "the other probe over the default",
    "noise": "deviation of that speedup, in log2",
    "default_local_share": "local accesses under the default",
    "other_local_share": "local accesses under the other probe",
    "default_traffic_GBps": "memory traffic under the default",
    "other_traffic_GBps": "memory traffic under the other probe",
    "default_local_GBps": "local traffic under the default",
    "home_share": "largest part of the local accesses that one node's cores make",
    "reached_GBps": "most that a training program reached",
    "controllers_GBps": "all memory controllers can read",
    "low": "least expected speedup",
    "high": "greatest expected speedup",
}
"""The fields of `Evidence`, which explanations rest on, in words."""


class Reason(msgspec.Struct, frozen=True):
    """One finding of the explanation, and the numbers that it rests on in words, empty if there are none."""

    text: str
    numbers: str


class PredictionData(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to show; ``reasons`` are the findings of its explanation.

    ``direct`` says so where both mappings were probes and the speedup is that of their times. ``regions`` is the
    part of the run that the speedup is of, if known and not the whole run, and ``whole_run`` the resulting speedup of
    the whole, if it differs. ``how`` says whether the speedup was measured or is expected, ``to_apply`` where the
    command applies it. ``good`` are mappings that are nearly as good.
    """

    advice: Advice
    words: str
    default_words: str
    judged: str
    direct: str
    regions: float | None
    whole_run: float | None
    how: str
    to_apply: str
    good: tuple[Close, ...]
    reasons: tuple[Reason, ...]


def prediction_data(advice: Advice) -> PredictionData:
    """Return the record that the page shows."""
    regions = advice.region_share if advice.clock == "regions" else None
    speedup = advice.expected_speedup.median
    return PredictionData(
        advice=advice,
        words=mapping_in_words(applicable(advice.mapping)),
        default_words=mapping_in_words(applicable(advice.default)),
        judged=WITHOUT_COUNTERS.get(advice.judged_by, ""),
        direct=DIRECT[advice.modelled] if is_measured(advice) else "",
        regions=regions,
        whole_run=None if regions is None else whole_run(regions, speedup),
        how=_how(advice),
        to_apply=to_apply(advice.modelled).strip(),
        good=advice.explanation.close,
        reasons=tuple(
            # The text of a comparison of mappings has the numbers in it.
            Reason(f"expected over the default: {each.text}", "")
            if each.topic == "choice"
            else Reason(each.text, readings_in_words(each.evidence))
            for each in advice.explanation.findings
            if each.topic != "choice" or not advice.explanation.choices  # which has a section of its own
        ),
    )


def _how(advice: Advice) -> str:
    if advice.verification is not None and advice.verification.speedup is not None:
        return "measured"
    if not is_measured(advice):
        return "expected"
    return "from both probe runs" if advice.modelled else "measured"


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
    if name in ("speedup", "low", "high"):
        return factor(value)
    return f"{value:.3g}".replace(" ", NO_BREAK)
