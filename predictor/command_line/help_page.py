"""What `numapredict --help` says on a wide terminal, and the file that has it ready without loading the commands.

`python -m numapredict.predictor.command_line.help_page` writes that file, `help_text.py`. It is kept in the
repository rather than built, so that `--help` works in a checkout; a test compares the two.
"""

import json
from pathlib import Path

import click

from numapredict.predictor.command_line.commands import commands
from numapredict.predictor.command_line.known_help import WIDTH
from numapredict.predictor.command_line.registry import GROUP, registered

FILE = Path(__file__).with_name("help_text.py")


def help_page() -> str:
    """Return the source of `help_text.py`: what `numapredict --help` says, and of which commands."""
    lines = [
        '"""What `numapredict --help` says, so that it need not load what makes it.',
        "",
        "Made by `python -m numapredict.predictor.command_line.help_page`; a test compares it.",
        '"""',
        "",
        "COMMANDS = (",
        *(f"    {json.dumps(value)}," for value in sorted(registered(GROUP).values())),
        ")",
        "",
        "TEXT = (",
        *(f"    {json.dumps(line + chr(10))}" for line in help_text().split("\n")),
        ")",
    ]
    return "\n".join([*lines, ""])


def help_text() -> str:
    """Return what `numapredict --help` says on a wide terminal."""
    return click.Context(commands, info_name="numapredict", terminal_width=WIDTH).get_help()


if __name__ == "__main__":
    FILE.write_text(help_page())
