"""A drawing of a machine's nodes: a box each, with its cores as cells and its memory as a strip, and the links."""

import math
from collections.abc import Sequence

import msgspec
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from numapredict.collect.host.packages import Package
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology
from numapredict.reports import palette

CELL, MARGIN, HEAD, STRIP = 0.4, 0.12, 0.27, 0.5  # inches
GAP, WIRED_GAP = (0.3, 0.3), (0.95, 0.6)
LEAST_WIDTH = 2.0
LETTERS = 4  # of threads' numbers in a cell; more are written smaller


class CoreCell(msgspec.Struct, frozen=True):
    """One core: the OS index of its first PU, the number of the thread on it if there is one, and further threads."""

    pu: int
    thread: int | None = None
    more: tuple[int, ...] = ()


class NodeBox(msgspec.Struct, frozen=True, kw_only=True):
    """One node by its OS index; ``share`` is its part of all pages, if known.

    ``packages`` are the numbers of those that hold its cores, empty if unknown.
    """

    node: int
    cells: tuple[CoreCell, ...]
    memory_bytes: int
    words: str = ""
    share: float | None = None
    packages: tuple[int, ...] = ()


class Wire(msgspec.Struct, frozen=True):
    """A link between the boxes at two positions: read bandwidths in GB/s there and back."""

    one: int
    other: int
    there_GBps: float
    back_GBps: float


class NodeMap:
    """The positions of a drawing's boxes, in inches from its lower left corner.

    They are spread over ``width`` inches if that is more than they need.
    """

    def __init__(self, boxes: Sequence[NodeBox], wires: Sequence[Wire] = (), width: float = 0.0) -> None:
        self.boxes, self.wires = tuple(boxes), tuple(wires)
        most = max(len(box.cells) for box in boxes)
        self.places = _places(len(self.boxes), ring=bool(self.wires))
        columns = 1 + max(column for column, _ in self.places)
        self.across = max(4, math.ceil(math.sqrt(1.7 * most)), _fitting(most, width / columns - GAP[0]))
        self.box_width = max(LEAST_WIDTH, self.across * CELL + 2 * MARGIN)
        self.box_height = HEAD + max(1, math.ceil(most / self.across)) * CELL + 0.1 + STRIP + MARGIN
        self.gap_x, self.gap_y = WIRED_GAP if self.wires else GAP
        if columns > 1:
            self.gap_x = max(self.gap_x, (width - columns * self.box_width) / (columns - 1))
        self.rows = 1 + max(row for _, row in self.places)
        self.width = columns * self.box_width + (columns - 1) * self.gap_x
        self.height = self.rows * self.box_height + (self.rows - 1) * self.gap_y

    def draw(self, figure: Figure, left: float, bottom: float) -> None:
        """Draw the map into a figure, at a place in inches."""
        across, up = figure.get_size_inches()
        axes = figure.add_axes((left / across, bottom / up, self.width / across, self.height / up))
        axes.set_xlim(0, self.width)
        axes.set_ylim(0, self.height)
        axes.set_axis_off()
        threads = [thread for box in self.boxes for cell in box.cells for thread in threads_of(cell)]
        for wire in self.wires:
            self._draw_wire(axes, wire)
        for box, place in zip(self.boxes, self.places, strict=True):
            self._draw_box(axes, box, self._corner(place), max(threads, default=0))

    def _corner(self, place: tuple[int, int]) -> tuple[float, float]:
        column, row = place
        return column * (self.box_width + self.gap_x), self.height - self.box_height - row * (
            self.box_height + self.gap_y
        )

    def _draw_box(self, axes: Axes, box: NodeBox, corner: tuple[float, float], last_thread: int) -> None:
        x, y = corner
        axes.add_patch(
            FancyBboxPatch(
                (x + 0.04, y + 0.04),
                self.box_width - 0.08,
                self.box_height - 0.08,
                boxstyle="round,pad=0.04",
                facecolor="white",
                edgecolor=palette.TEXT,
                linewidth=1.1,
                clip_on=False,
            )
        )
        top = y + self.box_height
        cores = counted(len(box.cells), "core") if box.cells else "no cores"
        if box.packages:
            cores = f"package{'s' if len(box.packages) > 1 else ''} {_listed(box.packages)}, {cores}"
        axes.text(x + MARGIN, top - 0.15, f"node {box.node}", fontsize=9.5, weight="bold", va="center")
        axes.text(
            x + self.box_width - MARGIN, top - 0.15, cores, fontsize=8, va="center", ha="right", color=palette.TEXT
        )
        for number, cell in enumerate(box.cells):
            row, column = divmod(number, self.across)
            _draw_cell(axes, cell, (x + MARGIN + column * CELL, top - HEAD - (row + 1) * CELL), last_thread)
        self._draw_strip(axes, box, x + MARGIN, y + MARGIN)

    def _draw_strip(self, axes: Axes, box: NodeBox, x: float, y: float) -> None:
        """Draw the memory with its text, filled up to the share of the pages if that is known."""
        width = self.box_width - 2 * MARGIN
        axes.add_patch(Rectangle((x, y), width, STRIP, facecolor="#f5f5f5", edgecolor=palette.GREY, linewidth=0.7))
        if box.share:
            axes.add_patch(Rectangle((x, y), width * box.share, STRIP, facecolor="#f3c977", linewidth=0))
        size = f"{box.memory_bytes / 2**30:.3g} GiB" if box.memory_bytes else "no memory"
        text = f"{size}\n{box.words}" if box.words else f"memory {size}" if box.memory_bytes else size
        axes.text(x + width / 2, y + STRIP / 2, text, fontsize=7.5, ha="center", va="center", linespacing=1.25)

    def _draw_wire(self, axes: Axes, wire: Wire) -> None:
        """Draw a link from middle to middle, below the boxes, with its bandwidth if there is room."""
        ends = []
        for at in (wire.one, wire.other):
            x, y = self._corner(self.places[at])
            ends.append((x + self.box_width / 2, y + self.box_height / 2))
        (x1, y1), (x2, y2) = ends
        axes.plot([x1, x2], [y1, y2], color=palette.BLUE, linewidth=2.2, zorder=0)
        both = f"{wire.there_GBps:.3g}" if wire.there_GBps == wire.back_GBps else ""
        text = f"{both or f'{wire.there_GBps:.3g} / {wire.back_GBps:.3g}'}\nGB/s"
        axes.text(
            (x1 + x2) / 2,
            (y1 + y2) / 2,
            text,
            fontsize=8,
            ha="center",
            va="center",
            color=palette.BLUE,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        )


