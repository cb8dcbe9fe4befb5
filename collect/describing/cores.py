"""What cores do without memory: frequency by active cores, instructions of plain code, hardware threads."""

import msgspec

from numapredict.collect.describing.caches import FoundCaches
from numapredict.collect.describing.probe import Question
from numapredict.collect.describing.sample import Prober, Sample
from numapredict.collect.topology import Core, Topology

PRIVATE = 4
"""The memory of a chase in the shared cache over the private cache, at most."""


class MeasuredCores(msgspec.Struct, frozen=True):
    """``frequency_GHz``: of all cores active. ``turbo_GHz``: by active cores of the first package, some counts of them.

    ``instructions_per_ns``: of one core alone, all others idle; ``together_per_ns``: of all its hardware threads, None
    where it has one. ``cache_ns``: of a hit in the shared cache.
    """

    frequency_GHz: Sample
    turbo_GHz: tuple[tuple[int, Sample], ...]
    instructions_per_ns: Sample
    together_per_ns: Sample | None
    cache_ns: Sample


def measure_cores(topology: Topology, package: tuple[Core, ...], caches: FoundCaches, prober: Prober) -> MeasuredCores:
    """Measure the cores; ``package`` are those of one package."""
    first = package[0]
    frequencies = [
        prober.ask(Question("frequency", tuple(core.pus[0] for core in cores)))["frequency_GHz"]
        for cores in active_cores(topology, package)
    ]
    return MeasuredCores(
        frequency_GHz=frequencies[-1],
        turbo_GHz=tuple(zip(counts_to(len(package)), frequencies, strict=False)),
        instructions_per_ns=prober.ask(Question("work", first.pus[:1]))["instructions_per_ns"],
        together_per_ns=prober.ask(Question("work", first.pus))["instructions_per_ns"] if len(first.pus) > 1 else None,
        cache_ns=prober.ask(Question("cache", first.pus[:1], size_bytes=chased_bytes(caches)))["latency_ns"],
    )


def questions_of_cores(topology: Topology, package: tuple[Core, ...]) -> int:
    """Return how many questions ``measure_cores`` asks."""
    return len(active_cores(topology, package)) + 2 + (len(package[0].pus) > 1)


def active_cores(topology: Topology, package: tuple[Core, ...]) -> tuple[tuple[Core, ...], ...]:
    """Return the cores of each frequency: 1, 2, 4 and so on to all of the package; then all cores, if there are more.

    Measuring the same cores twice could give two different frequencies.
    """
    every = tuple(core for node in topology.cpu_nodes for core in node.cores)
    counts = tuple(package[:count] for count in counts_to(len(package)))
    return (*counts, every) if len(every) > len(package) else counts


def counts_to(most: int) -> tuple[int, ...]:
    """Return 1, 2, 4 and so on, and ``most`` last."""
    return (*(1 << n for n in range((most - 1).bit_length())), most)


def chased_bytes(caches: FoundCaches) -> int:
    """Return the memory of a chase in the shared cache: the greatest power of two up to half of it.

    It is at most 4 times the private cache, which is enough to miss there: others may use the shared cache too.
    """
    return 1 << (min(caches.shared.size_bytes // 2, PRIVATE * caches.private.size_bytes).bit_length() - 1)
