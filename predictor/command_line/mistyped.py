"""Words in the place of a command or an option that are neither, and what to type in their place."""

import os
import shutil
from collections.abc import Sequence

import click

from numapredict.collect.near_name import near_name
from numapredict.collect.terminal.command import typed_path
from numapredict.collect.terminal.printable import command_line
from numapredict.native.errors import UsageError

_HELP = frozenset({"-h", "-?", "-help"})
_OPTIONS = {"help": "--help", "version": "--version"}
"""Of words that other programs have as commands."""


def check_first_word(words: Sequence[str], names: Sequence[str]) -> None:
    """Raise UsageError where the first word is no program, and like a command or what others have as one."""
    first, *others = words
    option = _OPTIONS.get(first)
    near = near_name(first, names) if option is None and os.sep not in first and not first.startswith("-") else None
    if (option or near) and not os.path.exists(first) and shutil.which(first) is None:
        meant = [near, *others] if near else [*(each for each in others[:1] if each in names), option or ""]
        raise UsageError(
            f"{first}: neither a command nor a program in PATH; did you mean {command_line(['numapredict', *meant])}?"
        )


def no_such_option(error: click.NoSuchOption, words: Sequence[str]) -> str:
    """Return what to say of an option that a command does not have; ``words`` are all of the command line."""
    ctx, name = error.ctx, error.option_name
    if ctx is None:
        return error.format_message()
    if name in _HELP:
        return f"{name} is no option; type {command_line([*typed_path(ctx), '--help'])}"
    others = _having(ctx, name)
    if not others:
        return f"{error.format_message()} (see {ctx.command_path} --help)"
    left = list(words)
    if ctx.info_name in left:
        left.remove(ctx.info_name)
    line = command_line(["numapredict", others[0], *left])
    return f"{ctx.info_name} has no option {name}, {others[0]} has one: did you mean {line}?"


def _having(ctx: click.Context, name: str) -> list[str]:
    """Return the other commands next to a command of ours that have an option; first those that take a program too."""
    group = ctx.parent.command if ctx.parent is not None else None
    if not isinstance(group, click.Group):
        return []
    found: list[tuple[bool, bool, str]] = []
    for each in group.list_commands(ctx):
        command = group.get_command(ctx, each)
        if command is not None and any(name in parameter.opts for parameter in command.params):
            takes_program = any(parameter.name == "command" for parameter in command.params)
            found.append((not takes_program, each != "predict", each))
    return [each for *_, each in sorted(found)]
