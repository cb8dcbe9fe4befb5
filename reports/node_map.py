"""A drawing of a machine's nodes: a box each, with its cores as cells and its memory as a strip, and the links."""

import math
import textwrap
from collections.abc import Sequence

import msgspec
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from numapredict.collect.domain import cores_by_l3, l3_sizes
from numapredict.collect.host.packages import Package
from numapredict.collect.index_list import index_list
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology
from numapredict.reports import palette
from numapredict.reports.arrangement import Arrangement, Links, arranged
from numapredict.reports.core_grid import CoreGrid, aligned, core_grid

CELL, PLAIN_CELL, MARGIN, HEAD, PU_LINE, STRIP = 0.4, 0.2, 0.12, 0.27, 0.19, 0.5  # inches
GAP, WIRED_GAP = (0.3, 0.3), (0.95, 0.6)
MESH_EDGE, MESH_HEAD, LISTED_LINE = 0.12, 0.28, 0.17
FRAME_EDGE, FRAME_HEAD = 0.1, 0.24
LEAST_WIDTH = 2.0
MOST_NUMBERED = 8  # cores of a node with their PUs in their cells; the PUs of more are given as ranges
IDLE, SHEET, FRAME = "#ededed", "#e3eef6", "#f4efe6"
LETTERS = 4  # of threads' numbers in a cell; more are written smaller


class CoreCell(msgspec.Struct, frozen=True):
    """One core: the OS index of its first PU, the number of the thread on it if there is one, and further threads."""

    pu: int
    thread: int | None = None
    more: tuple[int, ...] = ()


