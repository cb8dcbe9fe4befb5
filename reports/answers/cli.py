"""The commands on answers that were kept: `check` and `compare`."""

import sys

import click

from numapredict.collect.campaign.completion import files
from numapredict.collect.terminal.command import JSON, Command

UNKNOWN = 3
"""The exit code of a check that tells nothing."""


@click.command(
    cls=Command,
    context_settings={"allow_interspersed_args": False},
    answers=["numapredict.reports.answers.check:Checked"],
    examples={"numapredict check answer.json ./app": "In a pipeline: exit code 1 where the advice no longer holds."},
)
@JSON
@click.argument("answer", shell_complete=files)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, shell_complete=files)
def check(as_json: bool, answer: str, command: tuple[str, ...]) -> None:
    """Say whether ANSWER still holds: run COMMAND as it is and under its mapping, in turn.

    ANSWER is a file with what `predict --json` printed, or - for standard input. The exit code is 1 where the mapping
    is no longer faster by 1% or more, and 3 where that cannot be told, as on a busy computer or where a run fails.
    """
    from numapredict.collect.terminal.answer import print_answer
    from numapredict.reports.answers.check import check as checked
    from numapredict.reports.answers.check import checked_in_words
    from numapredict.reports.answers.open_advice import open_advice

    found = checked(open_advice(answer), command)
    print_answer(found, as_json, checked_in_words)
    if found.verdict != "holds":
        sys.exit(1 if found.verdict == "no longer" else UNKNOWN)


@click.command(
    cls=Command,
    answers=["numapredict.reports.answers.compare:Compared"],
    examples={"numapredict compare before.json after.json": "Say how two answers differ."},
)
@JSON
@click.argument("first", shell_complete=files)
@click.argument("second", shell_complete=files)
def compare(as_json: bool, first: str, second: str) -> None:
    """Say how two answers differ: the mapping, its gain, the time as it is.

    FIRST and SECOND are files with what `predict --json` printed, before and after a change, or on two machines; one of
    them may be -, standard input.
    """
    from numapredict.collect.terminal.answer import print_answer
    from numapredict.reports.answers.compare import compare as compared
    from numapredict.reports.answers.compare import compared_in_words
    from numapredict.reports.answers.open_advice import open_advice

    print_answer(compared(open_advice(first), open_advice(second)), as_json, compared_in_words)
