"""Text without terminal control: names of programs, files and datasets may contain any characters."""

import os
import shlex
from collections.abc import Sequence

ELLIPSIS = "…"

NAME_COLUMNS = 60
"""Longer names are shortened in tables, where one of them would widen every row."""

_STEERING = frozenset("'\\%-")  # of a printf format, its quotes and its options


def printable(text: str) -> str:
    """Return the text with control characters and those that change text direction escaped as by `repr`."""
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


def percent(share: float) -> str:
    """Return a share of 0 to 1 in percent; it is never rounded to certainty."""
    return "more than 99%" if share > 0.99 else f"{share:.0%}"


def name_cell(name: str) -> str:
    """Return a name as a table shows it: printable in one line, and short enough for a column."""
    return shortened(printable(name), NAME_COLUMNS)


def command_line(words: Sequence[str]) -> str:
    """Return a command that can be copied into any POSIX shell and is printable: see `shell_word`."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """Return a word quoted for a POSIX shell; characters that control a terminal or text direction are made visible.

    They come from printf in octal: dash, the sh of Debian, has no `$'...'`. A shell strips newlines at the end of a
    command's output: these come from IFS, which is a space, a tab and a newline.
    """
    if word.isprintable():
        return shlex.quote(word)
    body = word.rstrip("\n")
    ending = '"${IFS#??}"' * (len(word) - len(body))
    if body.isprintable():
        return (shlex.quote(body) if body else "") + ending
    letters = "".join(map(_printf_letter, body))
    return f"\"$(printf '{letters}')\"{ending}"


def _printf_letter(letter: str) -> str:
    """Return a letter of a printf format in single quotes within double ones."""
    if letter.isprintable() and letter not in _STEERING:
        return letter
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(letter))
