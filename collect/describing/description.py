"""A measured computer's figures as the tables of a machine description, each figure with its source."""

import statistics
from collections.abc import Callable, Iterable, Sequence

import msgspec

from numapredict.collect.describing.computer import MeasuredComputer
from numapredict.collect.describing.cores import chased_bytes
from numapredict.collect.describing.matrices import matrix, rounded, with_cores
from numapredict.collect.describing.pairs import ALL_PAIRS, CACHES, MeasuredPair, latency_bytes
from numapredict.collect.describing.sample import Sample
from numapredict.collect.modelled.description_file import (
    BandwidthTable,
    CacheTable,
    CoreTable,
    LatencyTable,
    MachineFile,
    MemoryTable,
    NodesTable,
    SharedCacheTable,
    SynchronisationTable,
)
from numapredict.collect.topology import Topology

REORDER_WINDOW = 224
FIXED = 1.02
"""The highest over the lowest frequency below which it does not depend on the active cores."""

_WINDOW = (
    "assumption: not measured; 224 instructions as in Intel's Skylake and AMD's Zen 2, later cores look further ahead"
)


class About(msgspec.Struct, frozen=True):
    """The name of the description, and what was measured: processor, kernel and date in one phrase."""

    name: str
    processor: str
    kernel: str
    date: str
    page_bytes: int

    @property
    def measured(self) -> str:
        """Return how each source of a measured figure begins."""
        return f"measured on {self.processor}, {self.kernel}, {self.date}"


def described(measured: MeasuredComputer, about: About) -> MachineFile:
    """Return the description of a measured computer."""
    topology, caches = measured.shape.topology, measured.shape.caches
    shared = caches.shared
    cores_of = [len(node.cores) for node in topology.nodes]
    sharing = caches.sharing if caches.sharing < max(cores_of) else None
    shared_source = {
        "size_bytes": shared.source,
        "ways": shared.ways_source,
        "latency_ns": _source(
            about,
            [measured.cores.cache_ns],
            f"dependent loads in a random order over {chased_bytes(caches) >> 10} KiB",
        ),
        "cores": shared.source,
        "inclusive": "hwloc: the processor says so",
    }
    return MachineFile(
        name=about.name,
        summary=f"{_shape_words(cores_of)}, {about.processor}, measured",
        core=_core(measured, about),
        memory=MemoryTable(
            line_bytes=caches.line_bytes,
            page_bytes=about.page_bytes,
            source={"line_bytes": "hwloc", "page_bytes": "the kernel's base page"},
        ),
        private_cache=CacheTable(
            size_bytes=caches.private.size_bytes,
            ways=caches.private.ways,
            source={"size_bytes": caches.private.source, "ways": caches.private.ways_source},
        ),
        shared_cache=SharedCacheTable(
            size_bytes=shared.size_bytes,
            ways=shared.ways,
            latency_ns=rounded(measured.cores.cache_ns.middle),
            cores=sharing,
            inclusive=caches.inclusive,
            source={
                name: text
                for name, text in shared_source.items()
                if not (name == "cores" and sharing is None) and not (name == "inclusive" and caches.inclusive is None)
            },
        ),
        nodes=_nodes(measured),
        latency=LatencyTable(
            unit="ns",
            read=matrix(topology, measured.pairs, lambda pair: pair.latency_ns.middle),
            source=_source(
                about,
                [pair.latency_ns for pair in measured.pairs],
                f"dependent loads in a random order over {latency_bytes(caches) >> 20} MiB, "
                f"{_huge(measured.pairs)}{_unmeasured(topology)}; assumption: stores cost what loads do",
            ),
        ),
        thread_bandwidth=_bandwidth(measured, about, "thread", "one thread"),
        node_bandwidth=_bandwidth(measured, about, "node", "all cores of the row's node"),
        synchronisation=_synchronisation(measured, about),
    )


def _source(about: About, samples: Sequence[Sample], how: str) -> str:
    """Return a source: where and when, how, how often, the widest interval, and what disturbed it."""
    widest = max(samples, key=lambda sample: sample.spread)
    counts = sorted({len(sample.values) for sample in samples})
    repeated = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    text = f"{about.measured}: {how}; medians of {repeated} repetitions, spread {_at_most(samples)}{widest.spread:.1%}"
    disturbed = [sample for sample in samples if sample.disturbed]
    if disturbed:
        text += f"; {len(disturbed)} of {len(samples)} disturbed, because {disturbed[-1].disturbed}"
    return text


def _at_most(samples: Sequence[Sample]) -> str:
    return "at most " if len(samples) > 1 else ""


