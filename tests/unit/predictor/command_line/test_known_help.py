import os
import shutil

import click
import pytest

from numapredict.predictor.command_line import known_help as module
from numapredict.predictor.command_line.commands import commands
from numapredict.predictor.command_line.help_page import FILE, help_page, help_text
from numapredict.predictor.command_line.help_text import COMMANDS
from numapredict.predictor.command_line.known_help import columns, known_help
from numapredict.predictor.command_line.registry import GROUP, registered

ADVICE = "a help text has changed: python -m numapredict.predictor.command_line.help_page"


@pytest.fixture(autouse=True)
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(os, "get_terminal_size", _none)


def _none(_descriptor: int) -> os.terminal_size:
    raise OSError("no terminal")


def test_the_text_is_what_click_says() -> None:
    assert FILE.read_text() == help_page(), ADVICE
    assert known_help(["--help"]) == help_text() + "\n"


@pytest.mark.parametrize("wide", [40, 79, 80, 81, 120, 500])
def test_it_is_what_click_says_on_every_terminal_or_click_is_asked(wide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(wide))
    text = known_help(["--help"])
    assert bool(text) == (wide >= 80)
    if text:
        assert text == click.Context(commands, info_name="numapredict").get_help() + "\n", ADVICE


@pytest.mark.parametrize("wanted", ["", "0", "-3", "many", "81"])
def test_columns_are_those_that_python_finds(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", wanted)
    assert columns() == shutil.get_terminal_size().columns
    monkeypatch.setattr(os, "get_terminal_size", lambda _descriptor: os.terminal_size((0, 0)))
    assert columns() == shutil.get_terminal_size().columns
    monkeypatch.setattr(os, "get_terminal_size", lambda _descriptor: os.terminal_size((61, 20)))
    assert columns() == shutil.get_terminal_size().columns


def test_other_words_and_a_shell_that_completes_are_clicks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert known_help([]) == known_help(["-q", "--help"]) == known_help(["train", "--help"]) == ""
    monkeypatch.setenv("_NUMAPREDICT_COMPLETE", "bash_complete")
    assert known_help(["--help"]) == ""


@pytest.mark.parametrize("change", [{"more": "another.package:more"}, {"train": "another.package:train"}])
def test_with_other_commands_click_is_asked(change: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert sorted(registered(GROUP).values()) == list(COMMANDS)
    there = registered(GROUP)
    monkeypatch.setattr(module, "registered", lambda _group: there | change)
    assert known_help(["--help"]) == ""
