"""What is implausible in the figures of a computer: others' load, an emulator, or a wrong topology."""

from collections.abc import Iterator

from numapredict.collect.describing.computer import MeasuredComputer
from numapredict.collect.describing.pairs import MeasuredPair

MOST_GBPS = 1000.0
"""No node's memory has a higher bandwidth today; the caches have."""

BEYOND_CACHE = 1.5
"""The least that memory's latency is over that of the shared cache."""

TOLERATED = 1.1
"""By which factor a figure may be better than one that bounds it."""


def doubts(measured: MeasuredComputer) -> Iterator[str]:
    """Yield each doubt in a line."""
    samples = list(measured.samples())
    disturbed = sorted({sample.disturbed for sample in samples if sample.disturbed})
    if disturbed:
        count = sum(bool(sample.disturbed) for sample in samples)
        yield f"{count} of {len(samples)} figures stayed disturbed, the last because {disturbed[-1]}"
    local = {pair.cores: pair for pair in measured.pairs if pair.cores == pair.memory}
    for pair in measured.pairs:
        yield from _doubts_of(pair, local.get(pair.cores, pair))
    cache_ns = measured.cores.cache_ns.middle
    for pair in local.values():
        if pair.latency_ns.middle < BEYOND_CACHE * cache_ns:
            yield (
                f"node {pair.cores}'s memory answers in {pair.latency_ns.middle:.0f} ns, its shared cache in"
                f" {cache_ns:.0f} ns: the cache's size may be wrong, or others use it"
            )


def _doubts_of(pair: MeasuredPair, local: MeasuredPair) -> Iterator[str]:
    where = f"node {pair.cores} on node {pair.memory}'s memory"
    for name in ("read", "write"):
        rate = getattr(pair, f"node_{name}_GBps").middle
        if rate > MOST_GBPS:
            yield f"{where}: {name}s {rate:.0f} GB/s, more than any memory: the caches' size may be wrong"
    if pair.latency_ns.middle * TOLERATED < local.latency_ns.middle:
        yield (
            f"{where}: a latency of {pair.latency_ns.middle:.0f} ns, less than the"
            f" {local.latency_ns.middle:.0f} ns of its own"
        )
