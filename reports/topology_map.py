"""The figure of a topology: nodes with their cores and links, and node-to-node latency and bandwidth as tables."""

import textwrap
from collections.abc import Sequence

import msgspec
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from numapredict.collect.host.packages import Package
from numapredict.collect.modelled.description import MachineDescription
from numapredict.collect.topology import Topology
from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.node_map import NodeBox, NodeMap, Wire, boxes_of, numbered

Rows = tuple[tuple[float, ...], ...]
TABLE_CELL = 0.52  # inches
NO_PACKAGE = -1
CELLS, NUMBERED_CELLS = "cells are cores", "cells are cores, by their first PU"


class PairTable(msgspec.Struct, frozen=True, kw_only=True):
    """A figure for every pair of nodes; the row is the cores' node and the column the memory's."""

    title: str
    unit: str
    rows: Rows
    low_is_good: bool

    @property
    def same(self) -> bool:
        """Return whether all figures are equal, so that one says it."""
        return len({value for row in self.rows for value in row}) == 1 < len(self.rows)


class TopologyMapData(msgspec.Struct, frozen=True, kw_only=True):
    """What the figure shows; ``sources`` say where the tables' figures come from."""

    title: str
    about: str
    boxes: tuple[NodeBox, ...]
    wires: tuple[Wire, ...]
    tables: tuple[PairTable, ...]
    sources: tuple[str, ...]


def described_map_data(machine: MachineDescription) -> TopologyMapData:
    """Return the figure of a described machine.

    A bandwidth between nodes is that of the memory's controller or of the narrowest link on the route, if that is less.
    Links are drawn if they are wires: measured bandwidths of all pairs show none.
    """
    nodes = range(len(machine.nodes))
    texts = dict(machine.sources)
    wired = "links.ends" in texts
    controllers = machine.controller_read_GBps
    bandwidth = tuple(
        tuple(
            min(
                (
                    *(controllers[j : j + 1] if wired or i == j else ()),
                    *(machine.links[link].read_GBps for link in machine.routes[i][j]),
                )
            )
            for j in nodes
        )
        for i in nodes
    )
    read = {(link.source, link.target): link.read_GBps for link in machine.links}
    narrowest = (
        ("read bandwidth between nodes: the least of the memory's controller and the links on the route, below",)
        if wired
        else ()
    )
    wanted = ("latency.read", "node_bandwidth.read_GBps", "controllers.read_GBps", "links.read_GBps")
    # Without packages in the description each node with cores is one of its own.
    of = machine.packages or tuple(at if machine.topology.nodes[at].cores else NO_PACKAGE for at in nodes)
    packages = [
        Package(number, (), tuple(at for at in nodes if of[at] == number)) for number in sorted({*of} - {NO_PACKAGE})
    ]
    boxes = boxes_of(machine.topology, packages)
    return TopologyMapData(
        title=drawable(machine.name),
        about=f"{drawable(machine.summary, most=200)}\n"
        f"a described machine: its figures and their sources below; {_cells(boxes)}",
        boxes=boxes,
        wires=tuple(
            Wire(i, j, read.get((i, j), read.get((j, i), 0.0)), read.get((j, i), read.get((i, j), 0.0)))
            for i, j in sorted({(min(ends), max(ends)) for ends in read})
        )
        if wired
        else (),
        tables=(
            PairTable(title="read latency", unit="ns", rows=machine.read_latency_ns, low_is_good=True),
            PairTable(title="read bandwidth, all cores of a node", unit="GB/s", rows=bandwidth, low_is_good=False),
            PairTable(
                title="read bandwidth, one thread", unit="GB/s", rows=machine.thread_read_GBps, low_is_good=False
            ),
        ),
        sources=(
            *narrowest,
            *(f"{name}: {texts[name]}" for name in (*wanted, "thread_bandwidth.read_GBps") if name in texts),
        ),
    )


def computer_map_data(topology: Topology, packages: Sequence[Package] = ()) -> TopologyMapData:
    """Return the figure of a real computer, where the firmware gives only relative distances between nodes.

    ``packages`` are the computer's, empty if unknown.
    """
    boxes = boxes_of(topology, packages)
    return TopologyMapData(
        title=drawable(topology.name),
        about=f"as hwloc describes it; {_cells(boxes)}",
        boxes=boxes,
        wires=(),
        tables=(PairTable(title="distance", unit="local memory = 10", rows=topology.distances, low_is_good=True),),
        sources=("distance: the firmware's table (ACPI SLIT) by way of hwloc, relative; 20 where there is none",),
    )


