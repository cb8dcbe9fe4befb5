"""What `numapredict --help` says, without loading a library if possible: it is asked for most often.

click makes the text, and breaks its lines at 78 columns on a terminal of 80 or more, or without one.
"""

import os
import sys
from collections.abc import Sequence

from numapredict.predictor.command_line.help_text import COMMANDS, TEXT
from numapredict.predictor.command_line.registry import GROUP, registered

WIDTH = 78
"""The widest that click makes a text, in columns."""


def known_help(words: Sequence[str]) -> str:
    """Return the text that these words ask for; an empty one if click has to make it.

    This is the case on a narrow terminal, and if other commands are installed than those in the text.
    """
    if list(words) != ["--help"] or "_NUMAPREDICT_COMPLETE" in os.environ or columns() < WIDTH + 2:
        return ""
    return TEXT if sorted(registered(GROUP).values()) == list(COMMANDS) else ""


def columns() -> int:
    """Return the terminal's columns as shutil.get_terminal_size does; importing shutil would load archive modules."""
    try:
        wanted = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        wanted = 0
    if wanted > 0:
        return wanted
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or WIDTH + 2  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return WIDTH + 2
