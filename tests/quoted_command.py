"""A command line that a document tells, parsed as numapredict parses it: options, arguments and their values."""

import re
import shlex
from collections.abc import Collection
from pathlib import Path
from shutil import which

import click

from numapredict.collect.mapping import parse_label
from numapredict.collect.modelled.description import described_machines
from numapredict.collect.rank_share import split_label
from numapredict.native.errors import NumapredictError
from numapredict.predictor.command_line.command_tree import answering, every_command
from numapredict.predictor.command_line.commands import commands
from numapredict.predictor.learning.budget import parse_budget
from numapredict.predictor.learning.datasets import shipped_datasets
from numapredict.predictor.learning.model_choice import shipped_models

# What a document writes for any name, and a value that fits.
STAND_INS = {
    "COMMAND": "predict",
    "DATASET": "sandybridge-4x8",
    "FILE": "file",
    "FOLDER": "folder",
    "LABEL": "16x2-contiguous-locality",
    "NAME": "sandybridge-4x8",
    "SUBJECT": "sandybridge-4x8",
}
LAUNCHERS = {"mpirun", "srun"}  # of servers; a program that a document names besides must be here
AND_MORE = "..."  # alone at the end: the line shows a part of what has to be given
TOP = click.Context(commands, info_name="numapredict")


class WrongCommandError(Exception):
    """A command line would be refused, or names what does not exist."""


def check_command(line: str, made: Collection[str] = (), *, whole: bool = False) -> None:
    """Raise WrongCommandError where numapredict would refuse a line, or where it names what is not there.

    ``made`` are the datasets that the document makes. Unless the line must be ``whole``, it may leave out what is
    required where it gives options alone or ends with AND_MORE. What must exist is made in the current folder.
    """
    words = [_filled_in(word) for word in shlex.split(line)[1:]]
    part = not whole and words[-1:] == [AND_MORE]
    try:
        ctx = _parsed(words[:-1] if part else words, part, whole)
        for parameter in ctx.command.params:
            value = ctx.params.get(parameter.name or "")
            for text in value if isinstance(value, tuple) else (value,):
                if text is not None:
                    _check_value(ctx, parameter, str(text), made)
    except click.exceptions.Exit:  # --version and --help have said what they say
        return
    except click.ClickException as error:
        raise WrongCommandError(f"{line}: {error.format_message()}") from error
    except (NumapredictError, ValueError) as error:
        raise WrongCommandError(f"{line}: {error}") from error


def option_names() -> set[str]:
    """Return every option of every command."""
    return {
        name
        for _, ctx in [("", TOP), *every_command(TOP)]
        for parameter in ctx.command.get_params(ctx)
        for name in (*parameter.opts, *parameter.secondary_opts)
    }


def _filled_in(word: str) -> str:
    """Return a word with a value for what stands for any: ``DATASET...``, ``FILE.csv``, ``NAME``."""
    match = re.fullmatch(rf"({'|'.join(STAND_INS)})(\.\.\.|\.\w+)?", word)
    return STAND_INS[match[1]] + (match[2] or "").replace("...", "") if match else word


def _parsed(words: list[str], part: bool, whole: bool) -> click.Context:
    """Return the context of the command that a line ends at, with all values converted to their types."""
    ctx = commands.make_context("numapredict", words)
    while isinstance(ctx.command, click.Group):
        # The public name warns since click 8.2, and what replaces it comes with click 9.
        name, command, left = ctx.command.resolve_command(ctx, [*ctx._protected_args, *ctx.args])
        assert command is not None
        _make(command, left)
        ctx = command.context_class(command, parent=ctx, info_name=name, **command.context_settings)
        try:
            with ctx.scope(cleanup=False):
                command.parse_args(ctx, list(left))
        except click.MissingParameter:
            if whole or not (part or _options_alone(command, ctx, left)):
                raise
    return ctx


def _make(command: click.Command, words: list[str]) -> None:
    """Make the files and folders that a command wants to exist."""
    for word in words:
        for parameter in command.params:
            if isinstance(parameter.type, click.Path) and parameter.type.exists and not word.startswith("-"):
                path = Path(word)
                if path.suffix == ".csv":
                    path.touch()
                elif word == STAND_INS["FOLDER"]:
                    path.mkdir(exist_ok=True)


def _options_alone(command: click.Command, ctx: click.Context, words: list[str]) -> bool:
    values, _, _ = command.make_parser(ctx).parse_args(list(words))
    given = [values.get(p.name or "") for p in command.params if isinstance(p, click.Argument)]
    return not any(isinstance(value, str | tuple) and value for value in given)  # else click's own mark for none


def _check_value(ctx: click.Context, parameter: click.Parameter, text: str, made: Collection[str]) -> None:
    """Raise where a command would refuse a value only after parsing: a label, a budget, a name that is not there."""
    started = parameter.name == "command" and text == ctx.params["command"][0]
    if started and "/" not in text and text not in LAUNCHERS and not which(text):
        raise ValueError(f"{text!r} is neither a command nor a program here")
    named_by_others = ctx.info_name == "import"  # a table of somebody else's
    if parameter.metavar == "LABEL" and not named_by_others:
        parse_label(split_label(text)[0])
    elif parameter.name == "budget_text":
        parse_budget(text)
    elif parameter.name == "machine" and not named_by_others and not text.endswith(".toml"):
        _among(text, [machine.name for machine in described_machines()], "described machine")
    elif parameter.name == "wanted" and not text.endswith(".json"):
        _among(text, shipped_models(), "shipped model")
    elif parameter.name in {"dataset", "datasets"} and "/" not in text:
        _among(text, [*shipped_datasets(), *made], "dataset")
    elif parameter.name == "subject" and text != "-" and Path(text).suffix not in {".json"} and "/" not in text:
        _among(text, [*shipped_datasets(), *made], "subject")
    elif parameter.name == "words":
        _among(" ".join(ctx.params["words"]), answering(TOP), "command that answers")


def _among(text: str, names: Collection[str], what: str) -> None:
    if text not in names:
        raise ValueError(f"{text!r} is no {what}: there are {', '.join(names)}")
