"""Runs bandwidth.c for teams of several sizes, with the undefined-behaviour sanitizer."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROBE = Path(__file__).parents[4] / "native" / "probe"
GCC = shutil.which("gcc") or ""


@pytest.mark.skipif(not GCC, reason="gcc is not installed")
def test_each_thread_has_whole_lines_in_teams_of_every_size(tmp_path: Path) -> None:
    program = tmp_path / "checks"
    options = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fopenmp", "-fsanitize=undefined"]
    sources = [HERE / "bandwidth.c", *(PROBE / f"{name}.c" for name in ("bandwidth", "pages", "probe"))]
    libraries = ["-fno-sanitize-recover=all", f"-I{PROBE}", "-lnuma", "-o", program]
    subprocess.run([GCC, *options, *sources, *libraries], check=True)
    words = [program, str(min(os.sched_getaffinity(0)))]
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}  # all threads have one PU
    finished = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
