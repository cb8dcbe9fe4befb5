"""Plain text for a terminal: broken between words to its width, and its headlines, labels and commands coloured.

It works on finished text, so that whatever makes texts knows nothing of terminals. Three kinds of lines are told apart:
commands, which are never broken, for they are copied; rows of tables, whose columns would no longer stand below each
other; and prose, perhaps after a label in a column of its own.
"""

import re
import textwrap

_RESET, _BOLD, _LABEL, _COMMAND = "\x1b[0m", "\x1b[1m", "\x1b[36m", "\x1b[32m"
_STARTS = re.compile(
    r"\s*(numapredict (run|train|predict|collect|--)|[A-Z][A-Z_]+=\S|(numactl|hwloc-bind|likwid-pin|srun) -)"
)
_LABELLED = re.compile(r"(?P<label> {1,8}\S+( \S+){0,3})(?P<gap> {2,})(?P<text>\S.*)")
BROKEN_TO = 100
"""The columns to which whoever makes texts has broken long sentences."""

_LEAST_COLUMNS = 20
_LEAST_TEXT_COLUMNS = 30
_DEEP = 8  # columns; what begins farther right stands beside labels


def fitted(text: str, columns: int) -> str:
    """Return the text with its prose broken to so many columns; it stays as it is where they are absurdly few."""
    if columns < _LEAST_COLUMNS:
        return text
    return "\n".join(part for line in _joined(text.split("\n"), columns) for part in _broken(line, columns))


def painted(text: str) -> str:
    """Return the text with terminal codes: headlines bold, labels and commands in colours."""
    lines = text.split("\n")
    return "\n".join(_painted(line, after) for line, after in zip(lines, [*lines[1:], ""], strict=True))


def is_command(line: str) -> bool:
    """Return whether a line is a command to be copied."""
    return _STARTS.match(line) is not None


def is_table_row(line: str) -> bool:
    """Return whether a line has more columns than a label and a text."""
    return len(re.findall(r"\S {2,}(?=\S)", line)) > 1 or line.lstrip().startswith("|")


def _joined(lines: list[str], columns: int) -> list[str]:
    """Return the lines with those put together again that were one, broken to BROKEN_TO, where one does not fit."""
    found: list[str] = []
    last = ""
    for line in lines:
        words = line.split()
        goes_on = words and len(last) + 1 + len(words[0]) > BROKEN_TO and max(len(last), len(line)) > columns
        apart = any(is_command(each) or is_table_row(each) for each in (last, line)) or _LABELLED.fullmatch(line)
        if goes_on and not apart and not last.endswith((".", ":", ")")):
            found[-1] += " " + line.lstrip()
        else:
            found.append(line)
        last = line
    return found


def _broken(line: str, columns: int) -> list[str]:
    own = len(line) - len(line.lstrip())
    narrow = own > _DEEP and columns - own < _LEAST_TEXT_COLUMNS
    if is_command(line) or is_table_row(line) or (len(line) <= columns and not narrow):
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


def _painted(line: str, after: str) -> str:
    if not line.strip():
        return line
    if is_command(line):
        return f"{_COMMAND}{line}{_RESET}"
    labelled = _LABELLED.fullmatch(line)
    if labelled and not is_table_row(line):
        return f"{_LABEL}{labelled['label']}{_RESET}{labelled['gap']}{labelled['text']}"
    if not line.startswith(" ") and (not after or after.startswith(" ")) and not is_table_row(line):
        return f"{_BOLD}{line}{_RESET}"
    return line
