"""Programs that tests run: the shipped examples."""

import subprocess
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def heat_program(folder: Path) -> Path:
    """Build the shipped example with gcc and return its path."""
    program = folder / "heat"
    words = ["gcc", "-O2", "-fopenmp", str(EXAMPLES / "heat.c"), "-o", str(program), "-lm"]
    subprocess.run(words, check=True)
    return program
