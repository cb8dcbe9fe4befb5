"""What tracing costs: STREAM's triad traced against native, and the memory that a large traced program takes."""

import multiprocessing
import os
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

import click
import msgspec

from numapredict.collect.modelled.description import load_description
from numapredict.collect.modelled.tracing import TraceBudget, take_census, take_trace
from numapredict.collect.placing.census import parse_census
from numapredict.collect.program import Program, program_of
from tests.benchmarks.figures import Figure, ratios, show
from tests.benchmarks.programs import HERE, compiled

MACHINE = "sandybridge-4x8"
TIMES = "times.txt"
# Every instance of every region, for as long as it takes: the tracer never rests in what is timed.
EVERYTHING = TraceBudget(census_s=120.0, trace_s=600.0, instances=10**9)
PATIENT = TraceBudget(census_s=120.0, trace_s=300.0)
GIB_ELEMENTS = 2**30 // 24


def triad(folder: Path, elements: int, iterations: int) -> Program:
    """Return STREAM's triad, which leaves its times in the folder."""
    program = str(compiled(HERE / "triad.c", folder))
    return program_of((program, str(elements), str(iterations), str(folder / TIMES)))


def native(program: Program, threads: int) -> None:
    """Run the program as it is, waiting patiently as the traced one does, so that waiting is no processor time."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    subprocess.run(program.command, check=True, env=environment)


def traced(program: Program, threads: int, census: bytes, budget: TraceBudget) -> None:
    """Run the program under the tracer."""
    regions = parse_census(census)
    if regions is None:
        raise click.ClickException("the census is empty")
    take_trace(program, threads, load_description(MACHINE), regions, budget)


def iteration_ns(folder: Path) -> tuple[float, float]:
    """Return the median wall and processor time of an iteration, an element; the first, a warm-up, does not count."""
    lines = [line.split() for line in (folder / TIMES).read_text().splitlines()[1:]]
    return statistics.median(float(line[0]) for line in lines), statistics.median(float(line[1]) for line in lines)


def slowdown(elements: int, iterations: int, rounds: int) -> tuple[Figure, ...]:
    """Return traced over native time of a triad with two threads, by the clock and in processor time."""
    native_ns, traced_ns = [], []
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        folder = Path(name)
        program = triad(folder, elements, iterations)
        census = take_census(program, EVERYTHING)
        for _ in range(rounds):
            native(program, 2)
            native_ns.append(iteration_ns(folder))
            traced(program, 2, census, EVERYTHING)
            traced_ns.append(iteration_ns(folder))
    (native_wall, native_processor), (wall, processor) = zip(*native_ns, strict=True), zip(*traced_ns, strict=True)
    return (
        ratios("STREAM triad, 2 threads: traced over native", wall, native_wall, "at most 25"),
        ratios("the same in processor time", processor, native_processor),
        Figure("an element natively", "ns", native_wall),
        Figure("an element traced", "ns", wall),
    )


def _peak_bytes(work: str, program: Program, threads: int, census: bytes, budget: bytes) -> int:
    """Return the most memory that a process started here held; runs in a process of its own."""
    if work == "native":
        native(program, threads)
    else:
        traced(program, threads, census, msgspec.json.decode(budget, type=TraceBudget))
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def memory(elements: int, threads: int) -> tuple[Figure, ...]:
    """Return the most memory of a program native and traced, and what tracing adds."""
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        program = triad(Path(name), elements, 4)
        census = take_census(program, PATIENT)
        peak_GB = {}
        for work in ("native", "traced"):
            # A fresh process each: the kernel keeps one peak for all that a process has started.
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                arguments = (work, program, threads, census, msgspec.json.encode(PATIENT))
                peak_GB[work] = pool.apply(_peak_bytes, arguments) / 1e9
    text = f"triad, {threads} threads, {elements * 24 / 1e9:.2g} GB"
    return (
        Figure(f"{text}: native peak", "GB", (peak_GB["native"],)),
        Figure(f"{text}: traced peak", "GB", (peak_GB["traced"],)),
        Figure(f"{text}: added", "GB", (peak_GB["traced"] - peak_GB["native"],), "below 1"),
    )


@click.command()
@click.option("--rounds", default=5, show_default=True)
@click.option("--elements", default=4_000_000, show_default=True, help="Of each of the three arrays, when timed.")
@click.option("--iterations", default=20, show_default=True)
@click.option("--large", default=GIB_ELEMENTS, show_default=True, help="Elements when memory is measured.")
@click.option("--threads", default=32, show_default=True, help="When memory is measured.")
@click.option("--json", "as_json", is_flag=True)
def main(rounds: int, elements: int, iterations: int, large: int, threads: int, as_json: bool) -> None:
    """Measure what tracing costs in time and memory."""
    show((*slowdown(elements, iterations, rounds), *memory(large, threads)), as_json=as_json)


if __name__ == "__main__":
    main()
