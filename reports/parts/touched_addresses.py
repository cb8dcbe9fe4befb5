"""The address-centric view of a variable: which threads touch which part, drawn in the colours of nodes."""

from collections.abc import Sequence

import msgspec

from numapredict.collect.terminal.printable import counted
from numapredict.predictor.variables.heat import Heat

LEVELS = 5
"""How many strengths of a colour tell few touches from many."""

COLOURS = 8
"""Nodes have so many colours, in turn."""

ROW, COLUMN = 8, 8
_FEWEST_ROWS_HIGH = 12


class Cells(msgspec.Struct, frozen=True):
    """The cells of one colour and strength, as one path of SVG."""

    colour: int
    level: int
    path: str


class AddressesData(msgspec.Struct, frozen=True, kw_only=True):
    """The drawing of one variable: ``cells`` of a row a thread and a column a part, ``homes`` where pages lie.

    ``words`` says what a row and a column stand for.
    """

    name: str
    width: int
    height: int
    cells: tuple[Cells, ...]
    homes: tuple[Cells, ...]
    words: str


def addresses_data(name: str, heat: Heat, nodes: Sequence[int] | None, page_bytes: int) -> AddressesData:
    """Return the drawing; ``nodes`` has each thread's node, None where all threads share one."""
    most = max((max(row) for row in heat.touches), default=0)
    columns = len(heat.first_threads)
    found: dict[tuple[int, int], list[str]] = {}
    for row, counts in enumerate(heat.touches):
        for column, touches in enumerate(counts):
            if touches:
                key = (colour_of(row * heat.threads_each, nodes), -(-touches * LEVELS // most))
                found.setdefault(key, []).append(_cell(column * COLUMN, row * ROW, ROW))
    homes: dict[tuple[int, int], list[str]] = {}
    for column, thread in enumerate(heat.first_threads):
        if thread is not None:
            homes.setdefault((colour_of(thread, nodes), LEVELS), []).append(_cell(column * COLUMN, 0, ROW))
    part = heat.pages_each * page_bytes // 1024
    threads, strongest = counted(heat.threads_each, "thread"), "1 touch" if most == 1 else f"{most} touches"
    return AddressesData(
        name=name,
        width=columns * COLUMN,
        height=max(len(heat.touches) * ROW, _FEWEST_ROWS_HIGH),
        cells=_paths(found),
        homes=_paths(homes),
        words=f"a row is {threads}, a column {part} KiB; the strongest colour is of {strongest}",
    )


def colour_of(thread: int, nodes: Sequence[int] | None) -> int:
    """Return the number of the colour of a thread's node."""
    return nodes[thread] % COLOURS if nodes is not None else 0


def _cell(x: int, y: int, height: int) -> str:
    return f"M{x} {y}h{COLUMN}v{height}h-{COLUMN}z"


def _paths(cells: dict[tuple[int, int], list[str]]) -> tuple[Cells, ...]:
    return tuple(Cells(colour, level, "".join(parts)) for (colour, level), parts in sorted(cells.items()))
