"""What the page-access profile costs: triad, a pointer chase and short-lived blocks with it, over the same without."""

import os
import statistics
import subprocess
import tempfile
from pathlib import Path

import click

from numapredict.collect.placing.profile_file import read_profile
from numapredict.native.library import placement_library
from tests.benchmarks.figures import Figure, ratios, show
from tests.benchmarks.programs import HERE, compiled

GOAL = "at most 1.03"
THREADS = 2
BLOCKS = 20_000  # that a thread allocates in an iteration


def run(command: list[str], folder: Path, *, profiled: bool) -> tuple[float, float]:
    """Run the program and return the median wall and processor time of an iteration; the first does not count."""
    cpus = sorted(os.sched_getaffinity(0))
    slots = ",".join(str(cpus[slot % len(cpus)]) for slot in range(THREADS))
    text = f"version=1;cpus={slots};homes=0*{THREADS};threads=contiguous;pages=first-touch;nodes=0"
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(THREADS),
        "OMP_WAIT_POLICY": "passive",
        "LD_PRELOAD": str(placement_library()),
        "NUMAPLACE": f"{text};profile={folder / 'profile'}" if profiled else text,
    }
    (folder / "profile").unlink(missing_ok=True)  # a run replaces no other one's
    subprocess.run(command, check=True, env=environment)
    lines = [line.split() for line in (folder / "times").read_text().splitlines()[1:]]
    pairs = [(float(line[0]), float(line[1])) for line in lines if len(line) == 2]
    return statistics.median(wall for wall, _ in pairs), statistics.median(processor for _, processor in pairs)


def cost(name: str, command: list[str], folder: Path, rounds: int) -> tuple[Figure, ...]:
    """Return the ratios of one program, run in turn with and without a profile, and what the profile saw."""
    plain, profiled, touched = [], [], []
    for _ in range(rounds):
        plain.append(run(command, folder, profiled=False))
        profiled.append(run(command, folder, profiled=True))
        touched.append(float(read_profile(folder / "profile").touched))
    (plain_wall, plain_processor), (wall, processor) = zip(*plain, strict=True), zip(*profiled, strict=True)
    return (
        ratios(f"{name}: profiled over plain", wall, plain_wall, GOAL),
        ratios("the same in processor time", processor, plain_processor),
        Figure("touches seen", "", tuple(touched)),
    )


@click.command()
@click.option("--rounds", default=7, show_default=True)
@click.option("--elements", default=20_000_000, show_default=True, help="Of each of the triad's three arrays.")
@click.option("--iterations", default=40, show_default=True)
@click.option("--chased", default=64 << 20, show_default=True, help="Bytes that each thread follows a cycle through.")
@click.option("--steps", default=1_000_000, show_default=True, help="Of an iteration of the chase.")
@click.option("--json", "as_json", is_flag=True)
def main(rounds: int, elements: int, iterations: int, chased: int, steps: int, as_json: bool) -> None:
    """Measure what the profile costs three programs, the second in small and in huge pages."""
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        folder = Path(name)
        times = str(folder / "times")
        triad = [str(compiled(HERE / "triad.c", folder)), str(elements), str(iterations), times]
        chase = [str(compiled(HERE / "chase.c", folder)), str(chased), str(steps), str(iterations), times]
        lived = [str(compiled(HERE / "short_lived.c", folder)), str(BLOCKS), str(iterations // 4), times]
        show(
            (
                *cost("STREAM triad, 2 threads", triad, folder, rounds),
                *cost("pointer chase, 2 threads", chase, folder, rounds),
                *cost("pointer chase in huge pages", [*chase, "huge"], folder, rounds),
                *cost("short-lived blocks, 2 threads", lived, folder, rounds),
            ),
            as_json=as_json,
        )


if __name__ == "__main__":
    main()
