"""Runs held_by.c, random ranges of pages, with the address and undefined-behaviour sanitizers."""

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TRACER = Path(__file__).parents[4] / "native" / "tracer"
GCC = shutil.which("gcc") or ""


@pytest.mark.skipif(not GCC, reason="gcc is not installed")
def test_the_latest_range_holds_a_page(tmp_path: Path) -> None:
    program = tmp_path / "checks"
    options = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-fsanitize=address,undefined"]
    sources = [HERE / "held_by.c", TRACER / "held_by.c"]
    subprocess.run([GCC, *options, "-fno-sanitize-recover=all", f"-I{TRACER}", "-o", program, *sources], check=True)
    for seed in range(1, 6):
        finished = subprocess.run([program, str(seed)], capture_output=True, text=True, check=False)
        assert finished.returncode == 0, finished.stderr
