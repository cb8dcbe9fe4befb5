"""The contents of a resctrl group's files: a number of bytes, or a word for why there is none.

Source: Linux, filesystems/resctrl.rst and fs/resctrl/ctrlmondata.c, which writes the words.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from numapredict.native.errors import CounterError

Word = Literal["Unavailable", "Error", "Unassigned"]
"""No hardware counter follows the group (AMD), the hardware refused, no counter was assigned to it (AMD, mbm_event)."""

LOCAL, TOTAL = "mbm_local_bytes", "mbm_total_bytes"
_WORDS: dict[str, Word] = {"Unavailable": "Unavailable", "Error": "Error", "Unassigned": "Unassigned"}
_RANGE = 1 << 64  # the kernel widens the hardware's 24 to 44 bits, once a second, to 64
_MOST_NEGATIVE_SHARE = 0.02  # local and total are read one after the other, each rounded to the hardware's unit
_READS = 3  # the first read after a counter was handed out says Unavailable, the next has the value


class FileCount(msgspec.Struct, frozen=True):
    """What one event's file held, and whether it had to be read again for a number: then some bytes were lost."""

    value: int | Word
    again: bool = False


class Pair(msgspec.Struct, frozen=True):
    """Both events of one place."""

    local: FileCount
    total: FileCount

    @property
    def words(self) -> frozenset[Word]:
        """Return the words found instead of numbers."""
        return frozenset(count.value for count in (self.local, self.total) if isinstance(count.value, str))


def read_pair(folder: Path, read: Callable[[Path], str]) -> Pair:
    """Return the current counts in a folder of ``mon_data``; raise CounterError for a malformed file."""
    return Pair(_count(folder / LOCAL, read), _count(folder / TOTAL, read))


def moved(before: Pair, after: Pair) -> tuple[float, float]:
    """Return the local and the remote bytes between two readings without words.

    A word in ``before`` means 0: a group counts from its creation. Raises CounterError where a counter decreased, and
    where local exceeds total.
    """
    local = _difference(before.local, after.local, LOCAL)
    total = _difference(before.total, after.total, TOTAL)
    if local > total + total * _MOST_NEGATIVE_SHARE:
        raise CounterError(
            f"{LOCAL} rose by {local} and {TOTAL} by {total} only: resctrl's counters contradict themselves"
        )
    return float(min(local, total)), float(max(total - local, 0))


def _difference(before: FileCount, after: FileCount, event: str) -> int:
    """Return by how much a count rose, with wrap-around; a drop means a counter that was reassigned meanwhile."""
    first, last = (count.value if isinstance(count.value, int) else 0 for count in (before, after))
    risen = (last - first) % _RANGE
    if risen >= _RANGE // 2:
        raise CounterError(
            f"{event} fell from {first} to {last}: the processor gave the counter to another group meanwhile; remove "
            "groups that nobody needs, and run again"
        )
    return risen


def _count(path: Path, read: Callable[[Path], str]) -> FileCount:
    for attempt in range(_READS):
        try:
            text = read(path).strip()
        except OSError as error:
            raise CounterError(f"{path} cannot be read: {error.strerror}") from None
        if text.isascii() and text.isdigit() and int(text) < _RANGE:
            return FileCount(int(text), again=attempt > 0)
        if text not in _WORDS:
            raise CounterError(f"{path} says {text[:40]!r}, which is no number of bytes")
        if text != "Unavailable":
            break
    return FileCount(_WORDS[text], again=True)
