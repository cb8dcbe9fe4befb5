"""Contention: how long threads take when they share memory controllers and links. Pure arithmetic on arrays.

A phase ends when its slowest thread does. A thread computes and meanwhile streams, since prefetchers run ahead of it.
It waits for dependent accesses (their latencies add up), and for independent ones as far as its reorder window does not
hide them: a core executes past a miss until the window is full, so misses within one window overlap with each other and
with the window's instructions, and misses farther apart are waited for one by one (interval analysis: Karkhanis and
Smith, ISCA 2004; Eyerman et al., TOCS 2009).

Threads of one core share it: what they compute, gather and read from the shared cache takes the core as long as if one
thread did it all, less what simultaneous multithreading gains; their streams gain nothing. Chains of dependent accesses
do not hinder each other. Chunks and locks change a line that all
threads want: each thread waits for its own, and all of them one after the other are the least that a phase takes.

Controllers and links have a bandwidth; as their use grows, so does the wait in front of them, and no phase is shorter
than its busiest resource needs. Use and time depend on each other, so both are found together. Streams do not wait in
the queue: a prefetcher keeps a fixed number of lines under way, so that a stream slows down only where a resource is
full, and the bandwidths of a description were measured with streams, their queues included.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numapredict.collect.modelled.description import MachineDescription
from numapredict.collect.modelled.shared_caches import DEPENDENT, INDEPENDENT, STREAMED, WRITTEN_BACK
from numapredict.collect.modelled.thread_places import ThreadPlaces

# Assumption: the most independent misses that a core keeps in flight, where its reorder window holds as many. Streams,
# which the prefetchers run ahead of, reach the one-thread bandwidth that was measured.
MISSES_IN_FLIGHT = 5.0
# Assumption: the same for hits in the shared cache, where the window hides most of the shorter wait.
HITS_IN_FLIGHT = 5.0
# A queue's length follows use^2 / (2 (1 - use)) (M/D/1, Pollaczek-Khinchine). At this use the bound of the busiest
# resource takes over.
MOST_USE = 0.95
# Bisections of the range of a phase's time: they narrow a tenfold range to one part in 100,000.
ROUNDS = 20

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Costs:
    """A machine's figures as arrays, per 64-byte line; N nodes (row: the core's, column: the memory's), K links.

    ``line_ns`` [N, N, KINDS]: a thread's time for one access on an idle machine; for INDEPENDENT, one without overlap.
    ``latency_ns`` [N, N].
    ``controller_ns`` [N, 2]: a controller's time for one line read, or written back; ``die_ns`` [2]: a die's link's.
    ``link_ns`` [K, 2], ``route`` [N, N, K]: 1 where the way from a core's node to a memory's node takes the link.
    """

    line_ns: Floats
    latency_ns: Floats
    controller_ns: Floats
    die_ns: Floats
    link_ns: Floats
    route: Floats
    shared_hit_ns: float
    reorder_window: int


@dataclass(frozen=True, eq=False)
class Demand:
    """The demand of each phase, in lines: the input of ``solve``.

    ``memory`` [M, T, KINDS, N], ``transfers`` [M, T, KINDS, N], ``hits`` [M, T, KINDS], ``instructions`` [M, T],
    ``exclusive_ns`` [M, T]: each thread's time for chunks and locks, which only one thread at a time can take;
    ``dynamic``, ``members`` bool[M], bool[M, T]: which threads take part; ``places``: where the threads are.
    """

    memory: Floats
    transfers: Floats
    hits: Floats
    instructions: Floats
    exclusive_ns: Floats
    dynamic: npt.NDArray[np.bool_]
    members: npt.NDArray[np.bool_]
    places: ThreadPlaces


def costs_of(machine: MachineDescription) -> Costs:
    """Return a description's figures as arrays.

    A written line is described as one cost that includes fetching it. The trace has fetch and write-back separately,
    so a write-back costs what is left after a read.
    """
    line = machine.line_bytes
    read_ns = line / np.array(machine.thread_read_GBps)
    write_ns = line / np.array(machine.thread_write_GBps)
    latency = np.array(machine.read_latency_ns)
    stack = np.empty((*latency.shape, 4))
    stack[..., STREAMED] = read_ns
    stack[..., INDEPENDENT] = latency
    stack[..., DEPENDENT] = latency
    # Where writing was measured to be faster than reading, nothing is left: no cost may be negative.
    stack[..., WRITTEN_BACK] = np.maximum(write_ns - read_ns, 0)
    controller = np.column_stack(
        [line / np.array(machine.controller_read_GBps), line / np.array(machine.controller_write_GBps)]
    )
    links = np.array([[line / link.read_GBps, line / link.write_GBps] for link in machine.links]).reshape(-1, 2)
    die = np.array([[line / machine.die.read_GBps, line / machine.die.write_GBps]] if machine.die else [[0.0, 0.0]])
    for pair in (controller, links, die):
        pair[:, 1] = np.maximum(pair[:, 1] - pair[:, 0], 0)
    route = np.zeros((*latency.shape, len(machine.links)))
    for source, row in enumerate(machine.routes):
        for target, path in enumerate(row):
            route[source, target, list(path)] = 1
    return Costs(
        line_ns=stack,
        latency_ns=latency,
        controller_ns=controller,
        die_ns=die[0],
        link_ns=links,
        route=route,
        shared_hit_ns=machine.shared_cache.latency_ns,
        reorder_window=machine.reorder_window,
    )


def solve(load: Demand, costs: Costs) -> Floats:
    """Return the time of every phase in seconds, float64[M]."""
    nodes = costs.latency_ns.shape[0]
    node, places = load.places.nodes, load.places
    own = costs.line_ns[node]  # [T, N, KINDS]
    fetched = load.memory + load.transfers  # lines from a node's cache and its memory take the same route
    streaming = sum((fetched[:, :, kind, :] * own[None, :, :, kind]).sum(axis=2) for kind in (STREAMED, WRITTEN_BACK))
    scattered = fetched[:, :, INDEPENDENT, :]
    # Dependent accesses follow each other, so no window hides them: each costs its whole latency.
    waiting = fetched[:, :, DEPENDENT, :] * own[None, :, :, DEPENDENT]
    hit_ns = np.array([1 / HITS_IN_FLIGHT, 1 / HITS_IN_FLIGHT, 1.0, 0.0]) * costs.shared_hit_ns
    hit_rated = load.hits[:, :, :DEPENDENT] @ hit_ns[:DEPENDENT]
    hit_waiting = load.hits[:, :, DEPENDENT] * hit_ns[DEPENDENT]
    computing = load.instructions * places.instruction_ns
    overlap, hidden = _windows(scattered.sum(axis=2), load, costs)
    moving = streaming + (scattered * own[None, :, :, STREAMED]).sum(axis=2)

    membership = (node[:, None] == np.arange(nodes)[None, :]).astype(np.float64)  # [T, N]
    read = np.einsum("mtk,tn->mnk", load.memory[:, :, :WRITTEN_BACK, :].sum(axis=2), membership)
    written = np.einsum("mtk,tn->mnk", load.memory[:, :, WRITTEN_BACK, :], membership)
    moved = np.einsum("mtk,tn->mnk", load.transfers.sum(axis=2), membership)
    # A line from another node's cache uses the link, but not the memory controller.
    controller_busy = read.sum(axis=1) * costs.controller_ns[:, 0] + written.sum(axis=1) * costs.controller_ns[:, 1]
    phases = len(read)
    path = costs.route.reshape(nodes * nodes, -1)
    link_busy = (read + moved).reshape(phases, -1) @ path * costs.link_ns[:, 0]
    link_busy = link_busy + written.reshape(phases, -1) @ path * costs.link_ns[:, 1]
    busiest = np.maximum(controller_busy.max(axis=1), link_busy.max(axis=1, initial=0.0))
    busiest = np.maximum(busiest, np.maximum(load.exclusive_ns.sum(axis=1), _of_dies(load, costs)))
    team = np.maximum(load.members.sum(axis=1), 1)

    some_dynamic = bool(load.dynamic.any())

    def duration(slowdown: Floats) -> Floats:
        """Return the time of each phase in ns, [M], with accesses slowed down by these factors, [M, N, N]."""
        mine = slowdown[:, node, :]  # [M, T, N]
        # Even with overlap, a thread gets no more than the bandwidth measured for one thread.
        each = np.maximum(own[None, :, :, INDEPENDENT] * mine / overlap[:, :, None], own[None, :, :, STREAMED])
        gathered = (scattered * each).sum(axis=2)
        # The core waits for what its window does not hide, the memory is busy with all: the longer of the two counts.
        busy = np.maximum(computing + np.maximum(gathered - hidden, 0), streaming + gathered + hit_rated)
        thread = busy + (waiting * mine).sum(axis=2) + hit_waiting + load.exclusive_ns
        thread = np.maximum(thread, _of_shared_cores(busy, moving, places))
        slowest = thread.max(axis=1)
        if some_dynamic:  # chunks even the threads out, so that a phase takes as long as they do on average
            slowest = np.where(load.dynamic, (thread * load.members).sum(axis=1) / team, slowest)
        bounded: Floats = np.maximum(slowest, busiest)
        return bounded

    def queued(time: Floats) -> Floats:
        """Return the time of each phase in ns with the queues at the resource use of a phase that takes ``time`` ns."""
        # One access waits at the controller of its memory and at each link on the way there.
        safe = np.maximum(time, 1e-9)[:, None]
        queue = _queue(controller_busy / safe)[:, None, :] + (_queue(link_busy / safe) @ path.T).reshape(
            phases, nodes, nodes
        )
        return duration(1.0 + queue)

    # The longer a phase takes, the less its accesses wait: there is one fixed point, between the time of an idle
    # machine and the queued time at that use. Bisection finds it; fixed-point iteration would oscillate around it.
    least = duration(np.ones((phases, nodes, nodes)))
    most = queued(least)
    for _ in range(ROUNDS):
        middle = (least + most) / 2
        longer = queued(middle) > middle
        least, most = np.where(longer, middle, least), np.where(longer, most, middle)
    result: Floats = (least + most) / 2 * 1e-9
    return result


def _of_dies(load: Demand, costs: Costs) -> Floats:
    """Return how long each phase's busiest link of a die is in use, in ns, [M]: for its cores' lines from anywhere."""
    read = (load.memory[:, :, :WRITTEN_BACK, :].sum(axis=2) + load.transfers.sum(axis=2)).sum(axis=2)
    written = load.memory[:, :, WRITTEN_BACK, :].sum(axis=2)
    busy = (read * costs.die_ns[0] + written * costs.die_ns[1]) @ load.places.dies
    busiest: Floats = busy.max(axis=1, initial=0.0)
    return busiest


def _of_shared_cores(busy: Floats, moving: Floats, places: ThreadPlaces) -> Floats:
    """Return the least time of each thread's core in ns, [M, T], where several threads share it; else nothing.

    ``busy`` [M, T]: what each thread would take alone, without chains of dependent accesses. Assumption:
    multithreading gains as much whatever keeps the core busy, since its published gains are of whole programs.
    ``moving`` [M, T]: for its lines as a stream. The lines that a core has under way are what bounds a stream, and its
    threads share them.
    """
    if places.siblings.max(initial=1) < 2:
        return np.zeros_like(busy)
    together = np.maximum(busy @ places.same_core / places.throughput, moving @ places.same_core)
    bound: Floats = np.where(places.siblings > 1, together, 0.0)
    return bound


def _windows(misses: Floats, load: Demand, costs: Costs) -> tuple[Floats, Floats]:
    """Return how many independent misses overlap, and the computing time in ns that hides them, [M, T] each."""
    # The mean number of misses in one window of instructions; fewer than one means no overlap. The threads of a core
    # have a part of its window each (Intel 64 and IA-32 Architectures Optimization Reference Manual, sec. 2.6).
    window = costs.reorder_window / load.places.siblings
    in_window = window * misses / np.maximum(load.instructions, 1.0)
    overlap = np.clip(in_window, 1.0, MISSES_IN_FLIGHT)
    # Each batch of misses overlaps one window of computing, and together at most all computing.
    covered = np.minimum(misses / overlap * window, load.instructions)
    return overlap, covered * load.places.instruction_ns


def _queue(use: Floats) -> Floats:
    """Return the wait in front of a resource, as a multiple of an idle access, at a use between 0 and 1."""
    bounded = np.minimum(use, MOST_USE)
    wait: Floats = bounded**2 / (2 * (1 - bounded))
    return wait
