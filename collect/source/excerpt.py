"""The few lines of source around a place, so that a reader sees what it is without the file."""

from collections.abc import Sequence

import msgspec

_AROUND = 2
_MOST_LETTERS = 160


class Excerpt(msgspec.Struct, frozen=True):
    """Some lines of a source file; ``first`` is the number of the first of them."""

    first: int
    lines: tuple[str, ...]


def excerpt_of(lines: Sequence[str], line: int) -> Excerpt | None:
    """Return the lines around one, counted from 1, cut to a length that can be shown; None where there is none."""
    if not 1 <= line <= len(lines):
        return None
    first = max(line - _AROUND, 1)
    return Excerpt(first, tuple(one[:_MOST_LETTERS].rstrip() for one in lines[first - 1 : line + _AROUND]))
