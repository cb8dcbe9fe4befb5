"""Facts of the computer's other load: how busy its PUs are while this program waits for a short time.

Source: proc_stat(5), proc_loadavg(5).
"""

import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from numapredict.collect.host.facts.fact import UNKNOWN, Fact
from numapredict.collect.host.host import allowance
from numapredict.collect.host.kernel_file import kernel_text
from numapredict.collect.host.processor_times import Ticks, ticks_by_pu

STOLEN = 0.02
"""The share of processor time that the hypervisor may take from a measurement."""

LOOK_S = 0.5
_BUSY = 0.1  # five ticks of 10 ms of one sample: above the kernel's own work, and one such PU delays a barrier


class Busyness(msgspec.Struct, frozen=True):
    """The shares, 0 to 1, of a PU's time in which something ran on it, and which a hypervisor stole."""

    busy: float
    stolen: float


def look(root: Path, wait: Callable[[float], None]) -> tuple[Fact, Fact]:
    """Return the facts on others' load and on stolen time, from two samples of /proc/stat ``LOOK_S`` seconds apart."""
    before = kernel_text(root / "proc/stat")
    wait(LOOK_S)
    found = busyness(before, kernel_text(root / "proc/stat"))
    allowed = allowance(root).pus
    mine = {pu: each for pu, each in found.items() if allowed is None or pu in allowed}
    return _load(kernel_text(root / "proc/loadavg"), mine), _stolen(mine)


def busyness(before: str, after: str) -> dict[int, Busyness]:
    """Return how busy each PU was between two texts of /proc/stat, without PUs whose time did not advance."""
    first, last = ticks_by_pu(before), ticks_by_pu(after)
    found = {}
    for pu in first.keys() & last.keys():
        # The kernel's figure for waiting may fall (proc_stat(5)).
        pairs = zip(msgspec.structs.astuple(first[pu]), msgspec.structs.astuple(last[pu]), strict=True)
        spent = Ticks(*(max(late - early, 0) for early, late in pairs))
        total = spent.busy + spent.idle + spent.waiting + spent.stolen
        if total:
            found[pu] = Busyness(spent.busy / total, spent.stolen / total)
    return dict(sorted(found.items()))


def _load(loadavg: str, found: dict[int, Busyness]) -> Fact:
    words = loadavg.split()
    tasks = re.fullmatch(r"([0-9]{1,9})/[0-9]{1,9}", words[3]) if len(words) > 3 else None
    parts = []
    if tasks:
        parts.append(f"{words[0]} tasks over the last minute, {max(int(tasks[1]) - 1, 0)} others runnable now")
    if not found:
        return Fact("load of others", "; ".join(parts) or UNKNOWN)
    busiest = max(found, key=lambda pu: found[pu].busy)
    share = found[busiest].busy
    parts.append(
        f"{sum(each.busy for each in found.values()):.1f} of {len(found)} PUs busy, PU {busiest} most ({share:.0%})"
    )
    value = "; ".join(reversed(parts))
    if share < _BUSY:
        return Fact("load of others", value)
    why = "a thread that shares its PU is late, and all others wait for it"
    return Fact("load of others", value, disturbs=True, why=why, remedy="wait for it to end; top shows what it is")


def _stolen(found: dict[int, Busyness]) -> Fact:
    if not found:
        return Fact("stolen time", UNKNOWN)
    share = sum(each.stolen for each in found.values()) / len(found)
    if share < STOLEN:
        return Fact("stolen time", f"{share:.0%}")
    return Fact(
        "stolen time",
        f"{share:.0%}",
        disturbs=True,
        why="the hypervisor gives these processors to other machines",
        remedy="use a machine with processors of its own",
    )
