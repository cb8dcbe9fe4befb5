"""Commands of numapredict: what they share in addition to their own options. Only click is loaded here.

Every command takes `-q` and `-v`; one that answers takes `--json` and names the record it prints, from which its JSON
Schema follows; and each says what it keeps when interrupted.
"""

import logging
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

_VERBOSITY = "numapredict.verbosity"
_DOUBT = "numapredict.doubt"
IMPLIED = "numapredict.implied"
"""Where a context's `meta` has the name of a command that was not typed."""

VERBOSITY = frozenset({"-q", "-v", "--quiet", "--verbose"})
"""The options that may precede or follow a command's name."""

log = logging.getLogger(__name__)

Examples = Mapping[str, str]
"""Command lines, each with a sentence on its effect."""

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output (see `numapredict schema`).")


class Interruption(Exception):  # noqa: N818 - it is no error
    """A command was interrupted: what it leaves behind, and the options that would throw that away."""

    def __init__(self, kept: str, forgetting: tuple[str, ...] = ()) -> None:
        super().__init__(kept)
        self.kept = kept
        self.forgetting = forgetting


class ReaderGone(Exception):  # noqa: N818 - it is no error
    """The reader of the output has closed it."""


def _set_verbosity(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    wanted = -1 if parameter.name == "quiet" else 1
    if ctx.meta.setdefault(_VERBOSITY, wanted) != wanted:
        raise click.UsageError("--quiet and --verbose exclude each other", ctx)


def verbosity_options() -> list[click.Parameter]:
    """Return the options of verbosity, `-q` and `-v`."""
    texts = {
        "quiet": "Print warnings and errors only.",
        "verbose": "Print more: which model, cache hits, durations.",
    }
    return [
        click.Option([f"-{name[0]}", f"--{name}"], is_flag=True, expose_value=False, callback=_set_verbosity, help=text)
        for name, text in texts.items()
    ]


def typed_path(ctx: click.Context) -> list[str]:
    """Return the words up to a command, without one that was not typed."""
    words = ctx.command_path.split()
    return words[:-1] if ctx.meta.get(IMPLIED) == words[-1] else words


class Command(click.Command):
    """A command with the shared options.

    ``examples`` are for its manual page. ``kept`` says in words what an interrupted run leaves, from which the same
    command continues; empty where it leaves nothing. ``answers`` names the records that `--json` prints, as
    ``module:Record``, with ``[]`` appended for an array. ``among_output``: its lines appear among those of a program.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's
        examples: Examples,
        kept: str = "",
        answers: Sequence[str] = (),
        among_output: bool = False,
        **settings: Any,  # noqa: ANN401 - click's
    ) -> None:
        super().__init__(*args, **settings)
        self.examples = examples
        self.among_output = among_output
        self.kept = kept
        self.answers = tuple(answers)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return its own parameters, the shared options, and last `--help`."""
        *own, last = super().get_params(ctx)
        return [*own, *verbosity_options(), last]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; raises UsageError where some stand in a program's place and belong in front of it."""
        words = list(args)
        rest = super().parse_args(ctx, args)
        program = ctx.params.get("command")
        if program and not ctx.allow_interspersed_args and not ctx.resilient_parsing:
            from numapredict.collect.terminal.program_words import check_program_words

            doubt = check_program_words(ctx, words, program)
            ctx.meta[_DOUBT] = "" if self.among_output else doubt
        return rest

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the options that begin with the typed text; after a program, request files from the shell."""
        if not ctx.allow_interspersed_args and ctx.params.get("command"):
            return [CompletionItem(incomplete, type="file")]
        return super().shell_complete(ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what the command returns
        """Run it, showing its log and progress; an interruption becomes an Interruption with what is kept."""
        from numapredict.collect.terminal.terminal import AmongOutput, Terminal, Verbosity

        kind = AmongOutput if self.among_output else Terminal
        try:
            with kind(sys.stderr, Verbosity(ctx.meta.get(_VERBOSITY, 0))).attached():
                if ctx.meta.get(_DOUBT):
                    log.info(ctx.meta[_DOUBT])
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interruption(self.kept, ("--fresh",) if ctx.params.get("fresh") else ()) from None


class Group(click.Group):
    """A group of such commands."""

    command_class = Command
    group_class = type

    def __init__(self, *args: Any, examples: Examples, **settings: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **settings)
        self.examples = examples

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return its own parameters, the shared options, and last `--help`."""
        *own, last = super().get_params(ctx)
        return [*own, *verbosity_options(), last]
