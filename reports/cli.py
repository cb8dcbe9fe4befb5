"""The commands that draw: `report`, whose own commands are the files of `commands/`, and `characterize`."""

import os
import pkgutil

import click
from click.shell_completion import CompletionItem

from numapredict.collect.near_name import near_name
from numapredict.collect.terminal.command import VERBOSITY, Group
from numapredict.collect.terminal.printable import command_line
from numapredict.native.errors import UsageError
from numapredict.predictor.command_line.registry import load
from numapredict.predictor.evaluation.evaluation_options import shipped_datasets, shipped_models
from numapredict.reports import commands
from numapredict.reports.characterisation.cli import characterize
from numapredict.reports.report_options import SUBJECTS

__all__ = ["characterize", "report"]

PAGE = "page"
_CALLED = {"heatmap": "clustermap", "dendrogram": "clustermap"}
"""What people call a report."""


class Reports(Group):
    """The reports, a file each; any other word is the subject of a page."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the reports' names: those of the files."""
        return sorted(module.name for module in pkgutil.iter_modules(commands.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a report's command by its name, loading its file."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command = load(f"{commands.__name__}.{cmd_name}:{cmd_name}")
        return command if isinstance(command, click.Command) else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `page` first unless a report is named or help is asked for."""
        if args and args[0] not in {*self.list_commands(ctx), *ctx.help_option_names, *VERBOSITY}:
            if not ctx.resilient_parsing:
                _check_report(args, self.list_commands(ctx))
            args = [PAGE, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the reports, options, subjects and files that begin with this text."""
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            return found
        return [*SUBJECTS(ctx, None, incomplete), *found]


def _check_report(words: list[str], names: list[str]) -> None:
    """Raise UsageError where the first word is no subject, and like a report."""
    first, *others = words
    if os.path.exists(first) or not first.isidentifier():  # a file
        return
    meant = _CALLED.get(first) or near_name(first, [*names, *shipped_datasets(), *shipped_models()])
    if meant in names:
        line = command_line(["numapredict", "report", meant, *others])
        raise UsageError(f"there is no report {first!r}; did you mean {line}?")


# A \b tells click to keep the line breaks of a paragraph.
_HELP = """Draw what was measured or learned, as one HTML page or as figures.

\b
numapredict report sandybridge-4x8 -o page.html   a shipped dataset and model, or a dataset's folder
numapredict report model.json -o page.html        a model that `train` wrote
numapredict report advice.json -o page.html       what `predict --json` or `variables --json` printed; - for a pipe
numapredict report regions.json -o page.html      what `regions -o regions.json` wrote
"""


@click.group(
    cls=Reports,
    help=_HELP,
    options_metavar="",
    subcommand_metavar="DATASET|MODEL|ANSWER [OPTIONS] | COMMAND ...",
    epilog="A folder or file called like a command: numapredict report ./pairs.",
    examples={"numapredict report sandybridge-4x8 -o page.html": "Write a page on a shipped dataset and model."},
)
def report() -> None:
    """Hold the reports; a click group needs a function."""
