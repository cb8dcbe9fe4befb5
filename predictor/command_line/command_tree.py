"""The tree of commands below the root's context: every command by its words, and those with JSON answers."""

from collections.abc import Iterator

import click

from numapredict.collect.terminal.command import Command


def every_command(ctx: click.Context) -> Iterator[tuple[str, click.Context]]:
    """Yield the words and a context of each command and group below a context."""
    group = ctx.command
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=ctx)
        yield name, inner
        for words, context in every_command(inner):
            yield f"{name} {words}", context


def answering(root: click.Context) -> dict[str, Command]:
    """Return the commands that print JSON, by their words."""
    return {
        words: ctx.command
        for words, ctx in every_command(root)
        if isinstance(ctx.command, Command) and ctx.command.answers
    }
