"""What the documents in reports/guide hold: fenced blocks, commands, quoted messages, tables of fields."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "reports" / "guide"
ELLIPSIS = "..."  # in a console block: any text of a line or, alone on it, any lines
HERE_END = "END"  # ends a text that a console block's command reads
UNKNOWN = "…"  # in a quoted message: what differs


class Block(NamedTuple):
    """A fenced block: the words behind the fence, its first line's number, and its lines."""

    words: tuple[str, ...]
    line: int
    lines: tuple[str, ...]


class Exchange(NamedTuple):
    """A command of a console block, and the lines that it should print."""

    command: str
    expected: tuple[str, ...]


def documents() -> list[Path]:
    return sorted(GUIDE.glob("*.md"))


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a document; ValueError for one that does not end."""
    fence: tuple[tuple[str, ...], int] | None = None
    inside: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("```"):
            inside.append(line)
        elif fence is None:
            fence, inside = (tuple(line[3:].split()), number + 1), []
        else:
            yield Block(*fence, tuple(inside))
            fence = None
    if fence is not None:
        raise ValueError(f"the block at line {fence[1]} does not end")


def exchanges(block: Block) -> list[Exchange]:
    """Return the commands of a console block, `$ ` before each, with what follows them."""
    found: list[tuple[list[str], list[str]]] = []
    open_document = False
    for line in block.lines:
        if open_document:
            found[-1][0].append(line)
            open_document = line != HERE_END
        elif line.startswith("$ "):
            found.append(([line[2:]], []))
            open_document = f"<<'{HERE_END}'" in line
        elif not found:
            raise ValueError(f"line {block.line}: output before any command")
        else:
            found[-1][1].append(line)
    return [Exchange("\n".join(command), tuple(lines)) for command, lines in found]


def pattern(expected: tuple[str, ...]) -> re.Pattern[str]:
    """Return what the whole of an output must look like."""
    parts = []
    for line in expected:
        if line.strip() == ELLIPSIS:
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append("[^\n]*".join(map(re.escape, line.split(ELLIPSIS))) + r"[ \t]*\n")
    return re.compile("".join(parts))


def told_commands(text: str) -> Iterator[str]:
    """Yield every command line of numapredict in a document, in blocks and within sentences."""
    for block in blocks(text):
        console = block.words[:1] == ("console",)
        for line in block.lines:
            if console and not line.startswith("$ "):
                continue
            match = re.search(r"(?:^|[ '])(numapredict [^'|>;]*(?:'[^']*'[^'|>;]*)*)", line)
            if match:
                yield match[1].strip()
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from (match[1] for match in re.finditer(r"`(numapredict [^`]+)`", prose))


def quoted_messages(text: str) -> list[str]:
    """Return the messages that the headings of a document quote."""
    return re.findall(r"^### `(.+)`$", text, re.MULTILINE)


@functools.cache
def messages_in_source() -> tuple[str, ...]:
    """Return every text of the Python sources, with what is filled in as UNKNOWN."""
    found = []
    for folder in ("native", "collect", "predictor", "reports"):
        for source in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(source.read_text())):
                if isinstance(node, ast.JoinedStr):
                    found.append("".join(v.value if isinstance(v, ast.Constant) else UNKNOWN for v in node.values))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append(node.value)
    return tuple(found)


def names_in_tables(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield kind, module:name and the first column's names of each table below a `<!-- kind: module:name -->`."""
    for match in re.finditer(r"<!-- (\w+): (\S+) -->\n((?:\|.*\n)+)", text):
        rows = match[3].splitlines()[2:]
        cells = [re.match(r"\| (.*?) \|", row) for row in rows]
        yield match[1], match[2], [name for cell in cells if cell for name in re.findall(r"`(\w+)`", cell[1])]
