"""`topology --measure` on computers that are not x86-64: its probe has nothing that only one processor understands."""

import subprocess
from pathlib import Path

import pytest

PROBE = Path(__file__).parents[2] / "native" / "probe"
C = ("-std=gnu11", "-fopenmp")


@pytest.mark.parametrize("processor", ["aarch64", "powerpc64le", "riscv64"])
@pytest.mark.parametrize("source", sorted(PROBE.glob("*.c")), ids=lambda path: path.stem)
def test_the_probe_compiles_for_it(source: Path, processor: str) -> None:
    """The headers are those of this computer, whose types have the same sizes."""
    expanded = subprocess.run(["clang", *C, "-E", source], capture_output=True, check=True).stdout
    options = (f"--target={processor}-linux-gnu", *C, "-O2", "-Wall", "-Wextra", "-Werror")
    done = subprocess.run(
        ["clang", *options, "-x", "cpp-output", "-S", "-o", "/dev/null", "-"],
        input=expanded,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"__x86_64__" not in source.read_bytes()
