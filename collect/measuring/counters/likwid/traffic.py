"""From LIKWID's figures to the traffic of NUMA nodes; pure.

What the groups count differs by processor (perfgroups/*/NUMA.txt and MEM.txt of LIKWID 5.2, 5.3 for Zen 4):

- NUMA with core events: a hardware thread's column is that thread's traffic. ``OFFCORE_RESPONSE`` (Sandy Bridge to
  Haswell) is reads from memory. ``DATA_CACHE_REFILLS`` and ``DATA_CACHE_FILLS`` (Zen) are lines that came into the
  first cache from anywhere in the local or remote part of the computer, caches included: LIKWID says so in the group.
- NUMA with ``BBOX`` (Broadwell): requests to a package's home agents for the package's memory, by requester (Intel,
  Xeon E5 v4 uncore reference, ``REQUESTS``). What it calls remote came from other packages' cores.
- MEM: what a package's memory controllers moved. One column a package has it, others zero or nothing.

All of this follows the documentation: none of these processors was at hand.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from numapredict.collect.host.packages import Package
from numapredict.collect.measuring.counters.likwid.output import LikwidOutput, OutputRow
from numapredict.collect.measuring.counters.source import NodeTraffic, Traffic
from numapredict.collect.topology import Node, Topology
from numapredict.native.errors import CounterError

NAME = "likwid"
_LOCAL = re.compile(r"Local (DRAM )?data volume \[GBytes?\]")
_REMOTE = re.compile(r"Remote (DRAM )?data volume \[GBytes?\]")
_CONTROLLERS = re.compile(r"Memory data volume \[GBytes?\]")
_GB = 1e9
_WITH_CACHES = "LIKWID counts lines from other caches as if they came from memory on this processor"
_CLUSTERS = "{what} cannot be distinguished: package {number} holds {count} NUMA nodes"


def traffic_of(
    group: str, output: LikwidOutput, topology: Topology, packages: Sequence[Package], pus: Collection[int]
) -> Traffic:
    """Return what a run on ``pus`` moved; ``output`` may have further PUs, for the packages that the run is not on.

    Raises CounterError where PUs are missing, nothing was counted, or no figure can be assigned to a node.
    """
    missing = sorted(set(pus) - set(output.pus))
    if missing:
        raise CounterError(
            f"LIKWID has no figures for PU {missing[0]}, but for {', '.join(map(str, output.pus[:8]))}: "
            "is this session restricted to a cpuset?"
        )
    volumes = volumes_of(group, output)
    if group == "MEM":
        nodes, notes = _controllers(output.pus, volumes[0], topology, packages)
    else:
        counters = {row.counter[:4] for row in output.events if not row.counter.startswith("FIX")}
        if counters == {"BBOX"}:
            nodes, notes = _home_agents(output.pus, volumes, topology, packages)
        elif all(counter.startswith("PMC") for counter in counters):
            nodes, notes = _cores(output, volumes, topology, pus)
            notes = (*notes, *_core_notes(output, topology, packages))
        else:
            raise CounterError(f"LIKWID counts {group} by {', '.join(sorted(counters))} here, which is not known")
    if not packages and group == "MEM":
        notes = (*notes, "sysfs does not show the packages")
    values = [value for node in nodes for value in (node.local_bytes, node.remote_bytes, node.controller_bytes)]
    figures = [value for value in values if value is not None]
    if not figures:
        raise CounterError(f"LIKWID's group {group} shows nothing about NUMA nodes here: {'; '.join(notes)}")
    if not any(figures):
        raise CounterError(
            f"LIKWID counted nothing at all in group {group}: the counters are missing or used by another tool; built "
            "for perf it counts controllers only with sudo sysctl kernel.perf_event_paranoid=0"
        )
    return Traffic(NAME, nodes, notes=notes)


def volumes_of(group: str, output: LikwidOutput) -> tuple[OutputRow, ...]:
    """Return a group's volumes in GB: local and remote of NUMA, the controllers' of MEM; raise CounterError."""
    patterns = (_CONTROLLERS,) if group == "MEM" else (_LOCAL, _REMOTE)
    return tuple(_required(output, pattern, group) for pattern in patterns)


def _required(output: LikwidOutput, pattern: re.Pattern[str], group: str) -> OutputRow:
    row = output.metric(pattern)
    if row is None:
        names = ", ".join(repr(metric.name) for metric in output.metrics[-3:])
        raise CounterError(f"LIKWID's group {group} has no {pattern.pattern.split(' ')[0]} data volume here: {names}")
    return row


def _cores(
    output: LikwidOutput, volumes: tuple[OutputRow, ...], topology: Topology, pus: Collection[int]
) -> tuple[tuple[NodeTraffic, ...], tuple[str, ...]]:
    """Return the sums over the columns of each node's PUs; a PU without a figure leaves its node without one."""
    nodes, notes = [], []
    for node in topology.nodes:
        own = {pu for core in node.cores for pu in core.pus} & set(pus)
        columns = [column for column, pu in enumerate(output.pus) if pu in own]
        local, remote = (_sum([row.values[column] for column in columns]) for row in volumes)
        if local is None or remote is None:
            notes.append(f"LIKWID has no figure for a PU of node {node.os_index}")
        nodes.append(NodeTraffic(local, remote))
    return tuple(nodes), tuple(notes)


