"""Programs of tests/native that call one unit of the preload library, and say on standard error what is wrong."""

import subprocess
from pathlib import Path

from tests.preloaded import GCC

ROOT = Path(__file__).parents[1]


def check_unit(program: str, unit: str, folder: Path) -> None:
    """Compile a program with a unit (a path below native/placement), and assert that it finds nothing wrong."""
    made, placement = folder / Path(program).stem, ROOT / "native" / "placement"
    options = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I", str(placement))
    sources = (ROOT / "tests" / "native" / program, placement / unit)
    subprocess.run([GCC, *options, "-o", made, *sources], check=True)
    done = subprocess.run([made], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
