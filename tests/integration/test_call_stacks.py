"""The library's call stacks: as the C library's own, for what compilers make of functions; broken ones do no harm."""

import platform
import subprocess
from pathlib import Path

import pytest

from tests.openmp import CLANG, GCC

SOURCES = Path(__file__).parents[2]
NATIVE = SOURCES / "native" / "placement"
PARTS = ("stack/call_stack", "stack/frame_rules", "process/system")

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not NATIVE.is_dir(), reason="the C sources are missing"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the test sets registers by their x86-64 names"),
]


@pytest.mark.parametrize("optimised", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", [GCC, CLANG])
def test_stacks_are_those_of_the_c_library(compiler: str, optimised: str, tmp_path: Path) -> None:
    if not compiler:
        pytest.skip("no compiler")
    sources = [SOURCES / "tests/native/call_stacks.c", *(NATIVE / f"{part}.c" for part in PARTS)]
    words = [compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", optimised, f"-I{NATIVE}", *map(str, sources)]
    subprocess.run([*words, "-o", str(tmp_path / "stacks")], check=True)
    subprocess.run([tmp_path / "stacks"], check=True, timeout=120)
