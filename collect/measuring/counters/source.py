"""What every source of counters has in common; pure.

A source says whether it can count here at all, and counts one run of a command: it wraps the command, the caller runs
that once, and then asks what was counted. Nothing here says that the figures are right: ``selftest.py`` does.
"""

from collections.abc import Mapping as Variables
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import msgspec

from numapredict.collect.measurement import Counters, NodeCounters

LINE_BYTES = 64
"""What one access to memory moves: a line of every processor that a source knows."""


class Obstacle(msgspec.Struct, frozen=True):
    """Why a source cannot count here, and the commands that would let it, the one that grants least first."""

    reason: str
    remedies: tuple[str, ...] = ()


class NodeTraffic(msgspec.Struct, frozen=True):
    """The bytes that were moved for or by one NUMA node in a run; None is what a source does not tell.

    ``local_bytes`` and ``remote_bytes`` went between the node's cores and its own memory, or that of other nodes;
    ``controller_bytes`` through the node's memory controllers, whoever asked.
    """

    local_bytes: float | None = None
    remote_bytes: float | None = None
    controller_bytes: float | None = None


class Traffic(msgspec.Struct, frozen=True):
    """What a source counted in one run, one entry a NUMA node in the topology's order.

    ``running_share`` is the least share of the run in which any of the events was truly counted: 1 without
    multiplexing; figures are scaled up where it is less. ``notes`` say what a reader should know of the figures.
    """

    source: str
    nodes: tuple[NodeTraffic, ...]
    running_share: float = 1.0
    notes: tuple[str, ...] = ()

    @property
    def tells_local(self) -> bool:
        """Return whether local and remote bytes are told apart on every node."""
        return all(node.local_bytes is not None and node.remote_bytes is not None for node in self.nodes)


class Counting(Protocol):
    """One run that is counted; good for one run only."""

    def command(self, command: Sequence[str], variables: Variables[str, str]) -> tuple[str, ...]:
        """Return the whole command to run instead of ``command``.

        ``variables`` are set for the program alone and not for what counts it: a preload library must not place that.
        """
        ...

    def traffic(self) -> Traffic:
        """Return what the run moved, once it has ended; raise CounterError where that cannot be told."""
        ...


class CounterSource(Protocol):
    """A way to count memory traffic on this computer."""

    @property
    def name(self) -> str:
        """Return the source's name, as measurements and options have it: ``likwid``, ``perf``, ``resctrl``."""
        ...

    def obstacle(self) -> Obstacle | None:
        """Return why it cannot count here, or None where nothing is known to stand in the way; quick, no effect."""
        ...

    def counting(self, pus: Sequence[int], folder: Path) -> AbstractContextManager[Counting]:
        """Return a run's counting; leaving the context removes what it made.

        ``pus`` are the operating system's numbers of the PUs that the program will run on, ``folder`` an empty folder
        of the caller's for files. Entering raises CounterError where the source refuses after all.
        """
        ...


def counters_of(traffic: Traffic, time_s: float, factor: float = 1.0) -> Counters | None:
    """Return the traffic of a run of ``time_s`` seconds as counters, or None where local and remote are not told apart.

    ``factor`` is what the self-test found that the source counts for each byte truly moved.
    """
    if not traffic.tells_local:
        return None
    nodes = []
    for node in traffic.nodes:
        local, remote = (node.local_bytes or 0.0) / factor, (node.remote_bytes or 0.0) / factor
        nodes.append(NodeCounters(local / LINE_BYTES, remote / LINE_BYTES, local / time_s / 1e9, remote / time_s / 1e9))
    return Counters(tuple(nodes))
