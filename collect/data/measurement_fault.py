"""What makes a measurement unusable: the one set of rules for every writer and reader of measurements."""

import math

from numapredict.collect.measurement import Counters, Measurement, NodeCounters

COUNTED = ("local_accesses", "remote_accesses", "local_bandwidth_GBps", "remote_bandwidth_GBps")
LEAST_TIME_S, MOST_TIME_S = 1e-12, 1e9
"""No run ends within a picosecond, or lasts for 30 years: times beyond are mistakes, and ratios of them overflow."""
MOST_COUNTED = 1e30
"""More accesses, or GB/s, than any machine makes; sums and squares of such figures are still finite."""


def fault_of(measurement: Measurement, nodes: int | None) -> str:
    """Return what is wrong with a measurement on a machine of ``nodes`` nodes; an empty text where nothing is."""
    if not measurement.mapping.label:
        return "the mapping has no label"
    if (measurement.status == "ok") != bool(measurement.repetitions):
        return f"status is {measurement.status!r} with {len(measurement.repetitions)} repetitions"
    for repetition in measurement.repetitions:
        if not LEAST_TIME_S <= repetition.time_s <= MOST_TIME_S:
            return f"time_s is {repetition.time_s}, not a time from {LEAST_TIME_S:g} to {MOST_TIME_S:g}"
        region = repetition.region_time_s
        if region is not None and not 0 <= region <= MOST_TIME_S:
            return f"region_time_s is {region}, not a time from 0 to {MOST_TIME_S:g}"
        if any(not name or value is None or not math.isfinite(value) for name, value in repetition.readings):
            return "readings: one has no name or no finite value"
        share = repetition.sampled_share
        if share is not None and not 0 <= share <= 1:
            return f"sampled_share is {share}, not a share"
        fault = _counters_fault(repetition.counters, nodes) if repetition.counters is not None else ""
        if fault:
            return fault
    return ""


def counted_of(node: NodeCounters) -> tuple[float, float, float, float]:
    """Return a node's counters in the order of COUNTED."""
    return (node.local_accesses, node.remote_accesses, node.local_bandwidth_GBps, node.remote_bandwidth_GBps)


def _counters_fault(counters: Counters, nodes: int | None) -> str:
    if nodes is None:
        return "counters of nodes, where the machine's nodes are not known"
    if len(counters.nodes) != nodes:
        return f"counters have {len(counters.nodes)} entries, the machine {nodes} nodes"
    for node in counters.nodes:
        for name, value in zip(COUNTED, counted_of(node), strict=True):
            if value is None or not 0 <= value <= MOST_COUNTED:
                return f"{name} is {'empty' if value is None else value}, not a number from 0 to {MOST_COUNTED:g}"
    return ""
