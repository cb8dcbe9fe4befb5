"""The numbers that an explanation rests on: two probes' readings, and bandwidths to compare them with."""

import math
from collections.abc import Sequence

import msgspec

from numapredict.collect.mapping import AnyMapping, Mapping, applicable
from numapredict.collect.page_policy import FACTS
from numapredict.predictor.advising.predict import ProbeReading
from numapredict.predictor.learning.gain_model import NINE_IN_TEN
from numapredict.predictor.learning.model import Model


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Input of the rules: ``default_*`` of the probe that is the default, ``other_*`` of the other one.

    ``speedup`` is the other's over the default, 1.0 for the same time; None where the probes differ in more than where
    pages and threads lie, or were contradicted by verification. Traffic is local and remote bandwidth together, in
    GB/s. ``home_share`` is the largest part that one node's cores have in all local accesses. ``reached_GBps`` is the
    greatest local bandwidth of any training program, ``controllers_GBps`` what the nodes' controllers can read, if the
    machine's description has it. ``noise`` is the deviation of the speedup in log2, from the probes' repetitions.
    None: not read.
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
    noise: float | None = None

    @property
    def least_speedup(self) -> float | None:
        """Return the lower end of the speedup's 90% interval; the speedup itself if no run was repeated."""
        return None if self.speedup is None else float(self.speedup * 2 ** (-NINE_IN_TEN * (self.noise or 0.0)))

    @property
    def most_speedup(self) -> float | None:
        """Return the upper end of that interval."""
        return None if self.speedup is None else float(self.speedup * 2 ** (NINE_IN_TEN * (self.noise or 0.0)))


def evidence_of(
    readings: Sequence[ProbeReading],
    default: AnyMapping,
    reached_GBps: float | None,
    controllers_GBps: Sequence[float] = (),
) -> Evidence | None:
    """Return the evidence of two readings, or None if the default was not a probe.

    ``reached_GBps``: see ``reached_by``; ``controllers_GBps`` has an entry per node and is used if the default has
    threads on all.
    """
    by_mapping = {reading.mapping: reading for reading in readings}
    if len(by_mapping) != 2 or default not in by_mapping:
        return None
    here = by_mapping.pop(default)
    (there,) = by_mapping.values()
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
        noise=None if here.noise is None or there.noise is None else math.hypot(here.noise, there.noise),
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
