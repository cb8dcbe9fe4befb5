"""What the documents in reports/guide hold: fenced blocks, commands, quoted messages, tables of fields."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from numapredict.native import errors

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "reports" / "guide"
PACKAGE = ("native", "collect", "predictor", "reports")
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


READING = re.compile(r"(?<![\w.{:,=-])\d+(?:\.\d+)?(?=x\b|%|\s(?:ms|s|GB/s)\b)|(?<=--for )\d+")
"""A time, a bandwidth, a speedup, a share, or the runs after which a further one pays: these differ from run to run."""


def readings_apart(expected: tuple[str, ...], printed: str, tolerance: float) -> list[tuple[str, str]]:
    """Return the readings, expected and printed, that lie further apart than a share of the expected one.

    ValueError where anything else is not as expected, to the letter.
    """
    mark = "\N{WHITE SQUARE}"
    wanted = [match[0] for line in expected for match in READING.finditer(line)]
    whole = pattern(tuple(READING.sub(mark, line) for line in expected)).pattern
    found = re.fullmatch(whole.replace(mark, r"(\d+(?:\.\d+)?)"), printed)
    if found is None:
        raise ValueError(printed)
    return [
        (one, other)
        for one, other in zip(wanted, found.groups(), strict=True)
        if abs(float(other) - float(one)) > tolerance * float(one)
    ]


def quoted_commands(text: str) -> Iterator[tuple[str, bool]]:
    """Yield every command line of numapredict in a document, and whether it stands in a block, as a whole to type.

    Those of a block that is refused are left out: running them says more.
    """
    for block in blocks(text):
        console, refused = block.words[:1] == ("console",), block.words[1:] in {("refused",), ("failed",)}
        for line in () if refused else block.lines:
            if not console or line.startswith("$ "):
                reported = re.finditer(r"(?:^|[ '(/])(numapredict [^'|<>;)]*(?:'[^']*'[^'|<>;)]*)*)", line)
                yield from ((match[1].strip(), True) for match in reported)
    yield from ((text.replace("\n", " "), False) for text in quoted_code(text) if re.match(r"numapredict\s", text))


def quoted_code(text: str) -> list[str]:
    """Return what stands between backticks in a document's sentences and tables."""
    return re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def made_datasets(text: str) -> set[str]:
    """Return the names of the datasets that a document's commands make."""
    return set(re.findall(r"(?:--into|-o) (\S+)", text))


def quoted_messages(text: str) -> list[str]:
    """Return the messages that the headings of a document quote."""
    return re.findall(r"^### `(.+)`$", text, re.MULTILINE)


@functools.cache
def messages_in_source() -> tuple[str, ...]:
    """Return every text of the Python sources, with what is filled in as UNKNOWN; also what durable.py adds to one."""
    nodes = [node for source in python_sources() for node in ast.walk(ast.parse(source.read_text()))]
    texts = [
        n for n in nodes if isinstance(n, ast.JoinedStr) or (isinstance(n, ast.Constant) and isinstance(n.value, str))
    ]
    calls = [n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    refusals = {"refused_as": 0, "write_whole": 2}
    begun = [call.args[refusals[name]] for call in calls if (name := getattr(call.func, "id", "")) in refusals]
    return (*map(_text_of, texts), *(f"{_text_of(text)}: {UNKNOWN}" for text in begun))


def python_sources() -> list[Path]:
    """Return the sources of the package."""
    return [source for folder in PACKAGE for source in sorted((ROOT / folder).rglob("*.py"))]


def error_messages() -> dict[str, list[str]]:
    """Return the sources that raise errors of ours, and the messages that each raises them with.

    What is filled in is UNKNOWN, and so is a message that is put together elsewhere.
    """
    classes = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.NumapredictError)
    }
    found: dict[str, list[str]] = {}
    for source in python_sources():
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in classes and node.args:
                found.setdefault(str(source.relative_to(ROOT)), []).append(_text_of(node.args[0]))
    return found


def _text_of(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else UNKNOWN for v in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else UNKNOWN


def is_message(quoted: str, text: str) -> bool:
    """Return whether a message that is quoted is in a text of the sources."""
    return re.search("[^\n]+".join(map(re.escape, quoted.split(UNKNOWN))), text) is not None


def names_in_tables(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield kind, module:name and the first column's names of each table below a `<!-- kind: module:name -->`."""
    for match in re.finditer(r"<!-- (\w+): (\S+) -->\n((?:\|.*\n)+)", text):
        rows = match[3].splitlines()[2:]
        cells = [re.match(r"\| (.*?) \|", row) for row in rows]
        yield match[1], match[2], [name for cell in cells if cell for name in re.findall(r"`(\w+)`", cell[1])]
