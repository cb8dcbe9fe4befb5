"""Names as they can be drawn: whatever a program, a machine or an argument is called, on one line of stated length."""

from numapredict.collect.terminal.printable import shortened

MOST_LETTERS = 60
REPLACEMENT = "\ufffd"
"""What stands for a letter that has no shape: the sign that Unicode has for it (The Unicode Standard, sec. 23.8)."""


def drawable(name: str, most: int | None = MOST_LETTERS) -> str:
    """Return a name on one line, with at most so many letters (all of them for None), shortened in the middle.

    Control characters, line breaks, signs that turn the direction of writing, halves of surrogate pairs and what else
    has no shape become U+FFFD, so that they are seen and can do nothing; every other letter stays what it is. Of a
    shortened name the beginning and the end are kept, by which names of a family differ.
    """
    seen = "".join(_seen(letter) for letter in name)
    return seen if most is None else shortened(seen, most)


def _seen(letter: str) -> str:
    if letter.isprintable():
        return letter
    return " " if letter.isspace() and not letter.isascii() and letter not in "\x85\u2028\u2029" else REPLACEMENT
