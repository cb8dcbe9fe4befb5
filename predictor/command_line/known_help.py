"""What `numapredict --help` says, where that is known without loading a library: it is asked for most often.

click makes the text, and breaks its lines at 78 columns where a terminal has 80 or more, or where there is none.
"""

import os
import sys
from collections.abc import Sequence

from numapredict.predictor.command_line.help_text import COMMANDS, TEXT
from numapredict.predictor.command_line.registry import GROUP, registered

WIDTH = 78
"""The columns of click's text, which has no wider one."""


def known_help(words: Sequence[str]) -> str:
    """Return the text that these words ask for; an empty one where click has to be asked.

    That is so on a narrow terminal, and where other commands are installed than those that the text tells of.
    """
    if list(words) != ["--help"] or "_NUMAPREDICT_COMPLETE" in os.environ or columns() < WIDTH + 2:
        return ""
    return TEXT if sorted(registered(GROUP).values()) == list(COMMANDS) else ""


def columns() -> int:
    """Return the terminal's columns as shutil.get_terminal_size has them, which would load archives."""
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
