"""Streams that say they are terminals."""

import io
import re

TERM = {"TERM": "xterm", "COLUMNS": "200"}
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Screen(io.StringIO):
    """A terminal that keeps what was written to it."""

    def isatty(self) -> bool:
        """Say that this is a terminal."""
        return True


def shown(stream: io.StringIO) -> str:
    """Return what was written, without the codes that steer a terminal."""
    return _CODES.sub("", stream.getvalue())
