"""The `numapredict` command: finds the subcommands, and takes anything else for a program to advise on.

Only click is loaded here; a command's own libraries are loaded when it runs.
"""

import importlib.metadata
import os
import sys
from collections.abc import Sequence

import click

from numapredict.native.errors import NumapredictError

GROUP = "numapredict.commands"
PREDICT = "predict"


class Commands(click.Group):
    """The commands that the folders of the package register under the entry point group `numapredict.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names."""
        return sorted(entry.name for entry in importlib.metadata.entry_points(group=GROUP))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name, loading its module."""
        for entry in importlib.metadata.entry_points(group=GROUP, name=cmd_name):
            command = entry.load()
            return command if isinstance(command, click.Command) else None
        return None


# A \b tells click to keep the line breaks of a paragraph.
_HELP = """Say, after two short runs of PROGRAM, where its threads and memory pages should live on a NUMA machine.

\b
numapredict ./app input.dat                             on this computer
numapredict --machine sandybridge-4x8 ./app input.dat   on a described machine, modelled
"""


def _tell_version(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from numapredict.predictor.version_text import version_text

        click.echo(version_text())
        context.exit()


@click.group(
    cls=Commands,
    help=_HELP,
    options_metavar="",
    subcommand_metavar="[OPTIONS] PROGRAM [ARGUMENTS]...",
    epilog="A program called like a command: numapredict -- train. More options: numapredict predict --help.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_tell_version, help="Say what is installed."
)
def commands() -> None:
    """Hold the commands; a click group needs a function."""


def arguments_of(words: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the arguments with `predict` put first unless they begin with a command's name or ask for help."""
    if not words or words[0] in {*names, "--help", "--version"}:
        return list(words) or ["--help"]
    return [PREDICT, *words]


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 2 after one clear line on what was wrong."""
    names = [entry.name for entry in importlib.metadata.entry_points(group=GROUP)]
    arguments = arguments_of(sys.argv[1:] if words is None else words, names)
    try:
        code = commands.main(arguments, prog_name="numapredict", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "numapredict"
        return _fail(f"{error.format_message()} (see {where} --help)")
    except NumapredictError as error:
        return _fail(str(error))
    except BrokenPipeError:
        # Whoever read our output has gone; closing it again at exit must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        place = f"{error.filename}: " if error.filename else "cannot write the output: "
        return _fail(f"{place}{error.strerror or error}")
    except (click.Abort, KeyboardInterrupt):
        click.echo("numapredict: interrupted; finished runs are kept", err=True)
        return 130
    return code if isinstance(code, int) else 0


def _fail(text: str) -> int:
    click.echo(f"numapredict: {' '.join(text.split())}", err=True)
    return 2
