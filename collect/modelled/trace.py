"""Traces: the tracer's record of one program with one number of threads.

The file's contract is native/tracer/trace_file.h; this is its only reader.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from numapredict.collect.placing.exit_code import exit_code_in
from numapredict.native.errors import InvalidInputError

MOST_BYTES = 1 << 30
MAGIC = 0x314543415254554E
VERSION = 5
PAGE_SHIFT = 12
LINE_SHIFT = 6
MOST_SAMPLE_SHIFT = 8  # COARSEST_SHIFT of native/tracer/recording.c

# The fields that name a thread by its slot, under each thread policy.
SLOTS = ("contiguous", "scattered")
# Segment flags
DYNAMIC, CUT_OFF, MUTED, SPUN, UNRECORDED = 1, 2, 4, 8, 16
# Record flags
STORE, WRITEBACK, STREAMING, DEPENDENT, COHERENCE = 1, 2, 4, 8, 16
# How a trace ends
EXITED = 1
ENDS = {
    EXITED: "the program ended",
    2: "every region was seen often enough",
    3: "the time budget was spent",
    4: "the instruction budget was spent",
    5: "there was no room for more segments",
}

_HEADER = np.dtype(
    [
        ("magic", "<u8"),
        ("version", "<u4"),
        ("end", "<u4"),
        ("sample_shift", "<u4"),
        ("vcpus", "<u4"),
        ("segments", "<u8"),
        ("records", "<u8"),
        ("pages", "<u8"),
        ("instructions", "<u8"),
        ("marks_loaded", "<u8"),
    ]
)
_SEGMENT = np.dtype(
    [
        ("region", "<u8"),
        ("after", "<u8"),
        ("instance", "<u4"),
        ("phase", "<u4"),
        *((name, "<u2") for name in SLOTS),
        ("flags", "<u4"),
        ("vcpu", "<u4"),
        ("team", "<u4"),
        ("instructions", "<u8"),
        ("records", "<u8"),
        ("chunks", "<u4"),
        ("locks", "<u4"),
    ]
)
_RECORD = np.dtype([("word", "<u8"), ("at", "<u8")])
_PAGE = np.dtype(
    [
        *((name, "<u8") for name in ("page", "first", "pages", "site")),
        *((name, "<u2") for name in SLOTS),
        *((name, "<u4") for name in ("flags", "order", "kind", "group_page", "group_pages")),
    ]
)


@dataclass(frozen=True, eq=False)
class Trace:
    """One trace in memory: structured arrays with the fields of trace_file.h.

    ``segments`` [S] in the order of vcpus and time; ``records`` [R] in the order of their segments; ``pages`` [P]. One
    line in 2**``sample_shift`` was traced. ``end`` is a key of ENDS. ``exit_code`` is that of a program that was not
    stopped, else 0.
    """

    segments: npt.NDArray[np.void]
    records: npt.NDArray[np.void]
    pages: npt.NDArray[np.void]
    sample_shift: int
    end: int
    instructions: int
    marks_loaded: bool
    exit_code: int = 0

    @cached_property
    def follows_thread_policy(self) -> bool:
        """Return whether a thread has another slot under each thread policy: nested teams, or smaller ones."""
        return any((part["contiguous"] != part["scattered"]).any() for part in (self.segments, self.pages))

    @property
    def threads(self) -> int:
        """Return how many threads the program had in its regions, which may differ from the mapping's."""
        segments = self.segments[self.segments["region"] != 0]
        return max(int(segments["team"].max(initial=0)), len(np.unique(segments["contiguous"])))


def parse_trace(data: bytes, where: str) -> Trace:
    """Return the trace that the bytes of a file hold; raise InvalidInputError, naming ``where``."""
    if len(data) < _HEADER.itemsize:
        raise InvalidInputError(f"{where}: not a trace: {len(data)} bytes; remove it, it will be made again")
    header = np.frombuffer(data, _HEADER, 1)[0]
    if int(header["magic"]) != MAGIC:
        raise InvalidInputError(f"{where}: not a whole trace; remove it, it will be made again")
    if int(header["version"]) != VERSION:
        raise InvalidInputError(
            f"{where}: trace version {header['version']}, this numapredict reads {VERSION}; remove it"
        )
    offset = _HEADER.itemsize
    parts = []
    for kind, count in ((_SEGMENT, header["segments"]), (_RECORD, header["records"]), (_PAGE, header["pages"])):
        if offset + int(count) * kind.itemsize > len(data):
            raise InvalidInputError(f"{where}: cut short; remove it, it will be made again")
        parts.append(np.frombuffer(data, kind, int(count), offset))
        offset += int(count) * kind.itemsize
    segments, records, pages = parts
    if int(header["sample_shift"]) > MOST_SAMPLE_SHIFT:
        raise InvalidInputError(f"{where}: its sampling is impossible; remove it, it will be made again")
    owned = segments["records"]
    if int(owned.max(initial=0)) > len(records) or int(owned.sum()) != len(records):  # a sum of uint64 may wrap
        raise InvalidInputError(f"{where}: its segments do not own its records; remove it, it will be made again")
    return Trace(
        segments=segments,
        records=records,
        pages=pages,
        sample_shift=int(header["sample_shift"]),
        end=int(header["end"]),
        instructions=int(header["instructions"]),
        marks_loaded=bool(header["marks_loaded"]),
        exit_code=exit_code_in(data),
    )
