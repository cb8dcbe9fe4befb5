import shutil
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.symbols import function_at

SOURCE = "static int a(int x) { return x + 1; }\nint (*volatile f)(int) = a;\nint main(void) { return f(-1); }\n"
needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")


def compiled(folder: Path, *options: str) -> Path:
    (folder / "a.c").write_text(SOURCE)
    program = folder / "a"
    subprocess.run(["gcc", *options, "-o", program, folder / "a.c"], check=True)
    return program


def value_of(program: Path, name: str) -> int:
    text = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    return next(int(line.split()[0], 16) for line in text.splitlines() if line.split()[-1] == name)


@needs_gcc
@pytest.mark.parametrize(("options", "base"), [(("-pie", "-fPIE"), 0), (("-no-pie",), 0x400000)])
def test_static_and_global_functions_are_named(tmp_path: Path, options: tuple[str, ...], base: int) -> None:
    program = compiled(tmp_path, *options)
    for name in ("a", "main"):
        assert function_at(str(program), value_of(program, name) - base) == name
    assert function_at(str(program), value_of(program, "main") - base + 1) is None
    assert function_at(str(program), -base) is None  # where functions of other modules seem to be, at address 0


@needs_gcc
def test_a_program_that_was_built_anew_is_read_anew(tmp_path: Path) -> None:
    program = compiled(tmp_path, "-no-pie", "-O0")
    before = value_of(program, "main") - 0x400000
    assert function_at(str(program), before) == "main"
    subprocess.run(["strip", program], check=True)
    assert function_at(str(program), before) is None


def test_what_is_no_program_has_no_names(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    (tmp_path / "torn").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(20))
    for path in ("", str(tmp_path / "text"), str(tmp_path / "torn"), str(tmp_path / "none"), str(tmp_path)):
        assert function_at(path, 0) is None
