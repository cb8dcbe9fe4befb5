"""Streams that say they are terminals."""

import io

TERM = {"TERM": "xterm", "COLUMNS": "200"}


class Screen(io.StringIO):
    """A terminal that keeps what was written to it."""

    def isatty(self) -> bool:
        """Say that this is a terminal."""
        return True
