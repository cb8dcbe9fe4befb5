"""Of a pool's threads those that work have slots of their own, and what is well stays as it is."""

import subprocess
from pathlib import Path

import pytest

from tests.preloaded import GCC

ROOT = Path(__file__).parents[5]
SOURCES = (ROOT / "tests" / "native" / "pool_chosen.c", ROOT / "native" / "placement" / "threads" / "pool_choice.c")


@pytest.mark.skipif(not GCC, reason="gcc is not installed")
def test_threads_that_work_have_slots_of_their_own(tmp_path: Path) -> None:
    program = tmp_path / "pool_chosen"
    options = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", str(ROOT / "native" / "placement"))
    subprocess.run([GCC, *options, "-o", program, *SOURCES], check=True)
    done = subprocess.run([program], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
