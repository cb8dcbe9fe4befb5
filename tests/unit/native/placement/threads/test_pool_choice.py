"""Of a pool's threads those that work have slots of their own, and what is well stays as it is."""

from pathlib import Path

import pytest

from tests.preloaded import GCC
from tests.unit_program import check_unit


@pytest.mark.skipif(not GCC, reason="gcc is not installed")
def test_threads_that_work_have_slots_of_their_own(tmp_path: Path) -> None:
    check_unit("pool_chosen.c", "threads/pool_choice.c", tmp_path)
