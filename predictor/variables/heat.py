"""Which threads touch which part of a variable, as a table small enough to draw: threads by addresses. Pure."""

import msgspec
import numpy as np

from numapredict.predictor.variables.touches import Numbers, Touches

MOST_PARTS = 64
"""Most columns and most rows of a table, so that an answer stays small."""

MOST_VARIABLES = 32
"""So many variables, the costliest first, have a table."""


class Heat(msgspec.Struct, frozen=True, kw_only=True):
    """The sampled touches of a variable: a row for so many threads, a column for so many pages of all its ranges.

    The last row and column may stand for fewer. ``first_threads`` has, of each column, the thread that touched most of
    its touched pages first; None where none was touched or where it is not known.
    """

    threads_each: int
    pages_each: int
    touches: tuple[tuple[int, ...], ...]
    first_threads: tuple[int | None, ...]


def heat_of(touches: Touches, first: Numbers | None, slots: int) -> Heat:
    """Return the table; ``first`` has the thread that touched each row's page first, -1 where that is not known."""
    pages_each = max(-(-touches.pages // MOST_PARTS), 1)
    threads_each = max(-(-slots // MOST_PARTS), 1)
    columns, rows = -(-touches.pages // pages_each), -(-slots // threads_each)
    at = touches.page // pages_each
    seen = np.zeros((rows, columns), dtype=np.int64)
    np.add.at(seen, (touches.slot // threads_each, at), touches.count)
    return Heat(
        threads_each=threads_each,
        pages_each=pages_each,
        touches=tuple(tuple(row) for row in seen.tolist()),
        first_threads=tuple(_usual(first[at == one]) if first is not None else None for one in range(columns)),
    )


def _usual(threads: Numbers) -> int | None:
    known = threads[threads >= 0]
    return int(np.bincount(known).argmax()) if len(known) else None
