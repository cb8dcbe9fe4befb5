"""Any name of a program, a machine or an argument in a drawable form: on one line of limited length."""

from numapredict.collect.terminal.printable import shortened

MOST_LETTERS = 60
REPLACEMENT = "\ufffd"
"""Replaces a character without a glyph: the replacement character (The Unicode Standard, sec. 23.8)."""


def drawable(name: str, most: int | None = MOST_LETTERS) -> str:
    """Return a name on one line with at most ``most`` letters (None: all), shortened in the middle.

    Control characters, line breaks, marks that change the direction of writing, lone surrogates and other characters
    without a glyph become U+FFFD, visible and without effect; other characters are unchanged. The beginning and the
    end of a shortened name are kept, since similar names differ there.
    """
    seen = "".join(_seen(letter) for letter in name)
    return seen if most is None else shortened(seen, most)


def _seen(letter: str) -> str:
    if letter.isprintable():
        return letter
    return " " if letter.isspace() and not letter.isascii() and letter not in "\x85\u2028\u2029" else REPLACEMENT
