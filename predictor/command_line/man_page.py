"""Manual pages of all commands, from the same source as `--help`. The macros are those of man(7).

`python -m numapredict.predictor.command_line.man_page FOLDER PYPROJECT` writes them for the commands that a
pyproject.toml registers: the build of a wheel does so (native/CMakeLists.txt), where nothing is installed yet.
"""

import re
import sys
import tomllib
from pathlib import Path

import click

from numapredict.collect.terminal.command import Command, Group
from numapredict.predictor.command_line.command_tree import every_command
from numapredict.predictor.command_line.commands import EXIT_CODES, NOTE, RUN_ENDS, commands
from numapredict.predictor.command_line.registry import GROUP

NAME = "numapredict"

ARGUMENTS = {
    "answer": "The file of an answer as JSON (-o FILE); - reads it from a pipe.",
    "command": "The program and its arguments. Everything after its name belongs to it, options too.",
    "dataset": "A shipped dataset by name, or a folder.",
    "datasets": "Shipped datasets by name, or folders.",
    "first": "The file of an answer, as `predict --json` printed it.",
    "second": "The file of another.",
    "file": "A table with a head line, of comma-separated values.",
    "folder": "The folder of the application.",
    "folders": "Folders of shards, of campaigns, or datasets.",
    "label": "A mapping, such as 16x2-contiguous-interleave.",
    "shell": "The shell to complete commands in.",
    "subject": "A shipped name, a dataset's folder, a model's or an answer's file; - reads an answer from a pipe.",
    "words": "A command by its words; every one if none is given.",
}
"""The arguments by name, which `--help` describes only in its text."""


def pages() -> dict[str, str]:
    """Return the pages by file name: one for the whole, and one for each command and group."""
    root = click.Context(commands, info_name=NAME)
    found = {f"{NAME}.1": _page(NAME, root)}
    for words, ctx in every_command(root):
        name = f"{NAME}-{words.replace(' ', '-')}"
        found[f"{name}.1"] = _page(name, ctx)
    return found


def write_pages(folder: Path) -> None:
    """Write the pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text)


def escaped(text: str) -> str:
    """Return a text escaped for man(7), with no request or escape in it."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", plain)


def _page(name: str, ctx: click.Context) -> str:
    command = ctx.command
    summary = (command.help or "").split("\n\n")[0].split("\b")[0]
    lines = [
        f'.\\" Made by numapredict.predictor.command_line.man_page from what `{ctx.command_path} --help` says.',
        f'.TH {escaped(name).upper()} 1 "" "{NAME}" "User Commands"',
        ".SH NAME",
        f"{escaped(name)} \\- {escaped(_sentence(summary))}",
        ".SH SYNOPSIS",
        f".B {escaped(ctx.command_path)}",
        escaped(" ".join(command.collect_usage_pieces(ctx))),
        ".SH DESCRIPTION",
        *_paragraphs(command.help or ""),
        *_options(ctx),
        *_commands(ctx),
        *_exit_status(name),
        *_examples(ctx),
    ]
    notes = NOTE if ctx.parent is None else command.epilog
    if notes:
        lines += [".SH NOTES", *_paragraphs(notes)]
    return "\n".join([*lines, *_see_also(name, ctx)]) + "\n"


def _sentence(text: str) -> str:
    """Return a one-line summary for apropos(1): no full stop, no capital at its start."""
    line = " ".join(text.split()).removesuffix(".")
    return line[:1].lower() + line[1:]


def _paragraphs(text: str) -> list[str]:
    """Return click's help text: paragraphs are filled except those after a backspace, which keep their lines."""
    lines: list[str] = []
    for number, block in enumerate(re.split(r"\n\s*\n", text.strip())):
        if number:
            lines.append(".PP")
        if block.startswith("\b"):
            lines += [".nf", *(escaped(line) for line in block.removeprefix("\b").strip("\n").split("\n")), ".fi"]
        else:
            lines.append(escaped(" ".join(block.split())))
    return lines


def _options(ctx: click.Context) -> list[str]:
    lines = [".SH OPTIONS"]
    for parameter in ctx.command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None:
            names, text = record
            what = re.sub(r"\b(INTEGER|FLOAT) RANGE\b", "NUMBER", names)
            said = " ".join(text.split()) or ARGUMENTS[parameter.name or ""]
            lines += [".TP", f"\\fB{escaped(what)}\\fR", escaped(said)]
    return lines


def _exit_status(name: str) -> list[str]:
    """Return what the exit code means; `run` also has its program's."""
    lines = [".SH EXIT STATUS"]
    if name == f"{NAME}-run":
        lines += [escaped("The program's exit code, or its signal, once it has begun. Before that:")]
    for code, text in EXIT_CODES.items():
        lines += [".TP", f"\\fB{code}\\fR", escaped(f"{text[:1].upper()}{text[1:]}.")]
    if name == NAME:
        lines += [".PP", escaped(RUN_ENDS)]
    return lines


def _examples(ctx: click.Context) -> list[str]:
    lines = [".SH EXAMPLES"]
    for example, text in ctx.command.examples.items() if isinstance(ctx.command, Command | Group) else ():
        lines += [".TP", f"\\fB{escaped(example)}\\fR", escaped(text)]
    return lines


def _commands(ctx: click.Context) -> list[str]:
    if not isinstance(ctx.command, click.Group):
        return []
    lines = [".SH COMMANDS"]
    for name in ctx.command.list_commands(ctx):
        command = ctx.command.get_command(ctx, name)
        if command is not None:
            page = f"{ctx.command_path} {name}".replace(" ", "-")
            lines += [
                ".TP",
                f".BR {escaped(page)} (1)",
                escaped(_sentence((command.help or "").split("\n\n")[0])) + ".",
            ]
    return lines


def _see_also(name: str, ctx: click.Context) -> list[str]:
    if ctx.parent is None:
        return []
    above = ctx.parent.command_path.replace(" ", "-")
    return [".SH SEE ALSO", f".BR {escaped(above)} (1)"]


if __name__ == "__main__":
    commands.entries = tomllib.loads(Path(sys.argv[2]).read_text())["project"]["entry-points"][GROUP].copy
    write_pages(Path(sys.argv[1]))
