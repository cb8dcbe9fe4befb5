"""The words of a program behind a command's options: what stands there and belongs in front of it."""

import re
from collections.abc import Sequence

import click

from numapredict.collect.terminal.command import typed_path
from numapredict.collect.terminal.printable import command_line, shell_word
from numapredict.native.errors import UsageError

_VARIABLE = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)


def check_program_words(ctx: click.Context, words: Sequence[str], program: Sequence[str]) -> str:
    """Return a doubt about options behind the program, empty for none; ``words`` are all words after the command.

    Raises UsageError, with the line to type, for variables in the program's place, and for an option of the command
    with a value that this option knows. After a `--` all options are the program's.
    """
    front = list(words[: len(words) - len(program)])
    count = next((at for at, word in enumerate(program) if not _VARIABLE.fullmatch(word)), len(program))
    if count:
        pairs = [word.partition("=") for word in program[:count]]
        variables = " ".join(f"{name}={shell_word(value)}" for name, _, value in pairs)
        line = command_line([*typed_path(ctx), *front, *(program[count:] or ["./app"])])
        what = "is a variable: put it" if count == 1 else "are variables: put them"
        raise UsageError(f"{variables} {what} in front of all else: {variables} {line}")
    doubt = ""
    own = {name: option for option in ctx.command.params for name in option.opts if name.startswith("--")}
    for at, word in enumerate(program if front[-1:] != ["--"] else ()):
        name, _, value = word.partition("=")
        option = own.get(name)
        if word == "--":
            break
        if not isinstance(option, click.Option):
            continue
        end = at + 1
        if not option.is_flag and not value:
            value = "".join(program[end : end + 1])
            end += 1
        moved = command_line([*typed_path(ctx), *front, *program[at:end], *program[:at], *program[end:]])
        if value and any(each.type == "plain" and each.value == value for each in option.shell_complete(ctx, value)):
            kept = command_line([*typed_path(ctx), *front, "--", *program])
            raise UsageError(f"{name} stands behind the program: type {moved} (or, if it is the program's own, {kept})")
        doubt = f"{name} stands behind the program and goes to it; for numapredict's own, type {moved}"
    return doubt
