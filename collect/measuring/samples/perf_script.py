"""Reads what `perf script` prints of sampled accesses, one line a sample; the fields are in perf-script(1).

perf prints them in its own order, whatever the order in which they are asked for: process, CPU, time, period, event,
address, source, weight, instruction. The source is a number and then words, which begin with a bar.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numapredict.collect.measuring.samples.served import served_by
from numapredict.native.errors import CounterError

FIELDS = "pid,cpu,time,period,event,addr,data_src,weight,ip"
ACCESS = np.dtype(
    [
        ("pid", "<i8"), ("cpu", "<i4"), ("served", "u1"), ("time_s", "<f8"), ("address", "<u8"),
        ("weight", "<f8"), ("period", "<f8"),
    ]
)  # fmt: skip
"""A sampled access, for ``period`` of them: ``weight`` is its latency in cycles, ``served`` a value of served.py."""

_LINE = re.compile(
    r"\s*(-?\d{1,10})\s+\[(\d{1,6})\]\s+(\d{1,12}\.\d{1,9}):\s+(\d{1,18})\s+(\S.{0,200}?):\s+"
    r"([0-9a-f]{1,16})\s+([0-9a-f]{1,16})(?:\s+\|[^\n]{0,300}?)?\s+(\d{1,18})\s+([0-9a-f]{1,16})\s*",
    re.ASCII,
)
_KERNEL = 1 << 63  # where the kernel's half of the addresses begins
_MOST_STRANGE = 0.01


@dataclass(frozen=True, eq=False)
class Accesses:
    """The accesses of the program's own code, and how many instructions the samples of each process stand for."""

    rows: npt.NDArray[np.void]
    instructions: dict[int, float]


def read_script(lines: Iterable[str], accesses: str, instructions: str) -> Accesses:
    """Return the samples whose events begin with ``accesses``; those of ``instructions`` say how many were executed.

    Both may be one event, which then samples instructions of all kinds. Raises CounterError where more than a few
    lines are none of `perf script`.
    """
    counts: defaultdict[int, float] = defaultdict(float)
    strange: list[str] = []

    def rows() -> Iterator[tuple[int, int, int, float, int, float, float]]:
        for line in lines:
            match = _LINE.fullmatch(line)
            if match is None:
                strange.extend([line.strip()] if line.strip() else [])
                continue
            if int(match[9], 16) >= _KERNEL and accesses == instructions:
                continue
            event, period = match[5], float(match[4])
            if event.startswith(instructions):
                counts[int(match[1])] += period
            address = int(match[6], 16)
            if event.startswith(accesses) and 0 < address < _KERNEL:
                served = served_by(int(match[7], 16))
                yield int(match[1]), int(match[2]), served, float(match[3]), address, float(match[8]), period

    found = np.fromiter(rows(), ACCESS)
    if len(strange) > _MOST_STRANGE * (len(found) + len(strange)):
        raise CounterError(f"perf script prints what is not understood, as {strange[0][:120]!r}: use another perf")
    return Accesses(found, dict(counts))
