"""Programs that tests run: the shipped examples."""

import subprocess
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def example_program(folder: Path, name: str = "heat", compiler: str = "gcc") -> Path:
    """Build a shipped example as its users do, and return its path."""
    program = folder / name
    subprocess.run([compiler, "-O2", "-fopenmp", EXAMPLES / f"{name}.c", "-o", program, "-lm"], check=True)
    return program
