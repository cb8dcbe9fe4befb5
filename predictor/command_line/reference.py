"""The commands that describe the others: `schema` prints the schema of their JSON, `completion` a shell's script."""

import click
from click.shell_completion import CompletionItem

from numapredict.collect.terminal.command import Command

# A \b tells click to keep the line breaks of a paragraph.
_SCHEMA = """Print the JSON Schema of what COMMAND prints with --json, or of every command: one object, by their names.

\b
numapredict schema evaluate
numapredict schema collect campaign
"""
_COMPLETION = """Print the script that makes SHELL complete numapredict's commands, options and files.

\b
bash   numapredict completion bash > ~/.local/share/bash-completion/completions/numapredict
zsh    numapredict completion zsh > ~/.zfunc/_numapredict     (with ~/.zfunc in fpath)
fish   numapredict completion fish > ~/.config/fish/completions/numapredict.fish
"""


def _answering(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the words that continue to a command that prints JSON."""
    from numapredict.predictor.command_line.command_tree import answering

    given = ctx.params.get("words") or ()
    names = [name.split() for name in answering(ctx.find_root())]
    following = dict.fromkeys(name[len(given)] for name in names if tuple(name[: len(given)]) == given != tuple(name))
    return [CompletionItem(word) for word in following if word.startswith(incomplete)]


@click.command(cls=Command, help=_SCHEMA, examples={"numapredict schema predict": "Print what predict --json prints."})
@click.argument("words", nargs=-1, metavar="[COMMAND]...", shell_complete=_answering)
@click.pass_context
def schema(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Print what answers look like."""
    import msgspec

    from numapredict.predictor.command_line.command_tree import answering
    from numapredict.predictor.command_line.json_schema import schema_of

    known = answering(ctx.find_root())
    name = " ".join(words)
    if name and name not in known:
        raise click.UsageError(f"{name!r} is no command that prints JSON; these are: {', '.join(known)}", ctx)
    if name:
        printed = schema_of(name, known[name])
    else:
        printed = {each: schema_of(each, command) for each, command in known.items()}
    click.echo(msgspec.json.format(msgspec.json.encode(printed)).decode())


@click.command(
    cls=Command,
    help=_COMPLETION,
    examples={
        "numapredict completion bash > ~/.local/share/bash-completion/completions/numapredict": (
            "Let bash complete commands, options and names from its next start on."
        )
    },
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what a shell needs."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"click knows no completion for {shell} here; install click 8.1 or later", ctx)
    click.echo(found(ctx.find_root().command, {}, "numapredict", "_NUMAPREDICT_COMPLETE").source())
