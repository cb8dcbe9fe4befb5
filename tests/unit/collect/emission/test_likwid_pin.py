import shutil
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from numapredict.collect.emission.likwid_pin import unsplit


def test_plain_words_stay_as_they_are() -> None:
    assert unsplit(("./app", "-n", "$HOME", "it's")) == ("./app", "-n", "$HOME", "it's")


@settings(max_examples=30, deadline=None)
@example(["$HOME", "${HOME}", "it's", 'say "x"', "back\\slash", "#no", "\\_", "tab\tnew\nline", ""])
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=8), max_size=5))
def test_env_makes_the_same_words_of_one_without_white_space(words: list[str]) -> None:
    (*_, last) = command = unsplit(("printf", "%s|", "a b", *words))
    assert command[0] == "env"
    assert not set(last) & set(" \t\n\v\f\r")
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout.decode() == "".join(f"{word}|" for word in ("a b", *words))


@pytest.mark.skipif(not shutil.which("likwid-pin"), reason="likwid-pin is not installed")
def test_likwid_pin_splits_words_without_it() -> None:
    """Should this fail, likwid-pin has learned to keep words whole, and `unsplit` can go."""
    show = ["printf", "<%s>", "a b"]
    pin = ["likwid-pin", "-q", "-c", "0"]
    split = subprocess.run([*pin, *show], capture_output=True, text=True, check=True).stdout
    whole = subprocess.run([*pin, *unsplit(tuple(show))], capture_output=True, text=True, check=True).stdout
    assert split.endswith("<a><b>")
    assert whole.endswith("<a b>")
