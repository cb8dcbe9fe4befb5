"""Plain text for a terminal: broken between words to its width, and its headlines, labels and commands coloured.

It works on finished text, so that the code that makes texts is independent of terminals. Lines are of three kinds:
commands, named by the caller and never broken, as they are copied; rows of tables, which are divided between columns
(`table.py`); and prose, perhaps after a label in a separate column.
"""

import re
import textwrap
from collections.abc import Collection, Iterator

from numapredict.collect.terminal.table import fitted_table

_RESET, _BOLD, _LABEL, _COMMAND = "\x1b[0m", "\x1b[1m", "\x1b[36m", "\x1b[32m"
_LABELLED = re.compile(r"(?P<label>( {1,8}|! )\S+( \S+){0,3})(?P<gap> {2,})(?P<text>\S.*)")
BROKEN_TO = 100
"""The columns at which finished texts have broken long sentences."""

_LEAST_COLUMNS = 20
_LEAST_TEXT_COLUMNS = 30
_MOST_HEADLINES = 2
_DEEP = 8  # columns; text that begins farther right follows a label


def fitted(text: str, columns: int, commands: Collection[str] = ()) -> str:
    """Return the text with its prose broken to so many columns; it is unchanged where they are too few to use.

    ``commands`` are the lines of the text, without indentation, that are commands to be copied.
    """
    return "\n".join(line for _, line in _lines(text, columns, commands))


def painted(text: str, columns: int | None = None, commands: Collection[str] = ()) -> str:
    """Return the text, fitted to ``columns`` if given, with codes: headlines bold, labels and commands in colours.

    What a line is does not change when it is broken. ``commands`` as in ``fitted``.
    """
    return "\n".join(
        f"{_BOLD}{line}{_RESET}" if headline else _painted(line, commands)
        for headline, line in _lines(text, columns, commands)
    )


def is_table_row(line: str) -> bool:
    """Return whether a line has more columns than a label and a text."""
    return len(re.findall(r"\S {2,}(?=\S)", line)) > 1 or line.lstrip().startswith("|")


def _joined(lines: list[str], columns: int, commands: Collection[str]) -> list[str]:
    """Return the lines, with the parts of a sentence broken at BROKEN_TO rejoined where a line does not fit."""
    found: list[str] = []
    last = ""
    for line in lines:
        words = line.split()
        goes_on = words and len(last) + 1 + len(words[0]) > BROKEN_TO and max(len(last), len(line)) > columns
        apart = any(each.strip() in commands or is_table_row(each) for each in (last, line)) or _LABELLED.fullmatch(
            line
        )
        if goes_on and not apart and not last.endswith((".", ":", ")")):
            found[-1] += " " + line.lstrip()
        else:
            found.append(line)
        last = line
    return found


def _blocks(lines: list[str], commands: Collection[str]) -> Iterator[list[int]]:
    """Yield the numbers of the lines of each table, and every other line by itself.

    A line that looks like a label and a text is a row, too, where it follows one: its other columns are empty.
    """
    rows: list[int] = []
    for number, line in enumerate(lines):
        columns = is_table_row(line) and not line.lstrip().startswith("|")
        if line.strip() not in commands and (columns or (rows and _LABELLED.fullmatch(line))):
            rows.append(number)
            continue
        if rows:
            yield rows
        rows = []
        yield [number]
    if rows:
        yield rows


def _broken(line: str, columns: int, commands: Collection[str]) -> list[str]:
    own = len(line) - len(line.lstrip())
    narrow = own > _DEEP and columns - own < _LEAST_TEXT_COLUMNS
    if line.strip() in commands or line.lstrip().startswith("|") or (len(line) <= columns and not narrow):
        return [line]
    labelled = _LABELLED.fullmatch(line)
    hang = len(labelled["label"] + labelled["gap"]) if labelled else own
    item = 2 if line.lstrip().startswith("- ") else 0
    if labelled and columns - hang < _LEAST_TEXT_COLUMNS:  # the label stands above its text
        return [labelled["label"], *_prose(labelled["text"], 4, columns)]
    first = line[:hang]
    if not labelled and columns - own < _LEAST_TEXT_COLUMNS:
        return _prose(line.lstrip(), min(own, 4), columns, item) or [""]
    lines = _prose(line[hang:], hang, columns, item)
    return [first + lines[0][hang:], *lines[1:]]


def _prose(text: str, indent: int, columns: int, deeper: int = 0) -> list[str]:
    return textwrap.wrap(
        text,
        columns,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + deeper),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _lines(text: str, columns: int | None, commands: Collection[str]) -> Iterator[tuple[bool, str]]:
    """Yield the lines that the text has in so many columns, and whether each is of a headline."""
    lines = text.split("\n")
    if columns is None or columns < _LEAST_COLUMNS:
        headlines = _headlines(lines, commands)
        yield from ((number in headlines, line) for number, line in enumerate(lines))
        return
    lines = _joined(lines, columns, commands)
    headlines = _headlines(lines, commands)
    for numbers in _blocks(lines, commands):
        block = [lines[number] for number in numbers]
        if len(block) > 1:
            yield from ((False, line) for line in fitted_table(block, columns))
        else:
            yield from ((numbers[0] in headlines, part) for part in _broken(block[0], columns, commands))


def _headlines(lines: list[str], commands: Collection[str]) -> set[int]:
    """Return the numbers of the lines of headlines.

    A headline begins the text or follows an empty line, has a line or two, is no sentence, and has indented lines or a
    table below it.
    """
    found: set[int] = set()
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and _is_plain(lines[end], commands):
            end += 1
        below = next((line for line in lines[end:] if line.strip()), "")
        short = 0 < end - start <= _MOST_HEADLINES and not lines[end - 1].endswith(".")
        if short and (below.startswith(" ") or is_table_row(below)):
            found.update(range(start, end))
        while end < len(lines) and lines[end].strip():  # the rest of the paragraph
            end += 1
        start = end + 1
    return found


def _is_plain(line: str, commands: Collection[str]) -> bool:
    marked = line.startswith(" ") or line.strip() in commands or is_table_row(line) or _LABELLED.fullmatch(line)
    return bool(line.strip()) and not marked


def _painted(line: str, commands: Collection[str]) -> str:
    if not line.strip():
        return line
    if line.strip() in commands:
        return f"{_COMMAND}{line}{_RESET}"
    labelled = _LABELLED.fullmatch(line)
    if labelled and not is_table_row(line):
        return f"{_LABEL}{labelled['label']}{_RESET}{labelled['gap']}{labelled['text']}"
    return line
