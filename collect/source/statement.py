"""Statements of a source file: which variable the result of a call is assigned to. Text alone, no compiler."""

import re
from collections.abc import Iterator, Sequence

_NAME = r"[A-Za-z_]\w*"
_PATH = rf"(?:\*\s*)*{_NAME}(?:\s*(?:->|\.|::|%)\s*{_NAME}|\s*\[[^\]]*\])*"
_ASSIGNED = re.compile(rf"({_PATH})\s*(?<![=!<>+\-*/|&^])=(?!=)\s*([^=].*)")
_WRITTEN = re.compile(rf"({_PATH})\s*(?<![=!<>])[+\-*/|&^]?=(?!=)")
_BY_ADDRESS = re.compile(rf"\bposix_memalign\s*\(\s*(?:\([^()]*\)\s*)?&\s*({_PATH})")
_FORTRAN = re.compile(rf"\ballocate\s*\((?:[^()]*::)?\s*({_NAME}(?:\s*%\s*{_NAME})*)", re.IGNORECASE)
_FILLED = re.compile(rf"({_PATH})\s*\.\s*(?:resize|assign|reserve|push_back|emplace_back|insert)\s*\(")
_MEMBER = re.compile(rf"[:,]\s*({_NAME})\s*[({{][^(){{}};]*?(?:\bnew\b|alloc\w*\s*\(|\bvector\s*<)")
_MEMBERS = re.compile(r"(?:^|\))\s*:(?!:)")
"""Where a constructor's list of members begins, as in ``Grid(long n) : cells(new double[n])``."""
_DIRECTIVE = re.compile(r"\s*(?:#\s*pragma\s+omp|!\$omp)\b", re.IGNORECASE)
_ALLOCATES = re.compile(r"alloc|\bnew\b|\bmmap\b|\bmemalign\b|\bmake_unique\b", re.IGNORECASE)
_HEAD = re.compile(r"\b(?:for|if|switch|while)\s*\(")
_ALLOCATING_CALL = re.compile(r"\w*alloc\w*\s*\(|\bnew\b|\w*memalign\b|\b(?:mmap|make_unique)\b", re.IGNORECASE)
_BEFORE = 4
"""Lines of a statement that are looked at before the one of the call."""

_AFTER = 24
"""Lines of a function that are looked at behind an allocation, and of a loop before its line."""


def statement_at(lines: Sequence[str], number: int, *, before: bool = True) -> str:
    """Return the statement that a line, counted from 1, belongs to, in one line without comments; empty if not there.

    It begins behind the last line before that ends with ``;``, ``{`` or ``}``, or is a directive. ``before`` false
    leaves out what stands in lines before.
    """
    if not 1 <= number <= len(lines):
        return ""
    if not before:
        return _bare(lines[number - 1])
    parts = [_bare(lines[number - 1])]
    for line in reversed(lines[max(number - 1 - _BEFORE, 0) : number - 1]):
        part = _bare(line).strip()
        if not part or part.startswith("#") or part[-1] in ";{}:":
            break
        parts.insert(0, part)
    return " ".join(part.strip() for part in parts)


def assigned_in(statement: str, column: int | None = None) -> tuple[str, ...]:
    """Return what the calls that allocate in a statement are assigned to, such as ``a`` and ``grid.cells``.

    With a ``column``, counted from 1, that of the call there: the last one that begins before it.
    """
    statement = _without_heads(statement)
    patterns = (_BY_ADDRESS, _FILLED) if "=" in statement else (_BY_ADDRESS, _FILLED, _FORTRAN)
    found = [(match.start(1), match[1]) for pattern in patterns for match in pattern.finditer(statement)]
    if "=" not in statement:
        further = [one for match in _FORTRAN.finditer(statement) for one in _further(statement, match.end())]
        found, column = found + further, None if further else column  # gfortran has one column for all its calls
    members = _MEMBERS.search(statement) if "?" not in statement else None
    if members is not None:
        found += [(match.start(1), match[1]) for match in _MEMBER.finditer(statement, members.start())]
    start = 0
    for part in re.split(r"([;,](?![^()]*\)))", statement):
        match = _ASSIGNED.search(part)
        if match is not None and _ALLOCATES.search(match[2]):
            found.append((start + match.start(1), match[1]))
        start += len(part)
    before = [one for one in sorted(found) if column is None or one[0] < column]
    return tuple(dict.fromkeys(_plain(name) for _, name in (before if column is None else before[-1:])))


