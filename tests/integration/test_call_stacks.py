"""The library's call stacks: as the C library's own, for what compilers make of functions; broken ones do no harm.

On C libraries without _dl_find_object (before 2.35) a table of the loaded modules answers; a name that no C library has
makes it answer here, too.
"""

import platform
import subprocess
from pathlib import Path

import pytest

from tests.openmp import CLANG, GCC

SOURCES = Path(__file__).parents[2]
NATIVE = SOURCES / "native" / "placement"
PARTS = ("stack/call_stack", "stack/frame_rules", "process/loaded_module", "process/system")
OLDER = ('-DLOADER_FUNCTION="none"',)

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not NATIVE.is_dir(), reason="the C sources are missing"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the test sets registers by their x86-64 names"),
]


def build(compiler: str, test: str, parts: tuple[str, ...], options: tuple[str, ...], program: Path) -> None:
    if not compiler:
        pytest.skip("no compiler")
    sources = [SOURCES / f"tests/native/{test}.c", *(NATIVE / f"{part}.c" for part in parts)]
    words = [compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", *options, f"-I{NATIVE}", *map(str, sources)]
    subprocess.run([*words, "-o", str(program)], check=True)


@pytest.mark.parametrize("loader", [(), OLDER], ids=["loader", "table"])
@pytest.mark.parametrize("optimised", ["-O0", "-O2"])
@pytest.mark.parametrize("compiler", [GCC, CLANG])
def test_stacks_are_those_of_the_c_library(
    compiler: str, optimised: str, loader: tuple[str, ...], tmp_path: Path
) -> None:
    build(compiler, "call_stacks", PARTS, (optimised, *loader), tmp_path / "stacks")
    subprocess.run([tmp_path / "stacks"], check=True, timeout=120)


@pytest.mark.parametrize("loader", [(), OLDER], ids=["loader", "table"])
def test_modules_are_found_also_after_others_come_and_go(loader: tuple[str, ...], tmp_path: Path) -> None:
    build(GCC, "loaded_module", PARTS[2:], ("-O1", *loader), tmp_path / "modules")
    (tmp_path / "late.c").write_text("int here(void) { return 1; }\n")
    late = tmp_path / "late.so"
    subprocess.run([GCC, "-shared", "-fPIC", tmp_path / "late.c", "-o", late], check=True)
    subprocess.run([tmp_path / "modules", late, "here"], check=True, timeout=60)