def topology_figure(data: TopologyMapData) -> Figure:
    """Return the figure: the nodes, and tables of latency and bandwidth."""
    drawn = NodeMap(data.boxes, data.wires)
    side = max(min(2.2, 1.1 * len(data.boxes)), TABLE_CELL * len(data.boxes))
    deep = side * sum(bool(box.cells) for box in data.boxes) / len(data.boxes)
    gap, edge, head, under = 0.75, 0.3, 0.95, 0.6
    titles = [_title(table, side) for table in data.tables]
    head += 0.17 * (max(title.count("\n") for title in titles) - 1)
    below = drawn.width > 7  # a wide map has its tables below it
    tables = len(data.tables) * (side + gap)
    if below:
        drawn = NodeMap(data.boxes, data.wires, tables - gap + 0.4)
    width = 2 * edge + (max(drawn.width, tables) if below else drawn.width + 0.5 + tables)
    sources = _wrapped(data.sources, width)
    foot = 0.2 + 0.135 * (sources.count("\n") + 1)
    room = drawn.height + 0.5 + deep + under if below else max(drawn.height, deep + under)
    height = head + room + foot
    figure = Figure(figsize=(width, height))
    figure.text(edge / width, 1 - 0.2 / height, data.title, fontsize=13, weight="bold", va="top")
    figure.text(edge / width, 1 - 0.47 / height, data.about, fontsize=9, va="top", color=palette.TEXT)
    drawn.draw(figure, edge, height - head - drawn.height)
    left, top = (edge, head + drawn.height + 0.5 + 0.35) if below else (edge + drawn.width + 0.5, head + 0.35)
    for number, table in enumerate(data.tables):
        _draw_table(
            figure,
            table,
            data.boxes,
            (left + 0.4 + number * (side + gap), height - top - deep, side),
        )
    figure.text(edge / width, 0.1 / height, sources, fontsize=7, va="bottom", color=palette.TEXT)
    return figure


def _cells(boxes: Sequence[NodeBox]) -> str:
    return (NUMBERED_CELLS if numbered(boxes) else CELLS) + (", frames L3 caches" if any(b.l3s for b in boxes) else "")


def _wrapped(sources: tuple[str, ...], width: float) -> str:
    letters = int(17.5 * (width - 0.6))
    return "\n".join(
        line
        for source in ("Tables: lighter is better.", *sources)
        for line in textwrap.wrap(source, letters, subsequent_indent="    ")
    )


def _draw_table(figure: Figure, table: PairTable, boxes: Sequence[NodeBox], place: tuple[float, float, float]) -> None:
    """Draw a table as a heatmap with numbers, better is lighter, equal figures as one.

    ``place``: left, bottom and side in inches. Nodes without cores have no row.
    """
    left, bottom, side = place
    width, height = figure.get_size_inches()
    with_cores = [at for at, box in enumerate(boxes) if box.cells]
    deep = side * len(with_cores) / len(boxes)
    axes = figure.add_axes((left / width, bottom / height, side / width, deep / height))
    values = np.array([table.rows[at] for at in with_cores])
    low, high = float(values.min()), float(values.max())
    rank = (values - low) / (high - low) if high > low else np.ones_like(values)
    across, down = (len(boxes), len(with_cores)) if table.same else (1, 1)
    whole = bool((values == np.trunc(values)).all())
    for i, row in enumerate(values[::down]):
        for j, value in enumerate(row[::across]):
            share = float(1 - rank[i, j]) if table.low_is_good and high > low else float(rank[i, j])
            colour = palette.shade(0.15 + 0.85 * share)
            axes.add_patch(Rectangle((j, i), across, down, facecolor=colour, edgecolor="white", linewidth=1))
            axes.text(
                j + across / 2,
                i + down / 2,
                _figure(value, whole) if across == 1 else f"{_figure(value, whole)} for every pair",
                fontsize=8.5,
                ha="center",
                va="center",
                color=palette.ink_on(colour),
            )
    axes.set_xlim(0, len(boxes))
    axes.set_ylim(len(with_cores), 0)
    axes.set_xticks(np.arange(len(boxes)) + 0.5, [str(box.node) for box in boxes], fontsize=8)
    axes.set_yticks(np.arange(len(with_cores)) + 0.5, [str(boxes[at].node) for at in with_cores], fontsize=8)
    axes.tick_params(length=0, pad=2)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("memory of node", fontsize=8)
    axes.set_ylabel("cores of node", fontsize=8)
    axes.set_title(_title(table, side), fontsize=9)


def _title(table: PairTable, side: float) -> str:
    """Return the title over a table, in lines that end before the next table's."""
    return f"{textwrap.fill(table.title, int(13 * (side + 0.6)))}\n({table.unit})"


def _figure(value: float, whole: bool) -> str:
    """Return a number with three digits, or all those before the point and no others if the table's are ``whole``."""
    return f"{value:.0f}" if value >= 100 or whole else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
