"""Old names of options and arguments work for a version, with a line that says the new one."""

import logging

import click
import pytest
from click.testing import CliRunner

from numapredict.collect.terminal.command import Command
from numapredict.collect.terminal.renamed_option import argument_once_option, renamed


@click.command(cls=Command, examples={}, context_settings={"allow_interspersed_args": False})
@argument_once_option("dataset", "--data", metavar="DATASET")
@renamed("-o", "--output", "written", old=["--figure", "--file"], default="a.png", show_default=True)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def drawn(dataset: str, written: str, words: tuple[str, ...]) -> None:
    """Say what it was given."""
    click.echo(f"{dataset} {written} {' '.join(words)}".strip())


def said(*words: str) -> str:
    done = CliRunner().invoke(drawn, words)
    assert done.exit_code == 0, done.output
    return done.stdout.strip()


def test_new_names_work_without_a_line(caplog: pytest.LogCaptureFixture) -> None:
    assert said("-o", "b.svg", "shipped") == "shipped b.svg"
    assert said("--output=b.svg", "shipped", "--figure", "x") == "shipped b.svg --figure x"
    assert said("shipped") == "shipped a.png"
    assert caplog.messages == []


@pytest.mark.parametrize("old", ["--figure", "--file"])
def test_an_old_name_works_with_a_line(old: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert said(old, "b.svg", "shipped") == "shipped b.svg"
    assert caplog.messages == [f"{old} is now -o/--output; the next version will not have the old name"]


def test_an_argument_that_was_an_option(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert said("--data", "shipped") == "shipped a.png"
    assert caplog.messages == ["--data is now DATASET; the next version will not have the old name"]
    assert CliRunner().invoke(drawn, []).exit_code == 2


def test_help_shows_new_names_alone() -> None:
    text = CliRunner().invoke(drawn, ["--help"]).stdout
    assert "--output" in text
    assert "--figure" not in text
    assert "--data " not in text
