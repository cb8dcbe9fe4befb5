"""What disturbs a run: what others did on its PUs meanwhile, and what the kernel and the processor did to it.

All of it is read from files of /proc and /sys before and after the run, so nothing runs beside the program.
"""

import resource
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from numapredict.collect.kernel_file import kernel_line, kernel_text
from numapredict.collect.processor_times import TICK_S, ticks_by_pu

OTHERS = 0.05
"""The share of the program's PUs that others may take."""

STOLEN = 0.02
"""The share that the hypervisor may take."""

SLOWER = 0.9
"""The clock frequency, over the highest of the same measurement's runs, below which a run counts as disturbed."""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The computer's counts at one moment: seconds of the PUs in use and stolen, and what happened so far.

    ``own_s`` is the processor time of this process and of its ended children; ``frequency_MHz`` the mean clock of the
    PUs, 0 where it is not known.
    """

    at_s: float
    busy_s: float
    stolen_s: float
    own_s: float
    pages_moved: int
    throttled: int
    frequency_MHz: float


class Disturbance(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about one run; ``reasons`` is empty where nothing disturbed it.

    ``others`` is the share of its PUs' time that others took.
    """

    others: float
    frequency_MHz: float
    reasons: tuple[str, ...]


def snapshot(pus: Iterable[int], root: Path = Path("/")) -> Snapshot:
    """Return the counts of now; what a kernel does not tell counts as 0."""
    wanted = frozenset(pus)
    ticks = [found for pu, found in ticks_by_pu(kernel_text(root / "proc/stat")).items() if pu in wanted]
    cpus = [root / f"sys/devices/system/cpu/cpu{pu}" for pu in wanted]
    clocks = [clock for clock in (_number(cpu / "cpufreq/scaling_cur_freq") for cpu in cpus) if clock]
    own = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return Snapshot(
        at_s=time.perf_counter(),
        busy_s=TICK_S * sum(found.busy for found in ticks),
        stolen_s=TICK_S * sum(found.stolen for found in ticks),
        own_s=sum(usage.ru_utime + usage.ru_stime for usage in own),
        pages_moved=_counted(root / "proc/vmstat", "numa_pages_migrated"),
        throttled=sum(
            _number(cpu / f"thermal_throttle/{level}_throttle_count") for cpu in cpus for level in ("core", "package")
        ),
        frequency_MHz=sum(clocks) / len(clocks) / 1000 if clocks else 0.0,
    )


def disturbance(before: Snapshot, after: Snapshot, pus: int, highest_MHz: float = 0.0) -> Disturbance:
    """Return what disturbed a run on ``pus`` PUs between two snapshots.

    ``highest_MHz`` is the highest frequency of the measurement's other runs. The kernel counts processor time in ticks,
    each PU by its own, so two ticks for a PU, as errors add up, are given to the run.
    """
    offered_s = max((after.at_s - before.at_s) * pus, TICK_S)
    grain_s = 2 * TICK_S * pus**0.5
    stolen_s = after.stolen_s - before.stolen_s
    others_s = max(after.busy_s - before.busy_s - (after.own_s - before.own_s), 0.0)
    reasons = []
    if others_s > OTHERS * offered_s + grain_s:
        reasons.append(f"other programs used {others_s / offered_s:.0%} of its PUs")
    if stolen_s > STOLEN * offered_s + grain_s:
        reasons.append(f"the hypervisor took {stolen_s / offered_s:.0%} of its PUs")
    moved = after.pages_moved - before.pages_moved
    if moved > 0:
        reasons.append(f"the kernel moved {moved} pages between nodes")
    if after.throttled > before.throttled:
        reasons.append("the processor was throttled for its heat")
    if 0 < after.frequency_MHz < SLOWER * highest_MHz:
        reasons.append(f"the clock ran at {after.frequency_MHz:.0f} MHz, not {highest_MHz:.0f}")
    return Disturbance(others=min(others_s / offered_s, 1.0), frequency_MHz=after.frequency_MHz, reasons=tuple(reasons))


def wait_for_quiet(pus: Sequence[int], patience_s: float, root: Path = Path("/")) -> bool:
    """Wait until nobody else uses the PUs, for ``patience_s`` seconds at most; return whether they are quiet."""
    ends_s = time.perf_counter() + patience_s
    while (left_s := ends_s - time.perf_counter()) > 0:
        before = snapshot(pus, root)
        time.sleep(min(left_s, 0.25))
        if not disturbance(before, snapshot(pus, root), len(pus)).reasons:
            return True
    return False


def _counted(path: Path, name: str) -> int:
    for line in kernel_text(path).splitlines():
        word, _, value = line.partition(" ")
        if word == name and value.strip().isdigit():
            return int(value)
    return 0


def _number(path: Path) -> int:
    line = kernel_line(path)
    return int(line) if line.isdigit() else 0
