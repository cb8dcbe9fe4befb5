"""What the region clock costs: an empty parallel region with it, with the library alone, and without either."""

import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import click

from numapredict.native.library import marks_library
from tests.benchmarks.figures import Figure, show
from tests.benchmarks.programs import HERE, compiled

TURNS = 21


def region_ns(program: Path, threads: int, **environment: str) -> float:
    """Return the time of an empty region, that of its fastest batch."""
    done = subprocess.run(
        [str(program), str(threads)], check=True, capture_output=True, text=True, env={**os.environ, **environment}
    )
    return float(done.stdout)


def measure(compiler: str, folder: Path, threads: int, rounds: int) -> tuple[Figure, ...]:
    """Return the cost of the clock and of the library alone.

    A round runs the three in turn many times and takes the lower quartile of each, then their differences: a computer
    that is busy only adds, and two threads have a fast way to meet that a process seldom falls into.
    """
    (folder / compiler).mkdir(exist_ok=True)
    program = compiled(HERE / "empty_region.c", folder / compiler, compiler)
    preload, file = {"LD_PRELOAD": str(marks_library())}, folder / "regions"
    bare, passed, clocked = [], [], []
    for _ in range(rounds):
        times: tuple[list[float], ...] = ([], [], [])
        for _ in range(TURNS):
            file.unlink(missing_ok=True)
            for n, environment in enumerate(({}, preload, {**preload, "NUMAPREDICT_CENSUS": str(file)})):
                times[n].append(region_ns(program, threads, **environment))
        for values, of_round in zip((bare, passed, clocked), times, strict=True):
            values.append(statistics.quantiles(of_round, n=4)[0])
    what = f"{compiler}, {threads} thread{'s' if threads > 1 else ''}"
    return (
        Figure(f"{what}: an empty region", "ns", tuple(bare)),
        Figure(f"{what}: the library adds", "ns", tuple(a - b for a, b in zip(passed, bare, strict=True))),
        Figure(
            f"{what}: with the clock it adds",
            "ns",
            tuple(a - b for a, b in zip(clocked, bare, strict=True)),
            "at most 100",
        ),
    )


@click.command()
@click.option("--rounds", default=5, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(rounds: int, as_json: bool) -> None:
    """Measure the region clock with gcc and clang, with one thread and two."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        for compiler in filter(shutil.which, ("gcc", "clang")):
            for threads in (1, 2):
                figures += measure(compiler, Path(name), threads, rounds)
    show(figures, as_json=as_json)


if __name__ == "__main__":
    main()
