"""The probes' readings in words: the fields of `Evidence`, which explanations rest on."""

from collections.abc import Mapping

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
