"""Measurements: one program under one mapping, with its repetitions, validity and provenance."""

import ctypes
import math
import statistics
from typing import Literal

import msgspec

from numapredict.collect.mapping import AnyMapping

Status = Literal["ok", "crashed", "timeout"]


def rounded(value: float) -> float:
    """Return the nearest number of 24 bits: more than a model is sure of, and half as much to store."""
    return ctypes.c_float(value).value


def bandwidth_GBps(accesses: float, line_bytes: int, time_s: float) -> float:
    """Return the bandwidth of so many lines in a time, in GB/s (1e9 bytes), rounded."""
    return rounded(accesses * line_bytes / max(time_s, 1e-12) * 1e-9)


class NodeCounters(msgspec.Struct, frozen=True):
    """Memory accesses made by one node's cores during a run, in lines, and their rates in GB/s (1e9 bytes)."""

    local_accesses: float
    remote_accesses: float
    local_bandwidth_GBps: float
    remote_bandwidth_GBps: float


class Counters(msgspec.Struct, frozen=True):
    """Memory counters of one run's parallel regions, one entry a NUMA node in logical order.

    A core's access is local when the memory belongs to its own node (thesis sec. 3.3). Totals are sums over the
    nodes; a bandwidth's total is the sum too, since nodes transfer at the same time. Bandwidths are averages over the
    time in parallel regions, or over the whole run where regions were not timed.
    """

    nodes: tuple[NodeCounters, ...]

    @property
    def local_accesses(self) -> float:
        """Return the accesses to the accessing core's own node, in lines."""
        return sum(node.local_accesses for node in self.nodes)

    @property
    def remote_accesses(self) -> float:
        """Return the accesses to another node's memory, in lines."""
        return sum(node.remote_accesses for node in self.nodes)

    @property
    def local_bandwidth_GBps(self) -> float:
        """Return the local bandwidth of all nodes together, in GB/s."""
        return sum(node.local_bandwidth_GBps for node in self.nodes)

    @property
    def remote_bandwidth_GBps(self) -> float:
        """Return the remote bandwidth of all nodes together, in GB/s."""
        return sum(node.remote_bandwidth_GBps for node in self.nodes)


class Repetition(msgspec.Struct, frozen=True):
    """One run: its time, the part spent in parallel regions where that is known, and counters where there are any.

    ``readings`` are counters of other tools, with their names and units (``collect import``), or the figure that a
    search compares (collect/figure.py).
    ``sampled_share`` is the share, 0 to 1, of page touches that were local in an untimed run of the same mapping, for
    computers without counters.
    """

    time_s: float
    region_time_s: float | None = None
    counters: Counters | None = None
    readings: tuple[tuple[str, float], ...] = ()
    sampled_share: float | None = None

    @property
    def local_share(self) -> float | None:
        """Return the share of local accesses, 0 to 1, by the counters or else as sampled; None with neither.

        Without any access it is 1: nothing was remote.
        """
        if self.counters is None:
            return self.sampled_share
        whole = self.counters.local_accesses + self.counters.remote_accesses
        return self.counters.local_accesses / whole if whole > 0 else 1.0


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """One program under one mapping on one machine.

    ``modelled`` is true when the figures come from a model and not from a clock. A failed measurement has no
    repetitions, a status other than ``ok`` and a ``message`` that says what happened. ``provenance`` says how the
    figures were made (source, versions, share of the program that was seen).
    """

    program: str
    mapping: AnyMapping
    machine: str
    modelled: bool
    status: Status = "ok"
    repetitions: tuple[Repetition, ...] = ()
    message: str = ""
    provenance: tuple[tuple[str, str], ...] = ()

    @property
    def time_s(self) -> float:
        """Return the median run time in seconds; not a number for a failed measurement."""
        return statistics.median(r.time_s for r in self.repetitions) if self.repetitions else math.nan

    @property
    def region_time_s(self) -> float | None:
        """Return the median time in parallel regions in seconds, or None where a run did not time them."""
        times = [r.region_time_s for r in self.repetitions if r.region_time_s is not None]
        return statistics.median(times) if times and len(times) == len(self.repetitions) else None

    @property
    def spread(self) -> float:
        """Return (max - min) / median of the run times: 0 for a single repetition."""
        times = [r.time_s for r in self.repetitions]
        return (max(times) - min(times)) / self.time_s if times and self.time_s > 0 else 0.0

    @property
    def counters(self) -> Counters | None:
        """Return the counters of the repetition whose time is nearest the median, or None where none were read."""
        counted = [r for r in self.repetitions if r.counters is not None]
        if not counted:
            return None
        return min(counted, key=lambda r: abs(r.time_s - self.time_s)).counters

    @property
    def local_share(self) -> float | None:
        """Return the median share of local accesses, 0 to 1, or None where a repetition has none."""
        shares = [r.local_share for r in self.repetitions]
        known = [share for share in shares if share is not None]
        return statistics.median(known) if known and len(known) == len(shares) else None
