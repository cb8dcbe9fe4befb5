"""Queued pages are moved in batches, by the thread whose queue is full or whose share has ended."""

import subprocess
from pathlib import Path

import pytest

from tests.preloaded import GCC

ROOT = Path(__file__).parents[5]
SOURCES = (ROOT / "tests" / "native" / "moves_queued.c", ROOT / "native" / "placement" / "policy" / "moves.c")


@pytest.mark.skipif(not GCC, reason="gcc is not installed")
def test_a_queue_is_moved_when_it_has_many_blocks_or_many_pages(tmp_path: Path) -> None:
    program = tmp_path / "moves_queued"
    options = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", str(ROOT / "native" / "placement"))
    subprocess.run([GCC, *options, "-o", program, *SOURCES], check=True)
    done = subprocess.run([program], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
