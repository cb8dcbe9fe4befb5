"""The documents in reports/guide: what they tell a reader to type runs, and what they say stands in the code."""

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from numapredict.predictor.commands import arguments_of, commands
from numapredict.reports.cli import PAGE, Reports
from tests.guide import (
    GUIDE,
    ROOT,
    UNKNOWN,
    Block,
    blocks,
    documents,
    exchanges,
    messages_in_source,
    names_in_tables,
    pattern,
    quoted_messages,
    told_commands,
)

NAMES = [document.name for document in documents()]
PLAIN = "import sys; from numapredict.predictor.main import main; sys.exit(main())"
KINDS = {("sh",), ("sh", "server"), ("sh", "guest"), ("console",), ("console", "refused")}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder that looks like a clone, with numapredict on the path as a user has it."""
    folder = tmp_path / "clone"
    (folder / "bin").mkdir(parents=True)
    for name, options in (("numapredict", ["-c", PLAIN]), ("python", [])):
        command = folder / "bin" / name
        command.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, *options])} "$@"\n')
        command.chmod(0o755)
    for name in ("examples", "models", "native"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("bin", "lib", "__pycache__"))
    return folder


def typed(command: str, place: Path) -> subprocess.CompletedProcess[str]:
    """Type a command of a document, with both channels as a terminal shows them."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=place,
        env={**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", "OMP_WAIT_POLICY": "passive"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )


def check(block: Block, place: Path) -> None:
    if block.words == ("sh",):
        done = typed("\n".join(block.lines), place)
        assert done.returncode == 0, f"line {block.line}:\n{done.stdout}"
    elif block.words[0] == "console":
        for exchange in exchanges(block):
            done = typed(exchange.command, place)
            assert done.returncode == (2 if "refused" in block.words else 0), f"{exchange.command}:\n{done.stdout}"
            assert pattern(exchange.expected).fullmatch(done.stdout), f"{exchange.command} printed:\n{done.stdout}"


@pytest.mark.native
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_a_reader_types_runs(name: str, place: Path) -> None:
    for block in blocks((GUIDE / name).read_text()):
        assert block.words in KINDS, f"line {block.line}: {block.words} says not how this is tested"
        check(block, place)


README = (ROOT / "README.md").read_text()
BY_THE_GATE = 2  # of the README's sh blocks: .ci/run has them done on a clean machine
NUMBER = re.compile(r"\d+(?:\.\d+)?")


@pytest.mark.native
@pytest.mark.slow
def test_the_readmes_session_is_what_a_reader_sees(place: Path) -> None:
    """The numbers may be others, since no two traces are the same; the words and the mapping may not."""
    (session,) = [block for block in blocks(README) if block.words == ("console",)]
    for exchange in exchanges(session):
        done = typed(exchange.command, place)
        assert done.returncode == 0, done.stdout
        expected = tuple(NUMBER.sub("#", line) for line in exchange.expected)
        assert pattern(expected).fullmatch(NUMBER.sub("#", done.stdout)), done.stdout
    assert "numapredict run --mapping 32x4-scatter-locality -- ./heat\n" in done.stdout
    assert sum(block.words == ("sh",) for block in blocks(README)) == BY_THE_GATE


def parsed(line: str) -> None:
    """Parse a command line as numapredict does, less the values' types; raise where it has no such option."""
    words = arguments_of(shlex.split(line)[1:], commands.list_commands(click.Context(commands)))
    command: click.Command = commands
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        if isinstance(command, Reports) and words[0] not in command.commands:
            words = [PAGE, *words]
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, f"{line}: no command {words[0]}"
        command, words = found, words[1:]
    context = click.Context(command, info_name=command.name, **command.context_settings)
    values, _, _ = command.make_parser(context).parse_args(list(words))
    for parameter in command.params:
        if isinstance(parameter.type, click.Choice) and values.get(parameter.name or "") is not None:
            parameter.type_cast_value(context, values[parameter.name or ""])


@pytest.mark.parametrize("name", [*NAMES, "../../README.md"])
def test_every_option_that_is_named_exists(name: str) -> None:
    lines = list(told_commands((GUIDE / name).read_text()))
    for line in lines:
        parsed(line)
    assert lines or name in {"method.md"}


def test_an_option_that_does_not_exist_is_seen() -> None:
    for wrong in ("numapredict train --bugdet 15%", "numapredict collect nothing", "numapredict --emit gdb ./app"):
        with pytest.raises((click.UsageError, AssertionError)):
            parsed(wrong)


@pytest.mark.parametrize("message", quoted_messages((GUIDE / "troubleshooting.md").read_text()))
def test_every_quoted_message_is_in_the_source(message: str) -> None:
    wanted = re.compile("[^\n]+".join(map(re.escape, message.split(UNKNOWN))))
    assert any(wanted.search(text) for text in messages_in_source()), f"no source says {message!r}"


@pytest.mark.parametrize(
    ("name", "kind", "what", "names"),
    [(name, *table) for name in NAMES for table in names_in_tables((GUIDE / name).read_text())],
)
def test_tables_of_fields_are_those_of_the_records(name: str, kind: str, what: str, names: list[str]) -> None:
    module, _, record = what.partition(":")
    found = getattr(importlib.import_module(module), record)
    there = found.names if kind == "columns" else found.__struct_fields__
    assert sorted(names) == sorted(there), f"{name}: {what}"


@pytest.mark.parametrize("name", [*NAMES, "../../README.md"])
def test_links_lead_somewhere(name: str) -> None:
    document = (GUIDE / name).resolve()
    for target in re.findall(r"\]\(([^)]+)\)", document.read_text()):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        file = document.parent / path if path else document
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in slugs, target


def test_the_readme_links_every_document() -> None:
    for name in NAMES:
        assert f"(reports/guide/{name})" in README
