"""What disturbs a run: other programs on its PUs, a hypervisor, the kernel's page moves, and lower clock frequencies.

All of it is read from files of /proc and /sys before and after the run; only the frequencies are sampled during it.
"""

import math
import resource
import statistics
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, assert_never

import msgspec

from numapredict.collect.host.facts.load import STOLEN
from numapredict.collect.host.kernel_file import kernel_line, kernel_text
from numapredict.collect.host.processor_times import TICK_S, ticks_by_pu

OTHERS_PUS = 0.1
"""The share of one PU that others may use: a single shared PU delays every barrier."""

OTHERS_EACH = 0.002
"""The share of every PU that others may use in addition: the kernel's own work."""

LOOKED_AT = 8
"""How many PUs' clock frequencies are sampled: each sample may interrupt its PU."""

MOVED_A_SECOND = 100
"""Pages that the kernel may move between nodes in each second of a run: about 0.1% of its time, at 10 us a page."""

SLOWER = 0.9
"""The clock frequency, over the highest of the same measurement's runs, below which a run counts as disturbed."""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The computer's counts at one moment: seconds of the PUs in use and stolen, and event counts so far.

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


class Speeds:
    """The clock frequency of some PUs, sampled while a program runs: an idle PU's is meaningless."""

    def __init__(self, pus: Sequence[int], root: Path = Path("/")) -> None:
        step = max(1, len(pus) // LOOKED_AT)
        self._files = [root / f"sys/devices/system/cpu/cpu{pu}/cpufreq/scaling_cur_freq" for pu in pus[::step]]
        self._seen_MHz: list[float] = []

    def look(self) -> None:
        """Sample the current mean frequency in MHz, where the kernel reports it."""
        clocks = [clock for clock in map(_number, self._files) if clock]
        if clocks:
            self._seen_MHz.append(sum(clocks) / len(clocks) / 1000)

    @property
    def median_MHz(self) -> float:
        """Return the median of all samples, 0 without any."""
        return statistics.median(self._seen_MHz) if self._seen_MHz else 0.0


class DisturbanceReason(msgspec.Struct, frozen=True):
    """Why a run counts as disturbed: ``amount`` in the unit of its kind, and its ``limit`` where it has one.

    ``programs``: PUs that other programs used, of the run's; ``hypervisor``: the share of the run's PUs that it took;
    ``pages``: pages that the kernel moved; ``heat``: neither; ``clock``: MHz, and the highest of the measurement.
    """

    kind: Literal["programs", "hypervisor", "pages", "heat", "clock"]
    amount: float = 0.0
    limit: float = 0.0

    @property
    def words(self) -> str:
        """Return the reason in the words of a measurement's provenance."""
        match self.kind:
            case "programs":
                return f"other programs used {self.amount:.1f} of its {self.limit:.0f} PUs"
            case "hypervisor":
                return f"the hypervisor took {self.amount:.0%} of its PUs"
            case "pages":
                return f"the kernel moved {self.amount:.0f} pages between nodes"
            case "heat":
                return "the processor was throttled for its heat"
            case "clock":
                return f"the clock ran at {self.amount:.0f} MHz, not {self.limit:.0f}"
            case _:
                assert_never(self.kind)


class Disturbance(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about one run; ``reasons`` is empty where nothing disturbed it.

    ``others`` is how many PUs others used of those that the program had, on average.
    """

    others: float
    frequency_MHz: float
    reasons: tuple[DisturbanceReason, ...]

    @property
    def busy(self) -> str:
        """Return in words what others took of the PUs, empty for nothing: it may change which mapping is faster."""
        return "; ".join(reason.words for reason in self.reasons if reason.kind in ("programs", "hypervisor"))

    @property
    def worth_redoing(self) -> bool:
        """Return whether the run should be redone: the kernel's page moves come back, as long as balancing is on."""
        return any(reason.kind != "pages" for reason in self.reasons)


def snapshot(pus: Iterable[int], frequency_MHz: float = 0.0, root: Path = Path("/")) -> Snapshot:
    """Return the current counts, with the given frequency; what the kernel does not report is 0."""
    wanted = frozenset(pus)
    ticks = [found for pu, found in ticks_by_pu(kernel_text(root / "proc/stat")).items() if pu in wanted]
    cpus = [root / f"sys/devices/system/cpu/cpu{pu}" for pu in wanted]
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
        frequency_MHz=frequency_MHz,
    )


def disturbance(before: Snapshot, after: Snapshot, pus: int, highest_MHz: float = 0.0) -> Disturbance:
    """Return what disturbed a run on ``pus`` PUs between two snapshots.

    ``highest_MHz`` is the highest frequency of the measurement's other runs. The kernel counts each PU's time in ticks:
    2 sqrt(pus) ticks are within the error of the sums and are not attributed to others.
    """
    wall_s = max(after.at_s - before.at_s, TICK_S)
    offered_s = wall_s * pus
    grain_s = 2 * TICK_S * pus**0.5
    stolen_s = after.stolen_s - before.stolen_s
    others_s = max(after.busy_s - before.busy_s - (after.own_s - before.own_s), 0.0)
    reasons: list[DisturbanceReason] = []
    if others_s > OTHERS_PUS * wall_s + OTHERS_EACH * offered_s + grain_s:
        reasons.append(DisturbanceReason("programs", others_s / wall_s, pus))
    if stolen_s > STOLEN * offered_s + grain_s:
        reasons.append(DisturbanceReason("hypervisor", stolen_s / offered_s))
    moved = after.pages_moved - before.pages_moved
    if moved > MOVED_A_SECOND * wall_s:
        reasons.append(DisturbanceReason("pages", moved))
    if after.throttled > before.throttled:
        reasons.append(DisturbanceReason("heat"))
    if 0 < after.frequency_MHz < SLOWER * highest_MHz:
        reasons.append(DisturbanceReason("clock", after.frequency_MHz, highest_MHz))
    return Disturbance(
        others=min(others_s / wall_s, float(pus)), frequency_MHz=after.frequency_MHz, reasons=tuple(reasons)
    )


def wait_for_quiet(pus: Sequence[int], patience_s: float, root: Path = Path("/")) -> Disturbance | None:
    """Wait until no other program uses the PUs, for about ``patience_s`` seconds; return what still disturbs them."""
    ends_s = time.perf_counter() + patience_s
    while True:
        before = snapshot(pus, root=root)
        time.sleep(shown_in_s(len(pus)))
        found = disturbance(before, snapshot(pus, root=root), len(pus))
        if not found.worth_redoing:
            return None
        if time.perf_counter() >= ends_s:
            return found


def shown_in_s(pus: int) -> float:
    """Return in how many seconds the ticks of so many PUs show that others use all of one, up to 256 PUs."""
    return max(0.25, 6 * TICK_S * math.sqrt(pus))


def _counted(path: Path, name: str) -> int:
    for line in kernel_text(path).splitlines():
        word, _, value = line.partition(" ")
        if word == name and value.strip().isdigit():
            return int(value)
    return 0


def _number(path: Path) -> int:
    line = kernel_line(path)
    return int(line) if line.isdigit() else 0
