"""A team goes to its data, or the data come, as costs say; and nobody loses a place or a node's memory."""

from pathlib import Path

import pytest

from tests.preloaded import GCC
from tests.unit_program import check_unit


@pytest.mark.skipif(not GCC, reason="gcc is not installed")
def test_the_cheapest_of_four_is_chosen(tmp_path: Path) -> None:
    check_unit("team_choices.c", "hints/team_choice.c", tmp_path)
