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


def shortened(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters, at least 1: beginning and end of a longer one, which tell most."""
    if len(text) <= most:
        return text
    head, tail = most // 2, (most - 1) // 2
    return text[:head] + ELLIPSIS + text[len(text) - tail :]


def command_line(words: Sequence[str]) -> str:
    """Return a command that can be copied into a shell and is printable: control characters in bash's `$'...'`."""
    return " ".join(map(_word, words))


def _word(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    letters = []
    for letter in word:
        if letter.isprintable():
            letters.append(f"\\{letter}" if letter in _ESCAPED else letter)
        else:
            letters += [f"\\x{byte:02x}" for byte in os.fsencode(letter)]
    return f"$'{''.join(letters)}'"
