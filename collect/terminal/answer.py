"""Answers on standard output: JSON for programs, words for people; on a terminal fitted to its width and coloured."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from typing import Any

import click

from numapredict.collect.terminal.paint import fitted, painted
from numapredict.collect.terminal.printable import printable_lines
from numapredict.collect.terminal.terminal import has_colours, is_animated


def print_answer(
    found: Any,  # noqa: ANN401 - any record
    as_json: bool,
    in_words: Callable[[Any], str],
    commands: Iterable[str] = (),
) -> None:
    """Print a record as JSON, or what ``in_words`` makes of it; ``commands`` are those in it that are to be copied."""
    if as_json:
        from numapredict.collect.terminal.record_json import json_of

        click.echo(json_of(found), nl=False)
    else:
        print_words(in_words(found), commands)


def print_words(text: str, commands: Iterable[str] = ()) -> None:
    """Print a text: whole into pipes and files, fitted to a terminal's width, in colours where it has some.

    ``commands`` are those in the text that are to be copied: they are never broken.
    """
    text = printable_lines(text)
    if is_animated(sys.stdout, os.environ):
        columns = shutil.get_terminal_size().columns
        whole = {line.strip() for command in commands for line in printable_lines(command).split("\n")}
        coloured = has_colours(sys.stdout, os.environ)
        text = painted(text, columns, whole) if coloured else fitted(text, columns, whole)
    click.echo(text, color=True)
