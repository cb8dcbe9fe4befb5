"""Names that would steer a terminal are shown; commands made of them can be copied."""

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numapredict.collect.terminal.printable import (
    NAME_COLUMNS,
    command_line,
    counted,
    name_cell,
    printable,
    printable_lines,
    shortened,
)


def test_what_steers_a_terminal_is_shown_as_repr_does() -> None:
    wild = "red\x1b[31m\x07\u202e\u2066\u200f\x9b\n\t\u2028\udcff é ß ｶ"
    assert printable(wild) == r"red\x1b[31m\x07\u202e\u2066\u200f\x9b\n\t\u2028\udcff é ß ｶ"
    assert printable_lines("one\ntwo\r") == "one\ntwo\\r"


@given(st.text())
def test_everything_becomes_printable_and_what_is_stays(text: str) -> None:
    assert printable(text).isprintable()
    assert printable(printable(text)) == printable(text)
    if text.isprintable():
        assert printable(text) == text


@given(st.text(), st.integers(1, 80))
def test_what_is_shortened_keeps_both_ends(text: str, most: int) -> None:
    short = shortened(text, most)
    if len(text) <= most:
        assert short == text
        return
    assert len(short) == most
    head, tail = short.split("…", 1) if "…" not in text else (text[: most // 2], text[len(text) - (most - 1) // 2 :])
    assert text.startswith(head)
    assert text.endswith(tail)
    assert abs(len(head) - len(tail)) <= 1


def test_a_name_in_a_table_is_one_line_and_no_wider_than_a_column() -> None:
    assert name_cell("a\nb") == r"a\nb"
    assert len(name_cell("x" * 300 + "\x1b")) == NAME_COLUMNS
    assert name_cell("x" * 300 + "\x1b").endswith(r"x\x1b")


@pytest.mark.parametrize("shell", ["sh", "bash"])
@given(st.lists(st.text(alphabet=st.sampled_from("ab '\"\\$%-`!\x1b\n\u202eé\udcff9"), max_size=8), max_size=4))
@settings(max_examples=50)
def test_a_copied_command_is_the_command(shell: str, words: list[str]) -> None:
    text = command_line(words)
    assert text.isprintable()
    said = subprocess.run(
        [shell, "-c", f"for w in {text}; do printf '%s\\0' \"$w\"; done"], capture_output=True, check=True
    )
    assert said.stdout == b"".join(os.fsencode(word) + b"\0" for word in words)


def test_one_is_no_plural() -> None:
    assert [counted(number, "run") for number in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]
