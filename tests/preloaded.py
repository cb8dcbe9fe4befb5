"""Builds programs of tests/integration/placement and says what runs them under the whole preload library."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.placing.preload import VARIABLE
from numapredict.native.library import placement_library

SOURCES = Path(__file__).parent / "integration" / "placement"
GCC, CLANG = (shutil.which(name) or "" for name in ("gcc", "clang"))


def built(source: str, folder: Path, compiler: str) -> Path:
    """Compile one of the programs, with OpenMP, and return its path."""
    program = folder / f"{Path(source).stem}-{Path(compiler).name}"
    options = ("-O1", "-fno-builtin", "-fopenmp", "-Wall", "-Wextra", "-Werror")
    subprocess.run([compiler, *options, "-o", program, SOURCES / source, "-lnuma"], check=True)
    return program


def built_by(name: str, source: str, folder: Path) -> Path:
    """Return one of the programs compiled by gcc or clang; skip the test where that is not installed."""
    compiler = {"gcc": GCC, "clang": CLANG}[name]
    if not compiler:
        pytest.skip(f"{name} is not installed")
    return built(source, folder, compiler)


def placed(settings: str, slots: int) -> dict[str, str]:
    """Return the variables of a program under a mapping, as `numapredict run` sets them."""
    return {
        **os.environ,
        "LD_PRELOAD": str(placement_library()),
        VARIABLE: f"version=1;{settings}",
        "OMP_NUM_THREADS": str(slots),
        "OMP_DYNAMIC": "false",
        "OMP_PROC_BIND": "false",
    }
