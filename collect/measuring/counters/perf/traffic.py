"""From the launcher's counts to the traffic of NUMA nodes; pure except for reading the packages' topology.

An event that shares its hardware with others runs only a part of the time. What it counted is scaled up by the time
that the program ran on the same CPUs, which a software event measures (events.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from numapredict.collect.host.packages import packages
from numapredict.collect.measuring.counters.perf.counts import EventCount
from numapredict.collect.measuring.counters.perf.events import EVERYWHERE, REFERENCE, PlannedEvent
from numapredict.collect.measuring.counters.perf.refusal import CPUS_ALLOWED, refusal_of_errors, remedies, words_of
from numapredict.collect.measuring.counters.source import NodeTraffic, Traffic
from numapredict.collect.topology import Topology
from numapredict.native.errors import CounterError

LEAST_SHARE = 0.3
"""The share of its time in which an event must have been counted.

The kernel rotates events every 4 ms at its usual 250 Hz (kernel/events/core.c: PERF_CPU_HRTIMER): of 250 slices a
second a share s is seen. For traffic in half of the slices, and none in the others, the relative standard error of the
scaled sum is sqrt((1 - s) / (250 s)): a tenth at s = 0.286. A figure from a smaller share is too uncertain.
"""
_JITTER = 0.01  # a node with less of the program's time tells nothing of the share; starting and ending take as much
_WHOLE = 0.999  # above this nothing is said of scaling: reading the clocks of two events takes a while, too


class Planned(msgspec.Struct, frozen=True):
    """The events to count, and on which machine; ``misses`` is what the events do not count."""

    topology: Topology
    root: Path
    core: tuple[PlannedEvent, ...]
    controllers: tuple[PlannedEvent, ...]
    misses: str


class _Scaled(msgspec.Struct, frozen=True):
    """Bytes, and the share of the time in which they were counted."""

    size_bytes: float
    share: float


def traffic_of(planned: Planned, counts: Sequence[EventCount]) -> Traffic:
    """Return the traffic of a run; raise CounterError where it was not counted, or too seldom."""
    by_event: dict[str, list[EventCount]] = {}
    for count in counts:
        by_event.setdefault(count.event, []).append(count)
    _check_counted(planned, by_event)
    time_ns = _program_time(by_event[REFERENCE.name])
    total_ns = sum(time_ns.values())
    nodes, shares = [], [1.0]
    for node in planned.topology.nodes:
        pus = frozenset(pu for core in node.cores for pu in core.pus)
        node_ns = sum(time_ns.get(pu, 0) for pu in pus)
        sums: dict[str, float] = {}
        for event in planned.core:
            found = _scaled(event, [count for count in by_event[event.launched.name] if count.cpu in pus], node_ns)
            sums[event.role] = sums.get(event.role, 0.0) + found.size_bytes
            if node_ns > _JITTER * total_ns:
                shares.append(found.share)
        nodes.append(_node_traffic(sums))
    if min(shares) < LEAST_SHARE:
        raise CounterError(
            f"perf counted only {min(shares):.0%} of the run, too little to scale up; stop other profilers, and the "
            "watchdog that holds a counter (sudo sysctl kernel.nmi_watchdog=0)"
        )
    controllers, controller_notes = _controllers(planned, by_event)
    return Traffic(
        source="perf",
        nodes=tuple(
            msgspec.structs.replace(found, controller_bytes=controllers.get(node.os_index))
            for node, found in zip(planned.topology.nodes, nodes, strict=True)
        ),
        running_share=min(shares),
        notes=(
            *_notes(planned, counts, min(shares)),
            *_elsewhere(total_ns, by_event.get(EVERYWHERE.name, ())),
            *controller_notes,
        ),
    )


def _program_time(reference: Iterable[EventCount]) -> dict[int, int]:
    """Return how long the program ran on each CPU, in ns."""
    time_ns = {count.cpu: count.running_ns for count in reference if count.cpu is not None}
    if not any(time_ns.values()):
        raise CounterError(
            "the program ran on none of the PUs that perf counted on; bind it to those that it was given"
        )
    return time_ns


def _check_counted(planned: Planned, by_event: Mapping[str, list[EventCount]]) -> None:
    """Raise CounterError unless every event of the program was counted on every CPU."""
    cpus = planned.core[0].launched.cpus
    for name in (REFERENCE.name, *(event.launched.name for event in planned.core)):
        found = by_event.get(name, [])
        errors = [count.errno for count in found if count.errno]
        if errors:
            obstacle = refusal_of_errors(errors, planned.root)
            raise CounterError(obstacle.reason, obstacle.remedies[:1])
        if {count.cpu for count in found} != set(cpus):
            raise CounterError(f"the launcher's counts lack the event {name} on some PUs; install numapredict again")


def _scaled(event: PlannedEvent, counts: Sequence[EventCount], program_ns: int) -> _Scaled:
    """Return an event's bytes on some CPUs, scaled to the program's time there."""
    running_ns = sum(count.running_ns for count in counts)
    value = sum(count.value for count in counts)
    if not program_ns or not running_ns:
        return _Scaled(0.0, 0.0 if program_ns else 1.0)
    share = min(1.0, running_ns / program_ns)
    return _Scaled(value * event.bytes_each / share, share)


def _node_traffic(sums: Mapping[str, float]) -> NodeTraffic:
    """Return a node's traffic; where remote and all lines are counted, local is their difference."""
    remote = sums.get("remote_lines", 0.0)
    return NodeTraffic(sums.get("local_lines", max(0.0, sums.get("all_lines", 0.0) - remote)), remote)


