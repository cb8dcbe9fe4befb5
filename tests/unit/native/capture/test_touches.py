"""Replays see who touches which page of the program, and leave it as it was."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests.openmp import CLANG, GCC

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("compiler", [GCC, CLANG])
def test_touches_are_noted_and_the_memory_is_open_again(compiler: str | None, tmp_path: Path) -> None:
    if not compiler:
        pytest.skip("gcc or clang is not installed")
    options = ("-std=gnu11", "-g", "-O2", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "native" / "capture")
    sources, library, program = ROOT / "tests" / "native", tmp_path / "libseen.so", tmp_path / "touches"
    own = [ROOT / "native" / "capture" / name for name in ("mappings.c", "copies.c", "text_file.c")]
    subprocess.run(
        [compiler, *options, "-shared", "-fPIC", "-o", library, sources / "touches_seen.c", *own, "-pthread"],
        check=True,
    )
    linked = ("-pthread", library, f"-Wl,-rpath,{tmp_path}")
    subprocess.run([compiler, *options, "-o", program, sources / "touches.c", *linked], check=True)
    for words in ([], ["nowhere"]):
        done = subprocess.run([program, *words], check=False, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
    assert subprocess.run([program, "fault"], check=False, capture_output=True).returncode == -signal.SIGSEGV
