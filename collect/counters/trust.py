"""Which source of counters is believed on this computer, and at what factor: what the self-test found, kept."""

from dataclasses import dataclass

from numapredict.collect.counters.source import CounterSource


@dataclass(frozen=True)
class Believed:
    """A source that passed the self-test, and the bytes that it counts for each one truly moved."""

    source: CounterSource
    factor: float
