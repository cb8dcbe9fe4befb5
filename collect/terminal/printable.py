"""Text that a terminal shows and does not obey: names of programs, files and datasets may hold anything."""

import os
import shlex
from collections.abc import Sequence

ELLIPSIS = "…"

NAME_COLUMNS = 60
"""Longer names are shortened in tables, where one of them would widen every row."""

_ESCAPED = frozenset("'\\")  # inside $'...'


def printable(text: str) -> str:
    """Return the text with control characters, and those that turn its direction round, shown as `repr` shows them."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def printable_lines(text: str) -> str:
    """Return a text of several lines with each of them printable."""
    return "\n".join(map(printable, text.split("\n")))


def shortened(text: str, most: int = NAME_COLUMNS) -> str:
    """Return a text of at most ``most`` characters, at least 1: beginning and end of a longer one, which tell most."""
    if len(text) <= most:
        return text
    head, tail = most // 2, (most - 1) // 2
    return text[:head] + ELLIPSIS + text[len(text) - tail :]


def counted(count: int, noun: str) -> str:
    """Return a number with a noun whose plural has an s: ``1 program``, ``3 programs``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def name_cell(name: str) -> str:
    """Return a name as a table shows it: printable in one line, and short enough for a column."""
    return shortened(printable(name), NAME_COLUMNS)


def command_line(words: Sequence[str]) -> str:
    """Return a command that can be copied into a shell and is printable: control characters in bash's `$'...'`."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """Return a word as `command_line` has it; what only steers a terminal or turns the direction round is seen."""
    if word.isprintable():
        return shlex.quote(word)
    letters = []
    for letter in word:
        if letter.isprintable():
            letters.append(f"\\{letter}" if letter in _ESCAPED else letter)
        else:
            letters += [f"\\x{byte:02x}" for byte in os.fsencode(letter)]
    return f"$'{''.join(letters)}'"
