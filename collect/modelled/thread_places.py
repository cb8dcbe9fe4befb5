"""Thread places: the core of each thread on a described machine, and what follows from it: clock, siblings, cache."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from numapredict.collect.modelled.description import MachineDescription
from numapredict.collect.placement import ThreadSlot

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class ThreadPlaces:
    """Where T threads are on a machine: ``node`` and ``core`` of each, by logical index."""

    machine: MachineDescription
    node: tuple[int, ...]
    core: tuple[int, ...]

    @cached_property
    def nodes(self) -> Ints:
        """Return each thread's node, int32[T]."""
        return np.array(self.node, dtype=np.int32)

    @cached_property
    def siblings(self) -> Ints:
        """Return how many threads each thread's core has, itself included, int32[T]."""
        count = Counter(self.core)
        return np.array([count[core] for core in self.core], dtype=np.int32)

    @cached_property
    def same_core(self) -> Floats:
        """Return 1 for each pair of threads on one core, a thread with itself included, float64[T, T]."""
        core = np.array(self.core)
        same: Floats = (core[:, None] == core[None, :]).astype(np.float64)
        return same

    @cached_property
    def throughput(self) -> Floats:
        """Return what each thread's core executes with all threads that it has, over what it does with one, [T].

        Between one thread and all of the core's the gain is assumed to grow evenly.
        """
        machine = self.machine
        part = (self.siblings - 1) / max(machine.threads_per_core - 1, 1)
        gain: Floats = 1 + (machine.smt_throughput - 1) * np.minimum(part, 1.0)
        return gain

    @cached_property
    def instruction_ns(self) -> Floats:
        """Return the time of one instruction of each thread while it neither waits nor shares its core, [T].

        Waiting threads spin, as OpenMP runtimes have them do, so all cores with a thread are active.
        """
        machine = self.machine
        if not machine.turbo_GHz:
            return np.full(len(self.node), machine.cycles_per_instruction / machine.frequency_GHz)
        packages = machine.packages or tuple(range(len(machine.nodes)))
        package = [packages[node] for node in self.node]
        active = Counter(packages[node] for node, _ in set(zip(self.node, self.core, strict=True)))
        clock = [machine.turbo_GHz[min(active[p], len(machine.turbo_GHz)) - 1] for p in package]
        return machine.cycles_per_instruction / np.array(clock)

    @cached_property
    def cache(self) -> tuple[int, ...]:
        """Return which of the used shared caches, numbered from 0, serves each thread."""
        numbers = {place: number for number, place in enumerate(dict.fromkeys(self._caches))}
        return tuple(numbers[place] for place in self._caches)

    @cached_property
    def cache_node(self) -> Ints:
        """Return the node of each used shared cache, int32[C]."""
        return np.array([node for node, _ in dict.fromkeys(self._caches)], dtype=np.int32)

    @cached_property
    def dies(self) -> Floats:
        """Return 1 where a thread is on a die, float64[T, D], of the dies in use; D is 0 where none are described."""
        die = self.machine.die
        if die is None:
            return np.zeros((len(self.node), 0))
        first = np.cumsum([0, *(shape.cores for shape in self.machine.nodes)])
        each = [(node, int(core - first[node]) // die.cores) for node, core in zip(self.node, self.core, strict=True)]
        numbers = {place: number for number, place in enumerate(dict.fromkeys(each))}
        member = np.array([numbers[place] for place in each])
        found: Floats = (member[:, None] == np.arange(len(numbers))[None, :]).astype(np.float64)
        return found

    def spread(self, members: npt.NDArray[np.bool_]) -> float:
        """Return the share of a team's pairs under different shared caches of a node, less that on the fewest caches.

        ``members`` bool[T]: the threads of the team.
        """
        sharing = self.machine.shared_cache.cores
        node, cache = self.nodes[members], np.array(self.cache)[members]
        if not sharing or len(node) < 2:
            return 0.0
        room = sharing * int(self.siblings.max())
        rank = np.array([np.count_nonzero(node[:at] == one) for at, one in enumerate(node)])
        own, fewest = (_apart(node, each) for each in (cache, rank // room))
        return float(own - fewest) / (len(node) * (len(node) - 1))

    @property
    def private_bytes(self) -> float:
        """Return what private caches add to a shared one, on average, where it is a victim cache: of cores in use."""
        if self.machine.shared_cache.inclusive:
            return 0.0
        return len(set(self.core)) / len(self.cache_node) * self.machine.private_cache.size_bytes

    @cached_property
    def _caches(self) -> tuple[tuple[int, int], ...]:
        """Return the node of each thread's shared cache, and which of that node's it is."""
        sharing = self.machine.shared_cache.cores
        first = np.cumsum([0, *(shape.cores for shape in self.machine.nodes)])
        return tuple(
            (node, int(core - first[node]) // sharing if sharing else 0)
            for node, core in zip(self.node, self.core, strict=True)
        )


def _apart(node: Ints, cache: Ints) -> int:
    """Return how many ordered pairs of threads are on one node under different caches."""
    same = node[:, None] == node[None, :]
    return int(np.count_nonzero(same & (cache[:, None] != cache[None, :])))


def places_of(slots: Sequence[ThreadSlot], machine: MachineDescription) -> ThreadPlaces:
    """Return the places of a placement's slots on the machine that it was resolved for."""
    count = sum(shape.cores for shape in machine.nodes)  # PU numbers repeat the cores' (MachineDescription.topology)
    return ThreadPlaces(machine, tuple(slot.node for slot in slots), tuple(slot.pu % count for slot in slots))


def places_on(nodes: Sequence[int], machine: MachineDescription) -> ThreadPlaces:
    """Return the places of threads that take the cores of their nodes in turn, and again where all are taken."""
    first = np.cumsum([0, *(shape.cores for shape in machine.nodes)])
    taken: Counter[int] = Counter()
    cores = []
    for node in nodes:
        cores.append(int(first[node]) + taken[node] % max(machine.nodes[node].cores, 1))
        taken[node] += 1
    return ThreadPlaces(machine, tuple(nodes), tuple(cores))
