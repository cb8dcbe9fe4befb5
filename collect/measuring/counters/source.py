"""The protocol of all sources of counters; pure.

A source reports whether it can count here, and counts one run of a command: it wraps the command, the caller runs that
once, and then reads the counts. ``selftest.py`` checks whether they are right.
"""

from collections.abc import Mapping as Variables
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import msgspec

from numapredict.collect.measurement import Counters, NodeCounters

LINE_BYTES = 64
"""The bytes of one memory access: the cache line of every processor that a source supports."""


class Obstacle(msgspec.Struct, frozen=True):
    """Why a source cannot count here, and the commands that would enable it, least privilege first."""

    reason: str
    remedies: tuple[str, ...] = ()


class NodeTraffic(msgspec.Struct, frozen=True):
    """The bytes that were moved for or by one NUMA node in a run; None where the source does not count them.

    ``local_bytes`` and ``remote_bytes`` went between the node's cores and its own memory, or that of other nodes;
    ``controller_bytes`` through the node's memory controllers, for any requester.
    """

    local_bytes: float | None = None
    remote_bytes: float | None = None
    controller_bytes: float | None = None


class Traffic(msgspec.Struct, frozen=True):
    """What a source counted in one run, one entry a NUMA node in the topology's order.

    ``running_share`` is the least share of the run in which any of the events was actually counted: 1 without
    multiplexing; figures are scaled up where it is less. ``notes`` are caveats about the figures.
    """

    source: str
    nodes: tuple[NodeTraffic, ...]
    running_share: float = 1.0
    notes: tuple[str, ...] = ()

    @property
    def tells_local(self) -> bool:
        """Return whether local and remote bytes are counted separately on every node."""
        return all(node.local_bytes is not None and node.remote_bytes is not None for node in self.nodes)


class Counting(Protocol):
    """One run that is counted; good for one run only."""

    def command(self, command: Sequence[str], variables: Variables[str, str]) -> tuple[str, ...]:
        """Return the whole command to run instead of ``command``.

        ``variables`` are set for the program alone, not for the counting tool, which the library must not place.
        """
        ...

    def traffic(self) -> Traffic:
        """Return the traffic of the run, which has ended; raise CounterError where it was not counted."""
        ...


class CounterSource(Protocol):
    """A way to count memory traffic on this computer."""

    @property
    def name(self) -> str:
        """Return the source's name, as measurements and options have it: ``likwid``, ``perf``, ``resctrl``."""
        ...

    def obstacle(self) -> Obstacle | None:
        """Return why it cannot count here, or None without a known obstacle; quick, without effects."""
        ...

    def counting(self, pus: Sequence[int], folder: Path) -> AbstractContextManager[Counting]:
        """Return a run's counting; leaving the context removes what it made.

        ``pus`` are the OS indices of the PUs that the program will run on, ``folder`` an empty folder for files.
        Entering raises CounterError where the source cannot count after all.
        """
        ...


def counters_of(traffic: Traffic, time_s: float, factor: float = 1.0) -> Counters | None:
    """Return the traffic of a run of ``time_s`` seconds as counters, or None without separate local and remote bytes.

    ``factor`` is the source's calibration: the bytes it counts for each byte moved.
    """
    if not traffic.tells_local:
        return None
    nodes = []
    for node in traffic.nodes:
        local, remote = (node.local_bytes or 0.0) / factor, (node.remote_bytes or 0.0) / factor
        nodes.append(NodeCounters(local / LINE_BYTES, remote / LINE_BYTES, local / time_s / 1e9, remote / time_s / 1e9))
    return Counters(tuple(nodes))
