"""What a reader sees is plain English: documents, templates and printed texts have no phrase of plain_words.toml."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.guide import PACKAGE, ROOT

BETTER: dict[str, str] = tomllib.loads((ROOT / "tests/plain_words.toml").read_text())
FILES = [
    file
    for folder in (*PACKAGE, "models", "examples")
    for ending in ("py", "md", "html", "js", "c", "h")
    for file in sorted((ROOT / folder).rglob(f"*.{ending}"))
    if "pictures" not in file.parts
] + [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def texts(source: str, is_python: bool) -> Iterator[tuple[int, str]]:
    """Yield what a reader sees of a file, by line: of Python its strings, those of several lines as one."""
    if not is_python:
        flat = " ".join(line.strip() for line in source.splitlines())
        yield from ((number, line) for number, line in enumerate(source.splitlines(), 1))
        yield 1, flat
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(one.value) if isinstance(one, ast.Constant) else "…" for one in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def found(source: str, is_python: bool) -> list[str]:
    """Return a line for each phrase that stands in a text: where, which, and what to write instead."""
    return [
        f"{line}: {phrase!r}: write {better!r}"
        for line, text in texts(source, is_python)
        for phrase, better in BETTER.items()
        if phrase.lower() in " ".join(text.lower().split())
    ]


def test_every_text_is_in_plain_words() -> None:
    assert len(FILES) > 500
    wrong = {str(file.relative_to(ROOT)): found(file.read_text(), file.suffix == ".py") for file in FILES}
    assert {name: lines for name, lines in wrong.items() if lines} == {}


@pytest.mark.parametrize(
    ("source", "is_python"),
    [
        ('echo("Tried in " "vain.")', True),
        ('f"it resembles {name}"', True),
        ('"""In nine cases of ten."""', True),
        ('"""The default is kept unless\n    it loses."""', True),
        ("The default is kept unless\nit loses.", False),
        ("<p>TRIED IN VAIN</p>", False),
    ],
)
def test_a_phrase_of_the_list_is_seen(source: str, is_python: bool) -> None:
    assert len(found(source, is_python)) >= 1


def test_comments_and_names_of_python_are_not_read() -> None:
    assert found("in_vain = 1  # in vain", True) == []


def test_the_list_is_of_phrases_and_not_of_itself() -> None:
    assert len(BETTER) > 15
    assert not [better for phrase, better in BETTER.items() if phrase.lower() in better.lower()]
    assert Path(ROOT / "tests/plain_words.toml").is_file()
