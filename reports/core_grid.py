"""Where a node's cores are in its box: in rows, those of an L3 cache together."""

import math
from collections.abc import Sequence

import msgspec


class CoreGrid(msgspec.Struct, frozen=True):
    """The row and column of each core; ``frames`` are row, column, rows and columns of each L3 cache's cores."""

    places: tuple[tuple[int, int], ...]
    frames: tuple[tuple[int, int, int, int], ...]
    rows: int


def core_grid(cores: int, l3s: Sequence[int], across: int) -> CoreGrid:
    """Return the places of so many cores in rows of ``across``; ``l3s`` are those of each L3 cache, which come first.

    A cache that does not fit the rest of a row begins the next, and what follows one of several rows does, too.
    """
    places: list[tuple[int, int]] = []
    frames: list[tuple[int, int, int, int]] = []
    row = column = 0
    for count in filter(None, (*l3s, cores - sum(l3s))):
        if column and column + count > across:
            row, column = row + 1, 0
        places += [(row + at // across, column + at % across) for at in range(count)]
        deep = math.ceil(count / across)
        frames.append((row, column, deep, min(count, across)))
        row, column = (row + deep, 0) if deep > 1 else (row, column + count)
        if column == across:
            row, column = row + 1, 0
    return CoreGrid(tuple(places), tuple(frames[: len(l3s)]), max((at for at, _ in places), default=-1) + 1)


def aligned(across: int, l3s: Sequence[int]) -> int:
    """Return about as long rows that take whole L3 caches, or of the largest cache equal parts.

    At least ``across``, but for caches of more than 8 cores that are longer.
    """
    most = max(l3s, default=1)
    if most <= max(across, 8):
        return math.ceil(across / most) * most
    return math.ceil(most / math.ceil(most / across))
