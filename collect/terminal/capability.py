"""What a stream can show: cursor movement, colours, or plain text only."""

from collections.abc import Mapping
from typing import TextIO

_DUMB = frozenset({"", "dumb", "unknown"})


def is_animated(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether the stream is a terminal that can redraw lines."""
    return stream.isatty() and environment.get("TERM", "") not in _DUMB


def has_colours(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether the stream may be given colours: not where NO_COLOR is set and not empty (no-color.org)."""
    return is_animated(stream, environment) and not environment.get("NO_COLOR")
