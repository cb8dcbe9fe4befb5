"""What a plan for the regions of a program gains over each one mapping for all of them, by the program's own clock.

The program has a region that scales and one that is faster on one thread. The runs under the plan, under every number
of threads and as it is are in turn, and ratios are taken within a round.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import click

from tests.benchmarks.figures import Figure, ratios, show
from tests.benchmarks.programs import HERE, compiled, numapredict

STEPS = "100"


def seconds(command: list[str]) -> float:
    """Return the seconds that a run says."""
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(compiler: str, folder: Path, rounds: int) -> tuple[Figure, ...]:
    """Return the figures of the program as one compiler makes it."""
    folder = folder / compiler
    folder.mkdir()
    program, plan = compiled(HERE / "phases.c", folder, compiler), folder / "plan"
    command = [str(program), STEPS]
    words = [*numapredict(), "regions", "--plan", str(plan), "-o", str(folder / "answer"), *command]
    subprocess.run(words, check=True, capture_output=True)
    found = json.loads((folder / "answer").read_text())
    if found["plan"] is None:
        return (Figure(f"{compiler}: no plan was worth it", "", (0.0,)),)
    one = found["plan"]["one_mapping"]
    labels = {f"{threads}x1-contiguous-bind" for threads in range(1, len(os.sched_getaffinity(0)) + 1)} | {one}
    ways = {
        "the plan": [*numapredict(), "run", "--plan", str(plan), "--", *command],
        **{label: [*numapredict(), "run", "--mapping", label, "--", *command] for label in sorted(labels)},
        "no library": command,
    }
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, its in ways.items():
            times[way].append(seconds(its))
    expected = found["plan"]["speedup"] / found["plan"]["one_speedup"]
    return (
        Figure(f"{compiler}: promised over {one}", "times", (expected,)),
        *(
            ratios(f"{compiler}: {way} over the plan", of_way, times["the plan"], "above 1" if "x" in way else "")
            for way, of_way in times.items()
            if way != "the plan"
        ),
    )


@click.command()
@click.option("--rounds", default=11, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(rounds: int, as_json: bool) -> None:
    """Plan a program of two regions with gcc and clang, and compare the plan with one mapping for all."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        for compiler in filter(shutil.which, ("gcc", "clang")):
            figures += measure(compiler, Path(name), rounds)
    show(figures, as_json=as_json)


if __name__ == "__main__":
    main()