def threads_of(cell: CoreCell) -> tuple[int, ...]:
    """Return the numbers of the threads on a core."""
    return () if cell.thread is None else (cell.thread, *cell.more)


def boxes_of(topology: Topology, packages: Sequence[Package] = ()) -> tuple[NodeBox, ...]:
    """Return a box for every node of a topology, with the packages that hold it."""
    return tuple(
        NodeBox(
            node=node.os_index,
            cells=tuple(CoreCell(core.pus[0]) for core in node.cores),
            memory_bytes=node.memory_bytes,
            packages=tuple(package.number for package in packages if node.os_index in package.nodes),
        )
        for node in topology.nodes
    )


def _fitting(cores: int, inches: float) -> int:
    """Return the number of cells in a row of a box at most ``inches`` wide, with rows about equally long."""
    most = max(1, int((inches - 2 * MARGIN) / CELL))
    return math.ceil(cores / math.ceil(cores / most)) if cores else 0


def _listed(numbers: Sequence[int]) -> str:
    """Return the numbers in words, only the first and the last of many."""
    return ", ".join(map(str, numbers)) if len(numbers) < 4 else f"{numbers[0]} ... {numbers[-1]}"


def _places(count: int, ring: bool) -> list[tuple[int, int]]:
    """Return each box's column and row, four in a row; in a ring, successive boxes are neighbours."""
    columns = math.ceil(count / 2) if ring and 2 < count <= 8 else min(count, max(4, math.ceil(math.sqrt(count))))
    places = [(at % columns, at // columns) for at in range(count)]
    if ring and 2 < count <= 8:
        places = [place if place[1] == 0 else (columns - 1 - place[0], 1) for place in places]
    return places


def _draw_cell(axes: Axes, cell: CoreCell, corner: tuple[float, float], last_thread: int) -> None:
    """Draw one core: its PU below and, large, the thread on it; threads are coloured from dark to light."""
    x, y = corner
    busy = cell.thread is not None
    colour = palette.shade(cell.thread / max(last_thread, 1)) if cell.thread is not None else "#ededed"
    axes.add_patch(
        Rectangle((x + 0.015, y + 0.015), CELL - 0.03, CELL - 0.03, facecolor=colour, edgecolor="white", linewidth=0.5)
    )
    ink = palette.ink_on(colour)
    if busy:
        text = " ".join(map(str, threads_of(cell)))
        size = min(9.0, 9 * LETTERS / len(text))
        axes.text(
            x + CELL / 2, y + 0.66 * CELL, text, fontsize=size, weight="bold", ha="center", va="center", color=ink
        )
    axes.text(
        x + CELL / 2,
        y + (0.26 if busy else 0.5) * CELL,
        f"PU {cell.pu}",
        fontsize=6,
        ha="center",
        va="center",
        color=ink,
    )
