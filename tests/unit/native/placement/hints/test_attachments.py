"""Each page of a buffer is of one chunk, and of what is attached the latest counts."""

from pathlib import Path

import pytest

from tests.preloaded import GCC
from tests.unit_program import check_unit


@pytest.mark.skipif(not GCC, reason="gcc is not installed")
def test_chunks_share_out_pages_and_the_latest_attachment_counts(tmp_path: Path) -> None:
    check_unit("attached_pages.c", "hints/attachments.c", tmp_path)