def _core_notes(output: LikwidOutput, topology: Topology, packages: Sequence[Package]) -> Iterator[str]:
    """Yield caveats about figures from core events."""
    if any(re.search(r"DATA_CACHE_(RE)?FILLS", row.name) for row in output.events):
        yield _WITH_CACHES
    several = _several(topology.nodes, packages)
    if several:
        yield (
            f"package {several.number} holds {len(several.nodes)} NUMA nodes: LIKWID's documentation does not say "
            "whether another node of the same package is local or remote here"
        )


def _home_agents(
    pus: Sequence[int], volumes: tuple[OutputRow, ...], topology: Topology, packages: Sequence[Package]
) -> tuple[tuple[NodeTraffic, ...], tuple[str, ...]]:
    """Return the traffic of the nodes' cores from the home agents' counts, which are on the memories' side.

    With two packages, remote requests to one's memory come from the other's cores; with more, their source is unknown.
    """
    local, remote = ([_of_package(package, pus, row) for package in packages] for row in volumes)
    notes = _apart(topology.nodes, packages, "local and remote bytes")
    if len(packages) > 2:
        notes = (*notes, f"the home agents of {len(packages)} packages do not show which of the others asked")
    nodes = []
    for node in topology.nodes:
        at = _own_package(node, packages)
        if at is None:
            nodes.append(NodeTraffic())
        else:
            nodes.append(NodeTraffic(local[at], remote[len(packages) - 1 - at] if len(packages) <= 2 else None))
    return tuple(nodes), notes


def _controllers(
    pus: Sequence[int], row: OutputRow, topology: Topology, packages: Sequence[Package]
) -> tuple[tuple[NodeTraffic, ...], tuple[str, ...]]:
    """Return the bytes through each node's controllers, where its package holds no other node."""
    own = [_own_package(node, packages) for node in topology.nodes]
    nodes = tuple(
        NodeTraffic(controller_bytes=None if at is None else _of_package(packages[at], pus, row)) for at in own
    )
    return nodes, _apart(topology.nodes, packages, "bytes through the memory controllers")


def _own_package(node: Node, packages: Sequence[Package]) -> int | None:
    """Return the place of the package whose only node this is, or None."""
    places = [at for at, package in enumerate(packages) if package.nodes == (node.os_index,)]
    return places[0] if len(places) == 1 else None


def _of_package(package: Package, pus: Sequence[int], row: OutputRow) -> float | None:
    """Return a package's bytes: the sum over its columns, most of which are zero or nothing; None without any."""
    values = [value for pu, value in zip(pus, row.values, strict=True) if pu in package.pus and value is not None]
    return sum(values) * _GB if values else None


def _apart(nodes: Sequence[Node], packages: Sequence[Package], what: str) -> tuple[str, ...]:
    """Return the note that packages with several nodes need, or none."""
    several = _several(nodes, packages)
    return (_CLUSTERS.format(what=what, number=several.number, count=len(several.nodes)),) if several else ()


def _several(nodes: Sequence[Node], packages: Sequence[Package]) -> Package | None:
    """Return the first package that holds one of the nodes and another one."""
    known = {node.os_index for node in nodes}
    return next((package for package in packages if len(package.nodes) > 1 and known & set(package.nodes)), None)


def _sum(values: Sequence[float | None]) -> float | None:
    """Return the sum in bytes, or None where one is missing."""
    known = [value for value in values if value is not None]
    return sum(known) * _GB if len(known) == len(values) else None