def _without_heads(statement: str) -> str:
    """Return a statement with blanks for the heads of loops and tests, but those that allocate something."""
    for head in _HEAD.finditer(statement):
        depth, end = 1, head.end()
        while depth and end < len(statement):
            depth += {"(": 1, ")": -1}.get(statement[end], 0)
            end += 1
        if not _ALLOCATING_CALL.search(statement, head.end(), end):
            statement = statement[: head.start()] + " " * (end - head.start()) + statement[end:]
    return statement


def _further(statement: str, start: int) -> Iterator[tuple[int, str]]:
    """Return the further arrays of a Fortran ``allocate (a(n), b(n))``, from behind the first one's name."""
    depth = 1
    for at in range(start, len(statement)):
        depth += {"(": 1, ")": -1}.get(statement[at], 0)
        if depth == 0:
            return
        named = re.match(rf",\s*({_NAME}(?:\s*%\s*{_NAME})*)", statement[at:]) if depth == 1 else None
        if named is not None:
            yield at + named.start(1), named[1]


def written_in(statement: str) -> tuple[str, ...]:
    """Return what a statement writes to, such as ``a[]``."""
    return tuple(dict.fromkeys(_plain(match[1]) for match in _WRITTEN.finditer(statement)))


def is_made_in(statement: str, name: str) -> bool:
    """Return whether a statement gives a variable its first value, as ``v(n)``, ``v{n}`` or ``v = ...``."""
    return re.search(rf"\b{re.escape(name)}\s*(?:\[[^\]]*\])*\s*[({{=]", statement) is not None


def is_returned(lines: Sequence[str], number: int, name: str) -> bool:
    """Return whether what is allocated in a line is returned: there, or, by its name, before the function's end."""
    statement = statement_at(lines, number)
    if re.match(r"\s*return\b", statement) or (not name and re.search(r"[{;]\s*return\b", statement)):
        return True
    returned = re.compile(rf"\breturn\b[^;]*\b{re.escape(base_of(name))}\b") if name else None
    for line in lines[number - 1 : number + _AFTER]:
        if line.startswith("}"):
            break
        if returned is not None and returned.search(_bare(line)):
            return True
    return False


def directive_before(lines: Sequence[str], number: int) -> str:
    """Return the nearest OpenMP directive before a line, in one line, empty where there is none near."""
    for at in range(min(number, len(lines)) - 1, max(number - 1 - _AFTER, -1), -1):
        if _DIRECTIVE.match(lines[at]):
            parts = [lines[at].strip()]
            while parts[-1].endswith(("\\", "&")) and at + len(parts) < len(lines):
                parts.append(lines[at + len(parts)].strip())
            return " ".join(part.rstrip("\\& ") for part in parts)
    return ""


def base_of(name: str) -> str:
    """Return the variable that a name begins with: ``grid`` of ``grid.cells``."""
    return re.split(r"->|\.|%|\[", name, maxsplit=1)[0].rpartition("::")[2]


def _plain(name: str) -> str:
    """Return a name without blanks, stars before it, and what is between brackets: ``rows[]`` of ``rows[i + 1]``."""
    return re.sub(r"\[[^\]]*\]", "[]", re.sub(r"\s+|^[\s*]+", "", name))


def _bare(line: str) -> str:
    """Return a line with blanks for its comments and strings."""
    return re.sub(r"/\*.*?\*/|//.*$|\"(?:[^\"\\]|\\.)*\"", lambda match: " " * len(match[0]), line)
