"""Synchronisation: what a team of threads pays to start, to wait for each other, and for counters that all change.

A description gives the costs of some teams (the quantities of the EPCC OpenMP microbenchmarks: Bull, EWOMP 1999); those
of other teams lie between them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from numapredict.collect.modelled.description import MachineDescription, TeamCost

# Assumptions where a description has no figures, as models/machines has them for described machines, with their source:
# cycles that any team pays; what a changed line takes to another core of its node, in hits of the shared cache (to one
# of another node, its read latency), and how many such ways a critical section is, by threads.
_FORK_JOIN_CYCLES, _BARRIER_CYCLES = 3000.0, 800.0
_HITS_A_TRANSFER = 3.0
_TRANSFERS_A_LOCK = ((2.0, 4.0, 8.0), (1.6, 4.2, 5.6))


@dataclass(frozen=True)
class Waits:
    """What a team pays, in ns: for a region's start and end, a barrier, an atomic addition, a critical section."""

    fork_join_ns: float
    barrier_ns: float
    atomic_ns: float
    lock_ns: float


class Synchronisation:
    """The costs of every team on one machine."""

    def __init__(self, machine: MachineDescription) -> None:
        self._known = machine.team_costs
        self._cycle_ns = 1 / machine.frequency_GHz
        self._transfer_ns = _HITS_A_TRANSFER * machine.shared_cache.latency_ns
        self._latency_ns = np.array(machine.read_latency_ns)
        self._other_cache_ns = machine.other_cache_ns
        self._found: dict[tuple[int, ...], Waits] = {}

    def waits(self, nodes: tuple[int, ...], spread: float = 0.0) -> Waits:
        """Return the costs of a team whose threads are on these nodes, one entry a thread; a team of one has none.

        ``spread``: the share of its pairs that are under different shared caches of a node, less that of a team on the
        fewest caches. Each time grows by what a changed line then takes longer, as often as the assumed costs have it.
        """
        if nodes not in self._found:
            self._found[nodes] = self._waits(nodes)
        found, more_ns = self._found[nodes], spread * self._other_cache_ns
        if not more_ns:
            return found
        return Waits(
            found.fork_join_ns + 2 * len(nodes) * more_ns,
            found.barrier_ns + len(nodes) * more_ns,
            found.atomic_ns + more_ns,
            found.lock_ns + more_ns * float(np.interp(len(nodes), *_TRANSFERS_A_LOCK)),
        )

    def _waits(self, nodes: tuple[int, ...]) -> Waits:
        if len(nodes) < 2:
            return Waits(0.0, 0.0, 0.0, 0.0)
        if not self._known:
            return self._assumed(nodes)
        return Waits(
            self._between(nodes, lambda cost: cost.fork_join_us * 1e3),
            self._between(nodes, lambda cost: cost.barrier_us * 1e3),
            self._between(nodes, lambda cost: cost.atomic_ns),
            self._between(nodes, lambda cost: cost.lock_ns),
        )

    def _assumed(self, nodes: tuple[int, ...]) -> Waits:
        """Return the costs of libgomp's barrier: one counter, which each thread changes in turn, and a flag for all."""
        home = np.array(nodes)
        between = np.where(home[:, None] == home[None, :], self._transfer_ns, self._latency_ns[np.ix_(home, home)])
        # The mean over all pairs of threads: the order in which they come to the counter is not known.
        transfer_ns = float(between[~np.eye(len(home), dtype=bool)].mean())
        each_ns = len(nodes) * transfer_ns
        return Waits(
            _FORK_JOIN_CYCLES * self._cycle_ns + 2 * each_ns,
            _BARRIER_CYCLES * self._cycle_ns + each_ns,
            transfer_ns,
            transfer_ns * float(np.interp(len(nodes), *_TRANSFERS_A_LOCK)),
        )

    def _between(self, nodes: tuple[int, ...], figure: Callable[[TeamCost], float]) -> float:
        """Return a figure of the team: straight lines over threads for each known number of nodes, then over nodes."""
        counts = sorted({cost.nodes for cost in self._known})
        at = [self._over_threads(len(nodes), [cost for cost in self._known if cost.nodes == n], figure) for n in counts]
        return float(np.interp(len(set(nodes)), counts, at))

    @staticmethod
    def _over_threads(threads: int, known: list[TeamCost], figure: Callable[[TeamCost], float]) -> float:
        """Return a figure by threads: nothing for one, straight lines between the known, the last line goes on."""
        known = sorted(known, key=lambda cost: cost.threads)
        x = np.array([1.0, *(cost.threads for cost in known)])
        y = np.array([0.0, *(figure(cost) for cost in known)])
        if threads <= x[-1]:
            return float(np.interp(threads, x, y))
        slope = max((y[-1] - y[-2]) / (x[-1] - x[-2]), 0.0)
        return float(y[-1] + slope * (threads - x[-1]))
