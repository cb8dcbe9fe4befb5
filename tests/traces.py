"""Traces, censuses and machine descriptions of any shape to test with, made from a few numbers."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.description import (
    CacheShape,
    Link,
    MachineDescription,
    NodeShape,
    SharedCache,
)
from numapredict.collect.modelled.routes import routes_over
from numapredict.collect.placing.census import Census, CensusRegion

GIB = 1 << 30


@dataclass(frozen=True)
class Segment:
    """One segment with its records, each (line, flags, at)."""

    region: int = 0
    after: int = 0
    instance: int = 0
    phase: int = 0
    thread: int = 0
    scattered: int | None = None  # as `thread`
    team: int = 0
    flags: int = 0
    instructions: int = 0
    chunks: int = 0
    locks: int = 0
    records: Sequence[tuple[int, int, int]] = field(default_factory=tuple)


def trace_bytes(
    segments: Sequence[Segment],
    pages: Sequence[tuple[int, ...]] = (),
    *,
    shift: int = 0,
    end: int = 1,
    version: int = t.VERSION,
) -> bytes:
    """Return a trace file; ``pages`` are (page number, toucher) or (the same, allocation's first page, its pages) or
    (all that, allocation's site, order, kind).
    """
    records = [record for segment in segments for record in segment.records]
    instructions = sum(segment.instructions for segment in segments)
    parts = [
        struct.pack(
            "<QIIIIQQQQQ", t.MAGIC, version, end, shift, 1, len(segments), len(records), len(pages), instructions, 1
        )
    ]
    for s in segments:
        scattered = s.thread if s.scattered is None else s.scattered
        numbers = (s.region, s.after, s.instance, s.phase, s.thread, scattered, s.flags, s.thread, s.team)
        parts.append(struct.pack("<QQIIHHIIIQQII", *numbers, s.instructions, len(s.records), s.chunks, s.locks))
    parts += [struct.pack("<QQ", line << 8 | flags, at) for line, flags, at in records]
    for page, toucher, *allocation in pages:
        first, count, site, order, kind = (*allocation, *(0, 0, 0, 0, 0)[len(allocation) :])
        parts.append(struct.pack("<4Q2H5I", page, first, count, site, toucher, toucher, 0, order, kind, 0, 0))
    return b"".join(parts)


def trace_of(segments: Sequence[Segment], pages: Sequence[tuple[int, ...]] = (), *, shift: int = 0) -> t.Trace:
    """Return the trace that such a file holds."""
    return t.parse_trace(trace_bytes(segments, pages, shift=shift), "made up")


def census_of(*regions: tuple[int, int, float]) -> Census:
    """Return a census of regions (key, count, seconds)."""
    listed = tuple(CensusRegion(key, count, time_s, key, 2, "app") for key, count, time_s in regions)
    return Census(listed, sum(region.time_s for region in listed), 0.0, complete=True)


def machine_of(
    cores: Sequence[int] = (2, 2),
    *,
    links: Sequence[tuple[int, int]] | None = None,
    thread_GBps: float = 10.0,
    node_GBps: float = 1e6,
    link_GBps: float = 1e6,
    local_ns: float = 100.0,
    hop_ns: float = 50.0,
    shared_bytes: int = 64 * 16 * 64,
    shared_ways: int = 16,
) -> MachineDescription:
    """Return a machine of round figures: 1 GHz, 1 cycle an instruction, a hop adds ``hop_ns`` and halves nothing.

    Writes cost what reads do. Links join all pairs of nodes unless given as (from, to).
    """
    nodes = range(len(cores))
    ends = [(i, j) for i in nodes for j in nodes if i != j] if links is None else list(links)
    routes = routes_over(len(cores), ends)
    latency = tuple(tuple(local_ns + hop_ns * len(routes[i][j]) for j in nodes) for i in nodes)
    thread = tuple(tuple(thread_GBps * local_ns / latency[i][j] for j in nodes) for i in nodes)
    return MachineDescription(
        name="made-up",
        summary="made up",
        frequency_GHz=1.0,
        cycles_per_instruction=1.0,
        reorder_window=100,
        line_bytes=64,
        page_bytes=4096,
        private_cache=CacheShape(32768, 8),
        shared_cache=SharedCache(shared_bytes, shared_ways, 20.0),
        nodes=tuple(NodeShape(count, GIB) for count in cores),
        read_latency_ns=latency,
        write_latency_ns=latency,
        controller_read_GBps=(node_GBps,) * len(cores),
        controller_write_GBps=(node_GBps / 2,) * len(cores),
        links=tuple(Link(*pair, link_GBps, link_GBps / 2) for pair in ends),
        routes=routes,
        thread_read_GBps=thread,
        thread_write_GBps=tuple(tuple(value / 2 for value in row) for row in thread),
        sources=(),
    )
