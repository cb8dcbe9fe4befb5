"""Recordings of perf in which samples have the source and the latency that a processor with PEBS or IBS would give."""

import struct
from collections.abc import Sequence
from pathlib import Path

NONE = (0, 0x1E05080021)
"""The weight and the source of a sample of a software event, next to each other (perf_event_open(2))."""


def with_sources(file: Path, given: Sequence[tuple[int, int]]) -> int:
    """Give the samples of a recording weights and sources in turn; return how many there are."""
    parts = file.read_bytes().split(struct.pack("<2Q", *NONE))
    pairs = (struct.pack("<2Q", *given[at % len(given)]) for at in range(len(parts) - 1))
    file.write_bytes(b"".join((parts[0], *(pair + part for pair, part in zip(pairs, parts[1:], strict=True)))))
    return len(parts) - 1


def source(
    level: int = 0, number: int = 0, *, remote: int = 0, hops: int = 0, operation: int = 0x2, snoop: int = 0x2
) -> int:
    """Return perf_mem_data_src of linux/perf_event.h: a load unless told, of memory levels as bits and as a number."""
    return operation | level << 5 | snoop << 19 | number << 33 | remote << 37 | hops << 43
