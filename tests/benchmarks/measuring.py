"""What measuring costs a program: counters on it, all of a counted measurement, the looks at the computer around it."""

import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import click

from numapredict.collect.measuring.disturbance import snapshot
from numapredict.collect.placing.launcher import LaunchedEvent, Launching, launcher_command
from numapredict.native.library import placement_library
from tests.benchmarks.figures import Figure, ratios, show
from tests.benchmarks.programs import HERE, compiled

THREADS = 2
SOFTWARE = 1  # PERF_TYPE_SOFTWARE: what can be counted on every computer
FAULTS, SWITCHES, MIGRATIONS, DUMMY = 2, 3, 4, 9  # linux/perf_event.h


def events(cpus: list[int]) -> tuple[LaunchedEvent, ...]:
    """Return four events a PU, as many as perf's own counting of local and remote accesses opens."""
    numbers = {"faults": FAULTS, "switches": SWITCHES, "migrations": MIGRATIONS, "dummy": DUMMY}
    return tuple(LaunchedEvent(name, SOFTWARE, (number, 0, 0), tuple(cpus)) for name, number in numbers.items())


def iteration_s(command: tuple[str, ...], times: Path, environment: dict[str, str]) -> float:
    """Run the program and return the median wall time of an iteration by its own clock; the first does not count."""
    subprocess.run(command, check=True, env=environment)
    lines = [line.split() for line in times.read_text().splitlines()[1:]]
    return statistics.median(float(line[0]) for line in lines if line)


@click.command()
@click.option("--rounds", default=7, show_default=True)
@click.option("--elements", default=10_000_000, show_default=True, help="Of each of the triad's three arrays.")
@click.option("--iterations", default=40, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(rounds: int, elements: int, iterations: int, as_json: bool) -> None:
    """Measure what the launcher's counters and the region clock cost STREAM's triad, and what a look costs."""
    cpus = sorted(os.sched_getaffinity(0))
    slots = ",".join(str(cpus[slot % len(cpus)]) for slot in range(THREADS))
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        folder = Path(name)
        times = folder / "times"
        command = (str(compiled(HERE / "triad.c", folder)), str(elements), str(iterations), str(times))
        plain = {**os.environ, "OMP_NUM_THREADS": str(THREADS), "OMP_WAIT_POLICY": "passive"}
        text = f"version=1;cpus={slots};homes=0*{THREADS};threads=contiguous;pages=first-touch;nodes=0"
        placed = {"LD_PRELOAD": str(placement_library()), "NUMAPLACE": f"{text};report={folder / 'regions'}"}
        launching = Launching(events(cpus), folder / "counts")
        bare, counted, measured = [], [], []
        for _ in range(rounds):
            bare.append(iteration_s(command, times, plain))
            counted.append(iteration_s(launcher_command(command, {}, launching), times, plain))
            measured.append(iteration_s(launcher_command(command, placed, launching), times, plain))
        looks, starts = [], []
        for _ in range(rounds):
            began = time.perf_counter()
            for _ in range(100):
                snapshot(cpus)
            looks.append((time.perf_counter() - began) * 1e4)
            began = time.perf_counter()
            for _ in range(20):
                subprocess.run(["true"], check=True)
            alone = time.perf_counter() - began
            began = time.perf_counter()
            for _ in range(20):
                subprocess.run(launcher_command(("true",), {}, launching), check=True)
            starts.append((time.perf_counter() - began - alone) / 20 * 1e3)
    show(
        (
            ratios("STREAM triad, 2 threads: counted over bare", counted, bare),
            ratios("counted, placed and region clock over bare", measured, bare),
            Figure("one look at the computer", "us", tuple(looks)),
            Figure("start and end of the counters", "ms", tuple(starts)),
        ),
        as_json=as_json,
    )


if __name__ == "__main__":
    main()