class NodeBox(msgspec.Struct, frozen=True, kw_only=True):
    """One node by its OS index; ``pus`` are all those of its cores, such as `0-15,128-143`.

    ``share`` is its part of all pages, if known; ``packages`` are the numbers of those that hold its cores, empty if
    unknown; ``l3s`` the numbers of cells of its L3 caches, in their order, empty for one.
    """

    node: int
    cells: tuple[CoreCell, ...]
    memory_bytes: int
    words: str = ""
    share: float | None = None
    pus: str = ""
    packages: tuple[int, ...] = ()
    l3s: tuple[int, ...] = ()


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
        self.boxes = tuple(boxes)
        links = {(wire.one, wire.other): _bandwidth(wire) for wire in wires}
        self.way = arranged(len(self.boxes), links, sum(bool(box.cells) for box in boxes))
        most = max(len(box.cells) for box in boxes)
        self.numbered = numbered(boxes)
        self.cell = CELL if self.numbered else PLAIN_CELL
        self.with_pus = not self.numbered or any(box.pus != index_list(cell.pu for cell in box.cells) for box in boxes)
        self.gap_x, self.gap_y = WIRED_GAP if self.way.lines else GAP
        self.frames = {} if self.way.meshes else framed(self.boxes, self.way)
        self.edge = MESH_EDGE if self.way.meshes else FRAME_EDGE if self.frames else 0.0
        columns = self.way.columns
        self.across = max(4, math.ceil(math.sqrt(1.7 * most)), self._fitting(most, width / columns - GAP[0]))
        self.across = aligned(self.across, [size for box in boxes for size in box.l3s])
        self.box_width = max(LEAST_WIDTH, self.across * self.cell + 2 * MARGIN)
        if columns > 1:
            room = width - columns * self.box_width - 2 * self.edge
            self.gap_x = max(self.gap_x, room / (columns - 1))
        self.width = columns * self.box_width + (columns - 1) * self.gap_x + 2 * self.edge
        self.listed = textwrap.wrap(_listed_links(self.boxes, self.way.listed), int(14 * self.width))
        below = LISTED_LINE * (len(self.listed) + 0.5) if self.listed else 0.0
        self.tops, self.heights = [], []
        top = 0.0
        for row in range(self.way.rows):
            rows = max(self._grid(box).rows for at, box in enumerate(boxes) if self.way.places[at][1] == row)
            top += (self.gap_y if row else 0.0) + self._head(row)
            self.tops.append(top)
            self.heights.append(HEAD + self._cells_height(rows) + 0.1 + STRIP + MARGIN)
            top += self.heights[-1] + (self.edge if self._head(row) else 0.0)
        self.height = top + below

    def _head(self, row: int) -> float:
        """Return the room above the boxes of a row, for the words of its sheet or of its packages' frames."""
        if row in self.way.meshes:
            return MESH_HEAD
        return FRAME_HEAD if any(self.way.places[at][1] == row for at, *_ in self.frames.values()) else 0.0

    def _fitting(self, cores: int, inches: float) -> int:
        """Return the number of cells in a row of a box at most ``inches`` wide, with rows about equally long."""
        most = max(1, int((inches - 2 * MARGIN) / self.cell))
        return math.ceil(cores / math.ceil(cores / most)) if cores else 0

    def _grid(self, box: NodeBox) -> CoreGrid:
        return core_grid(len(box.cells), box.l3s, self.across)

    def _cells_height(self, rows: int) -> float:
        return rows * self.cell + (PU_LINE if rows and self.with_pus else 0.0)

    def draw(self, figure: Figure, left: float, bottom: float) -> None:
        """Draw the map into a figure, at a place in inches."""
        across, up = figure.get_size_inches()
        axes = figure.add_axes((left / across, bottom / up, self.width / across, self.height / up))
        axes.set_xlim(0, self.width)
        axes.set_ylim(0, self.height)
        axes.set_axis_off()
        for row, text in self.way.meshes.items():
            self._draw_mesh(axes, row, text)
        for package, members in self.frames.items():
            self._draw_frame(axes, package, members)
        for (one, other), text in self.way.lines.items():
            self._draw_line(axes, (one, other), text)
        for at, box in enumerate(self.boxes):
            self._draw_box(axes, box, at)
        axes.text(0, 0, "\n".join(self.listed), fontsize=8, va="bottom", color=palette.BLUE)

    def _place(self, at: int) -> tuple[float, float, float]:
        """Return a box's left side, its lower side and its height."""
        column, row = self.way.places[at]
        height = self.heights[row]
        return self.edge + column * (self.box_width + self.gap_x), self.height - self.tops[row] - height, height

    def _draw_box(self, axes: Axes, box: NodeBox, at: int) -> None:
        x, y, height = self._place(at)
        colour = palette.shade(at / max(len(self.boxes) - 1, 1), light=0.88)
        axes.add_patch(
            FancyBboxPatch(
                (x + 0.04, y + 0.04),
                self.box_width - 0.08,
                height - 0.08,
                boxstyle="round,pad=0.04",
                facecolor="white",
                edgecolor=palette.TEXT,
                linewidth=1.1,
                clip_on=False,
            )
        )
        top = y + height
        cores = counted(len(box.cells), "core") if box.cells else "no cores"
        if box.packages and not any(at in members for members in self.frames.values()):
            cores = f"package{'s' if len(box.packages) > 1 else ''} {_listed(box.packages)}, {cores}"
        axes.text(x + MARGIN, top - 0.15, f"node {box.node}", fontsize=9.5, weight="bold", va="center")
        axes.text(
            x + self.box_width - MARGIN, top - 0.15, cores, fontsize=8, va="center", ha="right", color=palette.TEXT
        )
        grid = self._grid(box)
        for cell, (row, column) in zip(box.cells, grid.places, strict=True):
            corner = (x + MARGIN + column * self.cell, top - HEAD - (row + 1) * self.cell)
            if self.numbered:
                _draw_cell(axes, cell, corner, colour)
            else:
                axes.add_patch(_square(corner, self.cell, IDLE))
        for row, column, rows, columns in grid.frames:
            corner = (x + MARGIN + column * self.cell, top - HEAD - (row + rows) * self.cell)
            size = (columns * self.cell, rows * self.cell)
            axes.add_patch(Rectangle(corner, *size, fill=False, edgecolor=palette.BLUE, linewidth=1.3))
        if box.cells and self.with_pus:
            below = top - HEAD - grid.rows * self.cell
            text = f"PUs {_shortened(box.pus, int(15 * (self.box_width - 2 * MARGIN)) - 4)}"
            axes.text(x + MARGIN, below - 0.11, text, fontsize=7.5, va="center")
        self._draw_strip(axes, box, (x + MARGIN, y + MARGIN), palette.paler(colour))

    def _draw_strip(self, axes: Axes, box: NodeBox, corner: tuple[float, float], colour: str) -> None:
        """Draw the memory with its text, filled in the node's colour up to its share of the pages if that is known."""
        x, y = corner
        width = self.box_width - 2 * MARGIN
        axes.add_patch(Rectangle((x, y), width, STRIP, facecolor="#f5f5f5", edgecolor=palette.GREY, linewidth=0.7))
        if box.share:
            axes.add_patch(Rectangle((x, y), width * box.share, STRIP, facecolor=colour, linewidth=0))
        size = f"{box.memory_bytes / 2**30:.3g} GiB" if box.memory_bytes else "no memory"
        text = f"{size}\n{box.words}" if box.words else f"memory {size}" if box.memory_bytes else size
        axes.text(x + width / 2, y + STRIP / 2, text, fontsize=7.5, ha="center", va="center", linespacing=1.25)

    def _draw_mesh(self, axes: Axes, row: int, text: str) -> None:
        """Draw a sheet below the boxes of a row, any two of which are linked, and their links' bandwidth."""
        columns = sum(place[1] == row for place in self.way.places)
        width = columns * self.box_width + (columns - 1) * self.gap_x + 2 * self.edge
        height = self.heights[row] + MESH_HEAD + self.edge
        x, y = 0.0, self.height - self.tops[row] - self.heights[row] - self.edge
        axes.add_patch(Rectangle((x, y), width, height, facecolor=SHEET, linewidth=0, zorder=-1))
        axes.text(
            self.edge + columns // 2 * (self.box_width + self.gap_x) - self.gap_x / 2,
            y + height - MESH_HEAD / 2,
            f"links of {text} between any two",
            fontsize=8,
            ha="center",
            va="center",
            color=palette.BLUE,
        )

    def _draw_frame(self, axes: Axes, package: int, members: tuple[int, ...]) -> None:
        """Draw the frame of a package around its boxes, which stand side by side, with its number above them."""
        x, y, height = self._place(members[0])
        right = self._place(members[-1])[0] + self.box_width
        corner, size = (x - FRAME_EDGE, y - FRAME_EDGE), (right - x + 2 * FRAME_EDGE, height + FRAME_EDGE + FRAME_HEAD)
        axes.add_patch(
            Rectangle(corner, *size, facecolor=FRAME, edgecolor=palette.GREY, linewidth=0.8, zorder=-1, clip_on=False)
        )
        axes.text(x + 0.04, y + height + FRAME_HEAD / 2, f"package {package}", fontsize=8.5, va="center")

    def _draw_line(self, axes: Axes, ends: tuple[int, int], text: str) -> None:
        """Draw a link from middle to middle, below the boxes, with its bandwidth."""
        (x1, y1, high1), (x2, y2, high2) = map(self._place, ends)
        y1, y2 = y1 + high1 / 2, y2 + high2 / 2
        x1, x2 = x1 + self.box_width / 2, x2 + self.box_width / 2
        axes.plot([x1, x2], [y1, y2], color=palette.BLUE, linewidth=2.2, zorder=0)
        upper, lower = sorted(self.way.places[at][1] for at in ends)
        y = (y1 + y2) / 2
        if upper != lower:  # in the gap between the rows, whose heights may differ
            below = self.edge if self._head(upper) else 0.0
            y = self.height - self.tops[upper] - self.heights[upper] - below - self.gap_y / 2
        axes.text(
            x1 + (x2 - x1) * ((y - y1) / (y2 - y1) if y1 != y2 else 0.5),
            y,
            text.replace(" ", "\n"),
            fontsize=8,
            ha="center",
            va="center",
            color=palette.BLUE,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        )