def _controllers(
    planned: Planned, by_event: Mapping[str, list[EventCount]]
) -> tuple[dict[int, float], tuple[str, ...]]:
    """Return the bytes of each node's memory controllers by the node's OS index, and why some have none."""
    if not planned.controllers:
        return {}, ("the kernel shows no PMU of the memory controllers",)
    # The kernel counts controllers by package, and names a CPU of each to count on. With several nodes in a package
    # (sub-NUMA clusters, NPS2 and NPS4) nothing in sysfs says which controller belongs to which node.
    sole_node = {
        pu: package.nodes[0] for package in packages(planned.root) if len(package.nodes) == 1 for pu in package.pus
    }
    sums: dict[int, float] = {}
    for event in planned.controllers:
        for count in by_event.get(event.launched.name, []):
            if count.errno:
                hint = f"; to allow it: {' or '.join(remedies(CPUS_ALLOWED))}"
                return {}, (f"the memory controllers cannot be counted ({words_of(count.errno)}){hint}",)
            if count.running_ns < LEAST_SHARE * count.enabled_ns or not count.running_ns or count.cpu is None:
                return {}, ("the memory controllers were counted for too small a part of the run",)
            node = sole_node.get(count.cpu)
            if node is None:
                return {}, ("memory controllers are counted by package, and a package here has several NUMA nodes",)
            scale = count.enabled_ns / count.running_ns
            sums[node] = sums.get(node, 0.0) + count.value * event.bytes_each * scale
    return sums, ()


def _notes(planned: Planned, counts: Sequence[EventCount], share: float) -> Iterable[str]:
    """Yield caveats about the figures of the program's cores."""
    yield f"not counted: {planned.misses}"
    if share < _WHOLE:
        yield f"events shared the hardware: counted {share:.0%} of the time, and scaled up"
    if any(count.user_only and count.event != REFERENCE.name for count in counts):
        yield "without what the kernel did for the program: kernel.perf_event_paranoid forbids to count that"


def _elsewhere(counted_ns: int, everywhere: Iterable[EventCount]) -> Iterable[str]:
    """Yield a caveat if the program also ran on CPUs that were not counted."""
    all_ns = sum(count.running_ns for count in everywhere)
    if counted_ns < (1.0 - _JITTER) * all_ns:
        yield f"the program was {1.0 - counted_ns / all_ns:.0%} of its time on PUs that were not counted"
