"""Queued pages are moved in batches, by the thread whose queue is full or whose share has ended."""

from pathlib import Path

import pytest

from tests.preloaded import GCC
from tests.unit_program import check_unit


@pytest.mark.skipif(not GCC, reason="gcc is not installed")
def test_a_queue_is_moved_when_it_has_many_blocks_or_many_pages(tmp_path: Path) -> None:
    check_unit("moves_queued.c", "policy/moves.c", tmp_path)