def numbered(boxes: Sequence[NodeBox]) -> bool:
    """Return whether each core shows its PU: where threads are placed, and on small nodes."""
    placed = any(cell.thread is not None for box in boxes for cell in box.cells)
    return placed or max(len(box.cells) for box in boxes) <= MOST_NUMBERED


def threads_of(cell: CoreCell) -> tuple[int, ...]:
    """Return the numbers of the threads on a core."""
    return () if cell.thread is None else (cell.thread, *cell.more)


def boxes_of(topology: Topology, packages: Sequence[Package] = ()) -> tuple[NodeBox, ...]:
    """Return a box for every node of a topology, with the packages that hold it."""
    return tuple(
        NodeBox(
            node=node.os_index,
            cells=tuple(CoreCell(core.pus[0]) for core in cores_by_l3(topology, node.index)),
            pus=index_list(pu for core in node.cores for pu in core.pus),
            memory_bytes=node.memory_bytes,
            packages=tuple(package.number for package in packages if node.os_index in package.nodes),
            l3s=l3_sizes(topology, node.index),
        )
        for node in topology.nodes
    )


def framed(boxes: Sequence[NodeBox], way: Arrangement) -> dict[int, tuple[int, ...]]:
    """Return the boxes of each package, by its number, if every box belongs to one and stands beside its others.

    None where each package is one box, which says so itself.
    """
    members: dict[int, list[int]] = {}
    for at, box in enumerate(boxes):
        if len(box.packages) != 1:
            return {}
        members.setdefault(box.packages[0], []).append(at)
    if len(members) == len(boxes):
        return {}
    found = {package: tuple(sorted(each, key=lambda at: way.places[at])) for package, each in members.items()}
    for each in found.values():
        (column, row), places = way.places[each[0]], [way.places[at] for at in each]
        if places != [(column + number, row) for number in range(len(each))]:
            return {}
    return found


