"""The numbers that an explanation rests on: the readings of two runs, and bandwidths to compare them with."""

from collections.abc import Sequence

import msgspec

from numapredict.collect.mapping import AnyMapping, Mapping, applicable
from numapredict.collect.page_policy import FACTS
from numapredict.predictor.advising.assignment import ProbeReading
from numapredict.predictor.learning.model import Model


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Input of the rules: ``default_*`` of the run under the default, ``other_*`` of another one.

    ``speedup`` is the other's over the default, 1.0 for the same time; None where the two differ in more than where
    pages and threads lie. Traffic is local and remote bandwidth together, in GB/s. ``home_share`` is the largest part
    that one node's cores have in all local accesses. ``reached_GBps`` is the greatest local bandwidth of any training
    program, ``controllers_GBps`` what the nodes' controllers can read, if the machine's description has it. None: not
    read.
    """

    nodes: int
    other: AnyMapping
    speedup: float | None = None
    default_local_share: float | None = None
    other_local_share: float | None = None
    default_traffic_GBps: float | None = None
    other_traffic_GBps: float | None = None
    default_local_GBps: float | None = None
    home_share: float | None = None
    reached_GBps: float | None = None
    controllers_GBps: float | None = None


def evidence_of(
    readings: Sequence[ProbeReading],
    default: AnyMapping,
    reached_GBps: float | None,
    controllers_GBps: Sequence[float] = (),
) -> Evidence | None:
    """Return the evidence of the default's reading and of another, or None without them.

    The first that differs from the default only in where pages and threads lie goes before others. ``reached_GBps``:
    see ``reached_by``; ``controllers_GBps`` has an entry per node and is used if the default has threads on all.
    """
    here = next((reading for reading in readings if reading.mapping == default), None)
    others = [reading for reading in readings if reading.mapping != default and isinstance(reading.mapping, Mapping)]
    if here is None or not others:
        return None
    first = applicable(default)
    there = next((each for each in others if _differ_in_places(first, applicable(each.mapping))), others[0])
    mapping, other = applicable(default), applicable(there.mapping)
    all_nodes = len(controllers_GBps) == mapping.thread_nodes
    return Evidence(
        nodes=mapping.thread_nodes,
        other=other,
        speedup=here.time_s / there.time_s if _differ_in_places(mapping, other) else None,
        default_local_share=here.local_share,
        other_local_share=there.local_share,
        default_traffic_GBps=_traffic(here),
        other_traffic_GBps=_traffic(there),
        default_local_GBps=here.local_bandwidth_GBps,
        home_share=here.home_share,
        reached_GBps=reached_GBps,
        controllers_GBps=sum(controllers_GBps) if controllers_GBps and all_nodes else None,
    )


def reached_by(model: Model) -> float | None:
    """Return the greatest local bandwidth, in GB/s, that any program of a model had under its second probe."""
    if len(model.scales.divisors) < 2:
        return None
    largest = max(member.features[1] for cluster in model.clusters for member in cluster.members)
    scaled = largest * model.scales.divisors[1]
    return float(2**scaled if model.scales.kind == "ratio" else scaled)


def _differ_in_places(default: Mapping, other: Mapping) -> bool:
    """Return whether mappings differ only in where pages and threads are, the default's pages by first touch."""
    same = (default.threads, default.thread_nodes) == (other.threads, other.thread_nodes)
    spread = FACTS[other.page_policy].page_nodes != "one node" and other.page_nodes == other.thread_nodes > 1
    return same and spread and default.page_policy == "first-touch" != other.page_policy


def _traffic(reading: ProbeReading) -> float | None:
    if reading.local_bandwidth_GBps is None or reading.remote_bandwidth_GBps is None:
        return None
    return reading.local_bandwidth_GBps + reading.remote_bandwidth_GBps
