"""Replays see who touches which page of the program, and leave it as it was."""

import re
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
    capture, placement = ROOT / "native" / "capture", ROOT / "native" / "placement"
    options = ("-std=gnu11", "-g", "-O2", "-Wall", "-Wextra", "-Werror", "-I", capture, "-I", placement)
    sources, library, program = ROOT / "tests" / "native", tmp_path / "libseen.so", tmp_path / "touches"
    arrays = re.search(r"add_library\(numaarrays OBJECT([^)]*)\)", (placement / "CMakeLists.txt").read_text())
    assert arrays
    own = [capture / name for name in ("mappings.c", "copies.c", "chunks.c")]
    own += [placement / name for name in ("memory/huge.c", *arrays[1].split())]
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