def _listed(numbers: Sequence[int]) -> str:
    """Return the numbers in words, only the first and the last of many."""
    return ", ".join(map(str, numbers)) if len(numbers) < 4 else f"{numbers[0]} ... {numbers[-1]}"


def _bandwidth(wire: Wire) -> str:
    """Return the bandwidths there and back, once if they are equal."""
    values = dict.fromkeys(f"{value:.3g}" for value in (wire.there_GBps, wire.back_GBps))
    return f"{'/'.join(values)} GB/s"


def _listed_links(boxes: Sequence[NodeBox], links: Links) -> str:
    """Return the links in words, each bandwidth once."""
    by_text: dict[str, list[str]] = {}
    for (one, other), text in links.items():
        by_text.setdefault(text, []).append(f"{boxes[one].node}\u2013{boxes[other].node}")
    each = "; ".join(f"{', '.join(pairs)}: {text}" for text, pairs in by_text.items())
    return f"further links: {each}" if each else ""


def _shortened(ranges: str, letters: int) -> str:
    """Return ranges such as `0-15,128-143` with spaces, without those in the middle that do not fit."""
    parts = ranges.split(",")
    text = ", ".join(parts)
    while len(text) > letters and len(parts) > 2:
        parts = [*parts[:-2], parts[-1]]
        text = f"{', '.join(parts[:-1])} ... {parts[-1]}"
    return text


def _draw_cell(axes: Axes, cell: CoreCell, corner: tuple[float, float], node_colour: str) -> None:
    """Draw one core: its PU below and, large, the thread on it; a busy core has its node's colour."""
    x, y = corner
    busy = cell.thread is not None
    colour = node_colour if busy else IDLE
    axes.add_patch(_square(corner, CELL, colour))
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


def _square(corner: tuple[float, float], side: float, colour: str) -> Rectangle:
    x, y = corner[0] + 0.015, corner[1] + 0.015
    return Rectangle((x, y), side - 0.03, side - 0.03, facecolor=colour, edgecolor="white", linewidth=0.5)
