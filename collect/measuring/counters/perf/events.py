"""What perf counts on one computer: the events of its processor's table, encoded for its kernel's PMUs."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.measuring.counters.perf.event_table import Family, Role, TableEvent
from numapredict.collect.measuring.counters.perf.pmu import Pmu, pmus_of
from numapredict.collect.measuring.counters.source import LINE_BYTES
from numapredict.collect.placing.launcher import LaunchedEvent

# linux/perf_event.h: PERF_TYPE_SOFTWARE and PERF_COUNT_SW_DUMMY, which counts nothing and always runs.
REFERENCE = LaunchedEvent("time", 1, (9, 0, 0))
"""The event whose running time on a CPU is the program's time there.

Measured on Linux 6.18: the enabled time of an event on one CPU also advances while the program runs on others, but
not for every thread; its running time is exact.
"""
EVERYWHERE = LaunchedEvent("all-time", 1, (9, 0, 0))
"""The event whose running time is the program's on all CPUs, counted or not."""

_OF_CORES = frozenset({"local_lines", "remote_lines", "all_lines"})


class PlannedEvent(msgspec.Struct, frozen=True):
    """One event of one PMU; each count means ``bytes_each`` bytes."""

    role: Role
    launched: LaunchedEvent
    bytes_each: float


def core_pmu(family: Family, root: Path) -> Pmu | None:
    """Return the PMU of the cores, or None where the kernel has none."""
    pattern = next(event.pmu for event in family.events if event.role in _OF_CORES)
    return next(iter(pmus_of(root, pattern)), None)


def core_events(family: Family, pmu: Pmu, pus: Sequence[int]) -> tuple[PlannedEvent, ...]:
    """Return the events of the program itself, on each of some PUs; raise CounterError where the PMU lacks a field."""
    wanted = [event for event in family.events if event.role in _OF_CORES]
    cpus = tuple(sorted(set(pus)))
    return tuple(
        PlannedEvent(
            event.role, LaunchedEvent(f"{event.role}.{i}", pmu.pmu_type, pmu.configs(event.fields), cpus), LINE_BYTES
        )
        for i, event in enumerate(wanted)
    )


def controller_events(family: Family, root: Path) -> tuple[PlannedEvent, ...]:
    """Return the events of the memory controllers, none where the kernel shows no PMU for them.

    Raises CounterError where a PMU lacks a field of its table.
    """
    return tuple(
        _controller_event(event, pmu, i)
        for i, event in enumerate(event for event in family.events if event.role not in _OF_CORES)
        for pmu in pmus_of(root, event.pmu)
        if pmu.cpus
    )


def _controller_event(event: TableEvent, pmu: Pmu, number: int) -> PlannedEvent:
    """Return one controller's event: the kernel's alias where the table names one, else the table's fields."""
    fields, bytes_each = (pmu.alias(event.alias) if event.alias else None) or (event.fields, float(LINE_BYTES))
    launched = LaunchedEvent(
        f"{event.role}.{number}.{pmu.name}", pmu.pmu_type, pmu.configs(fields), pmu.cpus, system_wide=True
    )
    return PlannedEvent(event.role, launched, bytes_each)
