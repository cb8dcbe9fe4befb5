import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from numapredict.collect.placing.tools.likwid_pin import unsplit


def test_plain_words_stay_as_they_are() -> None:
    command = ("./app", "-n", "$HOME", "back\\slash", "*", "#no")
    assert unsplit(command) == ((), command)
    for letter in " \t\n\v\f\r\"'":
        assert unsplit(("./app", f"a{letter}b"))[0] == (("NUMAPREDICT_WORD_1", f"a{letter}b"),)


def test_a_program_in_a_folder_with_an_equals_sign_is_no_variable(tmp_path: Path) -> None:
    program = tmp_path / "n=512"
    program.write_text('#!/bin/sh\nprintf "<%s>" "$0" "$@"\n')
    program.chmod(0o755)
    variables, command = unsplit(("./n=512", "a b"))
    own = {**os.environ, **dict(variables)}
    done = subprocess.run(command, env=own, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "<./n=512><a b>"


@settings(max_examples=30)
@example(["$HOME", "${HOME}", "it's", 'say "x"', "back\\slash", "#no", "\\_", "tab\tnew\nline", ""])
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=8), max_size=5))
def test_env_makes_the_same_words_of_one_without_white_space_and_quotes(words: list[str]) -> None:
    variables, command = unsplit(("printf", "%s|", "a b", *words))
    assert command[0] == "env"
    assert not set("".join(command)) & set(" \t\n\v\f\r\"'")
    done = subprocess.run(command, env={**os.environ, **dict(variables)}, capture_output=True, check=True)
    assert done.stdout.decode() == "".join(f"{word}|" for word in ("a b", *words))


def test_the_program_sees_none_of_the_variables() -> None:
    variables, command = unsplit(("env", "-u", "not there", "-u", "nor this"))
    assert len(variables) == 2
    done = subprocess.run(command, env={**os.environ, **dict(variables)}, capture_output=True, text=True, check=True)
    assert "NUMAPREDICT_WORD" not in done.stdout


@pytest.mark.skipif(not shutil.which("likwid-pin"), reason="likwid-pin is not installed")
@pytest.mark.parametrize("words", [("a b",), ('x"a"y', "z"), ("it's", "", "a\tb"), ("$HOME", 'say "x y"')])
def test_likwid_pin_takes_words_apart_and_these_not(words: tuple[str, ...]) -> None:
    """Should the first fail, likwid-pin has learned to keep words whole, and `unsplit` can go."""
    pin = ["likwid-pin", "-q", "-c", "0"]
    apart = subprocess.run([*pin, "printf", "<%s>", "a b"], capture_output=True, text=True, check=True).stdout
    assert not apart.endswith("<a b>")
    variables, command = unsplit(("printf", "<%s>", *words))
    own = {**os.environ, **dict(variables)}
    whole = subprocess.run([*pin, *command], env=own, capture_output=True, text=True, check=True).stdout
    assert whole.endswith("".join(f"<{word}>" for word in words))
