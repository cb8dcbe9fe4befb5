"""The programs of the sweeps in timed guests: a dozen codelets, and some that are no codelets, in small sizes."""

import os
from pathlib import Path

from numapredict.collect.campaign.codelets import INITIALISATIONS
from numapredict.collect.program import CODELETS, Program
from tests.benchmarks.programs import compiled

SOURCES = Path(__file__).parents[1] / "guest" / "programs"
SIZE = "tiny"
# Iterations, so that a run takes some tenths of a second in a guest that is a thousand times slower.
ITERATIONS = {
    "stream-triad": 2,
    "memory-set": 3,
    "jacobi-3d-7": 2,
    "line-solve-z": 1,
    "spmv-csr": 2,
    "cg-dot": 3,
    "mg-prolong": 2,
    "fft-transpose": 1,
    "is-ranking": 1,
    "bfs-level": 1,
    "shared-table": 1,
    "pointer-chase": 1,
}
FOREIGN = {
    "steps": ("gcc", "steps.c", ("256", "2")),
    "solver": ("g++", "solver.cpp", ("128", "3")),
    "tiny_regions": ("gcc", "tiny_regions.c", ("32768", "4")),
    "pipeline": ("gcc", "pipeline.c", ("250", "2")),  # no power of two: columns would fall into a few sets of a cache
    "gather": ("gcc", "gather.c", ("32768", "2")),
    "levels": ("gcc", "levels.c", ("256", "2")),
}


def codelets(more: float = 1) -> tuple[Program, ...]:
    """Return each codelet with serial and parallel initialisation; `more` times as many iterations."""
    return tuple(
        Program(
            name=f"{name}.{SIZE}.{how}",
            command=(CODELETS, name, "--size", SIZE, "--init", how, "--iterations", str(round(number * more))),
            group=name,
        )
        for name, number in ITERATIONS.items()
        for how in INITIALISATIONS
    )


def foreign(folder: Path, more: float = 1) -> tuple[Program, ...]:
    """Compile the others into a folder that the PATH then begins with; return each in both initialisations."""
    for compiler, source, _ in FOREIGN.values():
        compiled(SOURCES / source, folder, compiler)
    os.environ["PATH"] = f"{folder.resolve()}:{os.environ['PATH']}"
    return tuple(
        Program(
            name=f"{name}.{how}",
            command=(name, how, size, str(round(int(rounds) * more))),
            group=name,
        )
        for name, (_, _, (size, rounds)) in FOREIGN.items()
        for how in INITIALISATIONS
    )
