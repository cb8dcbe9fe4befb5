"""Names of C++ and Rust, shortened to what tells them apart: other template arguments and parameters give way. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from numapredict.collect.terminal.printable import ELLIPSIS

_CLOSED_BY = {"<": ">", "(": ")"}
_TOKEN = re.compile(
    r"operator\s*(?:<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|<|>|\(\))"  # none of these brackets has arguments
    r"|\((?:anonymous namespace|parallel region)\)|->|[<>(),]|\{|\}|(?:(?!operator)[^<>(),{}-])+|."
)
_CONVERSION = re.compile(r"\boperator [\w:]")  # its type is its name
_ANONYMOUS = {"(anonymous namespace)": "{anonymous}"}  # as gcc writes it
_DEEPEST = 64


@dataclass(frozen=True)
class _Bracket:
    """What stands in a pair of brackets, by its commas; ``kept`` is a pair without a name before it, as Rust has."""

    opened: str
    arguments: tuple["_Name", ...]
    kept: bool


@dataclass(frozen=True)
class _Name:
    parts: tuple[str | _Bracket, ...]

    @property
    def skeleton(self) -> str:
        """Return the name with all brackets elided."""
        return _spelt(self, ())

    @property
    def brackets(self) -> tuple[_Bracket, ...]:
        return tuple(part for part in self.parts if isinstance(part, _Bracket) and part.arguments and not part.kept)


def short_name(name: str) -> str:
    """Return a name by itself: ``solve<…>(…)`` for ``void solve<double>(Grid<double>&)``."""
    return short_names((name,))[name]


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return what each of these names is shortened to; different ones stay different."""
    known = {name: _without_result(_parsed(name)) for name in dict.fromkeys(names)}
    trees = tuple(dict.fromkeys(known.values()))
    short = dict(zip(trees, _told_apart(trees), strict=True))
    found = {name: short[tree] for name, tree in known.items()}
    first = {text: name for name, text in reversed(found.items())}
    return {name: text if first[text] == name else name for name, text in found.items()}  # else by the results alone


def _told_apart(names: Sequence[_Name], depth: int = 0) -> tuple[str, ...]:
    """Return a text for each of these names, equal ones of which may be among them: their first difference is shown."""
    found = [name.skeleton for name in names]
    for skeleton in dict.fromkeys(found):
        at = [number for number, text in enumerate(found) if text == skeleton]
        group = [names[number] for number in at]
        different = len(set(group))
        if different == 1:
            continue
        texts: list[tuple[str | None, ...]] = [()] * len(group)
        for each in zip(*(name.brackets for name in group), strict=False):
            told = len({_spelt(name, text) for name, text in zip(group, texts, strict=True)})
            shown = told < different and len(set(each)) > 1 and depth < _DEEPEST
            columns = _arguments(each, depth) if shown else [None] * len(each)
            texts = [(*text, own) for text, own in zip(texts, columns, strict=True)]
        for number, name, text in zip(at, group, texts, strict=True):
            found[number] = _spelt(name, text)
    return tuple(found)


def _arguments(brackets: Sequence[_Bracket], depth: int) -> list[str | None]:
    """Return what stands in each of these brackets: of as many arguments only those that differ."""
    texts: list[list[str]] = [[] for _ in brackets]
    if len({len(one.arguments) for one in brackets}) > 1:
        left = iter(_told_apart([argument for one in brackets for argument in one.arguments], depth + 1))
        return [", ".join(next(left) for _ in one.arguments) for one in brackets]
    for column in zip(*(one.arguments for one in brackets), strict=True):
        known = [tuple(text) for text in texts]
        if len(set(column)) == 1 or len(set(known)) == len(set(brackets)):
            for own in texts:
                own.append(ELLIPSIS)
            continue
        for group in dict.fromkeys(known):  # these are not told apart yet
            at = [number for number, before in enumerate(known) if before == group]
            for number, shown in zip(at, _told_apart([column[number] for number in at], depth + 1), strict=True):
                texts[number].append(shown)
    # of equal neighbours one ellipsis is enough
    return [", ".join(key if key == ELLIPSIS else ", ".join(same) for key, same in groupby(text)) for text in texts]


def _spelt(name: _Name, shown: Sequence[str | None]) -> str:
    """Return a name with what is ``shown`` of its brackets in their order, all others elided."""
    left, text = iter(shown), ""
    for part in name.parts:
        if isinstance(part, str):
            text += part
            continue
        inside = ", ".join(argument.skeleton for argument in part.arguments)
        if part.arguments and not part.kept:
            inside = next(left, None) or ELLIPSIS
        text += f"{part.opened}{inside}{_CLOSED_BY[part.opened]}"
    return text


def _parsed(name: str) -> _Name:
    """Return the parts of a name; one whose brackets do not fit is a single part."""
    stack: list[tuple[str, list[_Name], list[str | _Bracket]]] = [("", [], [])]
    for piece in _TOKEN.findall(name):
        opened, arguments, parts = stack[-1]
        if piece in _CLOSED_BY and len(stack) < _DEEPEST:
            stack.append((piece, [], []))
        elif opened and piece == _CLOSED_BY[opened]:
            stack.pop()
            if parts:
                arguments.append(_Name(tuple(parts)))
            before = stack[-1][2]
            nameless = opened == "<" and (not before or str(before[-1]).endswith((" ", "::")))
            before.append(_Bracket(opened, tuple(arguments), nameless))
        elif opened and piece == ",":
            arguments.append(_Name(tuple(parts)))
            parts.clear()
        elif piece in _CLOSED_BY or piece in _CLOSED_BY.values():
            return _Name((name,))
        else:
            text = _ANONYMOUS.get(piece, piece.lstrip() if opened and not parts else piece)
            if parts and isinstance(parts[-1], str):
                parts[-1] += text
            elif text:
                parts.append(text)
    return _Name(tuple(stack[0][2])) if len(stack) == 1 else _Name((name,))


def _without_result(name: _Name) -> _Name:
    """Return a function's name without the type of its result, which c++filt has of templates' functions."""
    lists = [at for at, part in enumerate(name.parts) if isinstance(part, _Bracket) and part.opened == "("]
    for at in range(lists[-1] - 1 if lists else -1, -1, -1):
        part = name.parts[at]
        if not isinstance(part, str) or _CONVERSION.search(part):
            continue
        end = part.rstrip().rfind(" ")
        if end >= 0 and part.count("{", 0, end) <= part.count("}", 0, end):
            return _Name((part[end + 1 :], *name.parts[at + 1 :]))
    return name
