"""MCTOP's node x node bandwidths (EuroSys'17), by codelets that read and write streams.

Two comparisons a machine. In the first the description holds the whole measured table: it shows that tracer, caches and
contention reproduce their input. In the second the machine is described by the row of one node alone, the
other nodes' bandwidths by the row's entry of the nearest latency, and the other rows are predicted.
"""

from collections.abc import Callable

import msgspec

from numapredict.collect.fidelity.bench import Bench, traffic_GBps
from numapredict.collect.fidelity.claim import Claim, Comparison, as_given, at_most, median_error
from numapredict.collect.modelled.description import MachineDescription
from numapredict.collect.modelled.modelled_machine import ModelledMachine
from numapredict.collect.program import Program

MACHINES = ("lpd48core", "diassrv8", "lpdquad", "lpdxeon2680", "ol-collab1")
READER, WRITER = "cg-dot", "memory-set"
MOST_ERROR = 0.10
KNOWN = 0  # the node whose row describes all
UNLIKE = (
    "nodes equally far by latency draw bandwidths that differ by a factor of two, and one node's row does not say which"
)

Pairs = list[tuple[float, float]]


def comparisons(bench: Bench) -> tuple[Comparison, ...]:
    """Return both comparisons of every machine."""
    return tuple(one for name in MACHINES for one in (_given_all(bench, name), _given_a_row(bench, name)))


def _given_all(bench: Bench, name: str) -> Comparison:
    machine = bench.machine(name)
    return Comparison(
        source="MCTOP, memory.csv",
        machine=name,
        used="all latencies and bandwidths of the table",
        predicted="nothing",
        claims=tuple(map(as_given, _claims(bench, machine, machine.description, lambda source: True, ""))),
    )


def _given_a_row(bench: Bench, name: str) -> Comparison:
    whole = bench.machine(name).description
    return Comparison(
        source="MCTOP, memory.csv",
        machine=name,
        used=f"all latencies, and the bandwidths of node {KNOWN}'s row",
        predicted="the bandwidths of the other rows",
        claims=_claims(bench, bench.machine_of(described_by_row(whole)), whole, lambda source: source != KNOWN, UNLIKE),
    )


def described_by_row(machine: MachineDescription) -> MachineDescription:
    """Return the machine with every bandwidth taken from node 0's row: its entry whose latency is nearest.

    Every node's local bandwidths are those of node 0.
    """
    nodes = range(len(machine.nodes))
    others = [node for node in nodes if node != KNOWN]

    def nearest(source: int, target: int) -> int:
        if source == KNOWN:
            return target
        if source == target:
            return KNOWN
        latency = machine.read_latency_ns
        return min(others, key=lambda node: abs(latency[KNOWN][node] - latency[source][target]))

    def spread(matrix: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
        return tuple(tuple(matrix[KNOWN][nearest(source, target)] for target in nodes) for source in nodes)

    known = {link.target: link for link in machine.links if link.source == KNOWN}
    links = tuple(
        msgspec.structs.replace(
            link,
            read_GBps=known[nearest(link.source, link.target)].read_GBps,
            write_GBps=known[nearest(link.source, link.target)].write_GBps,
        )
        for link in machine.links
    )
    return msgspec.structs.replace(
        machine,
        name=f"{machine.name}-by-row",
        controller_read_GBps=tuple(machine.controller_read_GBps[KNOWN] for _ in nodes),
        controller_write_GBps=tuple(machine.controller_write_GBps[KNOWN] for _ in nodes),
        links=links,
        thread_read_GBps=spread(machine.thread_read_GBps),
        thread_write_GBps=spread(machine.thread_write_GBps),
    )


def _claims(
    bench: Bench, machine: ModelledMachine, published: MachineDescription, wanted: Callable[[int], bool], reason: str
) -> tuple[Claim, ...]:
    reader, writer = bench.codelet(READER), bench.codelet(WRITER)
    reads = _node_table(published, published.controller_read_GBps, [link.read_GBps for link in published.links])
    writes = _node_table(published, published.controller_write_GBps, [link.write_GBps for link in published.links])
    tables = (
        ("all cores of a node, reading", reader, False, reads),
        ("all cores of a node, writing", writer, False, writes),
        ("one thread, reading", reader, True, published.thread_read_GBps),
        ("one thread, writing", writer, True, published.thread_write_GBps),
    )
    found = []
    for what, program, alone, table in tables:
        pairs = [
            (table[source][target], _bandwidth_GBps(bench, machine, program, (source, target, alone)))
            for source in range(len(table))
            for target in range(len(table))
            if wanted(source)
        ]
        found.append(
            at_most(
                f"{what}: median error over {len(pairs)} pairs", "", (None, median_error(pairs)), MOST_ERROR, reason
            )
        )
    return tuple(found)


def _node_table(
    machine: MachineDescription, own: tuple[float, ...], of_links: list[float]
) -> tuple[tuple[float, ...], ...]:
    """Return the measured node x node table: controllers on the diagonal, a separate link for each other pair."""
    by_ends = {(link.source, link.target): value for link, value in zip(machine.links, of_links, strict=True)}
    nodes = range(len(machine.nodes))
    return tuple(
        tuple(own[source] if source == target else by_ends[source, target] for target in nodes) for source in nodes
    )


def _bandwidth_GBps(bench: Bench, machine: ModelledMachine, program: Program, case: tuple[int, int, bool]) -> float:
    """Return the bandwidth of one node's threads to another's memory in GB/s of useful bytes: a write counts once."""
    source, target, alone = case
    threads = 1 if alone else len(machine.topology.nodes[source].cores)
    moved = traffic_GBps(bench.on_nodes(machine, program, [source] * threads, [target]))
    return moved / 2 if program.group == WRITER else moved
