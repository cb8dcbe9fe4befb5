"""The group of all commands, which the folders register; any other word is a program to advise on.

Only click is loaded here; a command's own libraries are loaded when it runs.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from numapredict.collect.terminal.command import IMPLIED, VERBOSITY, Group, ReaderGone
from numapredict.predictor.command_line.mistyped import check_first_word
from numapredict.predictor.command_line.registry import GROUP, load, registered

PREDICT = "predict"


@contextlib.contextmanager
def _reader_minded() -> Iterator[None]:
    """Raise ReaderGone if the output is a broken pipe: click would exit with 1 and give no reason."""
    try:
        yield
    except BrokenPipeError:
        raise ReaderGone from None


class Commands(Group):
    """The commands that the folders of the package register under the entry point group `numapredict.commands`."""

    entries: Callable[[], dict[str, str]] = staticmethod(functools.partial(registered, GROUP))
    """Returns the commands' `module:attribute` by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names."""
        return sorted(self.entries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name, loading its module."""
        value = self.entries().get(cmd_name)
        command = None if value is None else load(value)
        return command if isinstance(command, click.Command) else None

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - click's
    ) -> click.Context:
        """Return the context; raises ReaderGone if nobody reads what `--help` or `--version` prints."""
        with _reader_minded():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what the command returns
        """Run the command; raises ReaderGone if nobody reads its output."""
        with _reader_minded():
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take words that do not begin with a command for a program, also while a shell completes."""
        completing = ctx.resilient_parsing
        if not (completing and all(word in VERBOSITY for word in args)):
            names, typed = self.list_commands(ctx), args
            args = arguments_of(typed, names)
            if args != typed and args[0] == PREDICT and not completing:
                ctx.meta[IMPLIED] = PREDICT
                check_first_word(typed[_verbosity_words(typed) :], names)
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin with this text, or ask the shell for files (programs)."""
        found = super().shell_complete(ctx, incomplete)
        advising = self.get_command(ctx, PREDICT) if incomplete.startswith("-") else None
        if advising is not None:  # its options may precede a program
            known = {item.value for item in found}
            more = advising.shell_complete(click.Context(advising, info_name=PREDICT, parent=ctx), incomplete)
            found += [item for item in more if item.value not in known]
        return found or [CompletionItem(incomplete, type="file")]


# A \b tells click to keep the line breaks of a paragraph.
_HELP = """Advise, after two to four short runs of PROGRAM, where its threads and pages should live on a NUMA machine.

\b
numapredict ./app input.dat                             on this computer
numapredict --machine sandybridge-4x8 ./app input.dat   on a described machine, modelled
"""

EXIT_CODES = {
    0: "done",
    1: "failed: every run failed, a worker died, or output could not be written",
    2: "usage error in the command or its input: one line says what is wrong and what to do",
    130: "interrupted: two lines say what is kept and how to continue",
    141: "broken pipe: the reader of the output has closed it",
}

RUN_ENDS = "`run` ends as its program does, with the program's exit code or signal."

NOTE = """A program called like a command: numapredict -- train. More options: numapredict predict --help."""

_EPILOG = "\n".join(
    [NOTE, "", "\b", "Exit codes:", *(f"  {code:<4} {text}" for code, text in EXIT_CODES.items()), f"  {RUN_ENDS}"]
)


def _tell_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from numapredict.predictor.command_line.version_text import version_text

        click.echo(version_text())
        context.exit()


def _tell_include(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from numapredict.native.library import headers_folder

        click.echo(headers_folder())
        context.exit()


@click.group(
    cls=Commands,
    help=_HELP,
    options_metavar="[-q|-v]",
    subcommand_metavar="[OPTIONS] PROGRAM [ARGUMENTS]...",
    epilog=_EPILOG,
    examples={
        "numapredict ./app input.dat": "Get advice for a program on this computer.",
        "numapredict --machine sandybridge-4x8 ./app input.dat": "Get advice for a described machine, modelled.",
    },
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_tell_version,
    help="Print the version and what is installed.",
)
@click.option(
    "--include",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_tell_include,
    help="Print the folder of numapredict.h, by which a program says what it knows.",
)
def commands() -> None:
    """Hold the commands; a click group needs a function."""


def arguments_of(words: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the arguments with `predict` put first unless they begin with a command's name or ask for help.

    `-q` and `-v` may precede a command's name.
    """
    loud = _verbosity_words(words)
    if loud == len(words):
        return [*words, "--help"]
    if words[loud] in {*names, "-h", "--help", "--version", "--include"}:
        return list(words)
    return [PREDICT, *words]


def _verbosity_words(words: Sequence[str]) -> int:
    """Return how many words of verbosity come first."""
    return next((at for at, word in enumerate(words) if word not in VERBOSITY), len(words))
