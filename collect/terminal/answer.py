"""Answers on standard output: JSON for programs, words for people; on a terminal fitted to its width and coloured."""

import os
import shutil
import sys
from collections.abc import Callable
from typing import Any

import click

from numapredict.collect.terminal.capability import has_colours, is_animated
from numapredict.collect.terminal.paint import fitted, painted
from numapredict.collect.terminal.printable import printable_lines


def print_answer(found: Any, as_json: bool, in_words: Callable[[Any], str]) -> None:  # noqa: ANN401 - any record
    """Print a record as JSON, or what ``in_words`` makes of it."""
    if as_json:
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        print_words(in_words(found))


def print_words(text: str) -> None:
    """Print a text: whole into pipes and files, fitted to a terminal's width, in colours where it has some."""
    text = printable_lines(text)
    if is_animated(sys.stdout, os.environ):
        columns = shutil.get_terminal_size().columns
        text = painted(text, columns) if has_colours(sys.stdout, os.environ) else fitted(text, columns)
    click.echo(text, color=True)