def _core(measured: MeasuredComputer, about: About) -> CoreTable:
    cores = measured.cores
    (_, alone), *_ = cores.turbo_GHz
    disturbed = any(sample.disturbed for _, sample in cores.turbo_GHz)
    turbo = () if disturbed else _turbo(cores.turbo_GHz)
    source = {
        "frequency_GHz": _source(about, [cores.frequency_GHz], "dependent additions, one a cycle, on all cores at once")
        + ("; no turbo_GHz, because its measurements stayed disturbed" if disturbed else ""),
        "cycles_per_instruction": _source(
            about,
            [alone, cores.instructions_per_ns],
            "a sum and a stencil over doubles in the first cache, counted in the x86-64 instructions of traces, by the"
            " frequency of one core",
        ),
        "reorder_window": _WINDOW,
        "cycles_from_native_run": "a sum and a stencil do not stand for all programs",
    }
    if turbo:
        counts = ", ".join(str(count) for count, _ in cores.turbo_GHz)
        source["turbo_GHz"] = _source(
            about,
            [sample for _, sample in cores.turbo_GHz],
            f"the same with {counts} active cores of a package; between them that of the next higher count",
        )
    threads = len(measured.shape.first_package[0].pus)
    throughput = None
    if cores.together_per_ns is not None:
        throughput = cores.together_per_ns.middle / cores.instructions_per_ns.middle
        throughput = rounded(min(max(throughput, 1.0), threads))
        source["threads"] = "hwloc"
        source["smt_throughput"] = _source(
            about,
            [cores.instructions_per_ns, cores.together_per_ns],
            "the same code by all hardware threads of a core, over one of them; from 1 to their number",
        )
    return CoreTable(
        frequency_GHz=rounded(cores.frequency_GHz.middle),
        cycles_per_instruction=rounded(alone.middle / cores.instructions_per_ns.middle),
        reorder_window=REORDER_WINDOW,
        cycles_from_native_run=True,
        turbo_GHz=turbo,
        threads=threads if throughput is not None else None,
        smt_throughput=throughput,
        source=source,
    )


def _turbo(measured: Sequence[tuple[int, Sample]]) -> tuple[float, ...]:
    """Return the frequency for each number of active cores, none where it does not depend on them."""
    values = [(count, sample.middle) for count, sample in measured]
    if max(value for _, value in values) < FIXED * min(value for _, value in values):
        return ()
    most = values[-1][0]
    # More active cores never run faster: what seems so is noise.
    return tuple(rounded(max(value for count, value in values if count >= active)) for active in range(1, most + 1))


def _nodes(measured: MeasuredComputer) -> NodesTable:
    topology = measured.shape.topology
    # The kernel may number them with gaps: on Arm by offsets into a table of the firmware (linux: drivers/acpi/pptt.c).
    numbers = {node: number for number, package in enumerate(measured.shape.packages) for node in package.nodes}
    indices = [numbers.get(topology.nodes[with_cores(topology, node.index)].os_index) for node in topology.nodes]
    known = tuple(index for index in indices if index is not None)
    packages = known if len(known) == len(indices) and len(set(known)) < len(known) else ()
    source = {"cores": "hwloc", "memory_bytes": "hwloc"}
    if packages:
        source["packages"] = "the kernel's physical_package_id, in order from 0; for nodes without cores, the nearest's"
    return NodesTable(
        cores=tuple(len(node.cores) for node in topology.nodes),
        memory_bytes=tuple(node.memory_bytes for node in topology.nodes),
        packages=packages,
        source=source,
    )


def _bandwidth(measured: MeasuredComputer, about: About, team: str, who: str) -> BandwidthTable:
    def figure(kind: str) -> Callable[[MeasuredPair], Sample]:
        return lambda pair: getattr(pair, f"{team}_{kind}_GBps")

    topology, pairs = measured.shape.topology, measured.pairs
    samples = [figure(kind)(pair) for pair in pairs for kind in ("read", "write")]
    read, write = (
        matrix(topology, pairs, lambda pair, kind=kind: figure(kind)(pair).middle)  # type: ignore[misc]
        for kind in ("read", "write")
    )
    how = f"loads and plain stores of {who}, line by line through {CACHES} times the caches{_unmeasured(topology)}"
    return BandwidthTable(read_GBps=read, write_GBps=write, source=_source(about, samples, how))


def _synchronisation(measured: MeasuredComputer, about: About) -> SynchronisationTable | None:
    teams = measured.teams
    if not teams:
        return None
    columns = {
        name: tuple(rounded(getattr(team, name).middle) for team in teams)
        for name in ("fork_join_us", "barrier_us", "atomic_ns", "lock_ns")
    }
    # A region ends with a barrier: one that took longer was waiting for a core that other programs had.
    columns["barrier_us"] = tuple(map(min, columns["barrier_us"], columns["fork_join_us"]))
    samples = [getattr(team, name) for team in teams for name in columns]
    how = "empty regions, barriers, atomic additions and critical sections of libgomp's teams, a thread a core"
    return SynchronisationTable(
        threads=tuple(team.threads for team in teams),
        nodes=tuple(team.nodes for team in teams),
        source=_source(about, samples, how),
        fork_join_us=columns["fork_join_us"],
        barrier_us=columns["barrier_us"],
        atomic_ns=columns["atomic_ns"],
        lock_ns=columns["lock_ns"],
    )


def _huge(pairs: Iterable[MeasuredPair]) -> str:
    share = statistics.fmean(max(pair.huge, 0.0) for pair in pairs)
    return "in huge pages" if share > 0.9 else f"{share:.0%} in huge pages, so that page walks are in it"


def _unmeasured(topology: Topology) -> str:
    """Return what stands for pairs that were not measured, empty where all were."""
    text = ""
    if len(topology.nodes) > ALL_PAIRS:
        text += "; remote pairs of equal distance measured once"
    if any(not node.cores or not node.memory_bytes for node in topology.nodes):
        text += "; rows of nodes without cores and columns of nodes without memory are those of their nearest node"
    return text


def _shape_words(cores: Sequence[int]) -> str:
    own = [count for count in cores if count]
    same = f"{own[0]}" if len(set(own)) == 1 else f"{min(own)} to {max(own)}"
    extra = len(cores) - len(own)
    return f"{len(own)} x {same} cores" + (f" and {extra} nodes with memory only" if extra else "")
