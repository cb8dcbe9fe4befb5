"""Replays of regions against whole runs in a timed guest, by its clock: `python -m tests.benchmarks.timed_regions`.

Here mappings differ by their nodes, too, as on no computer with one. `numapredict regions` and whole runs under each
mapping that it replayed are in turn; errors and time saved are as in `replays`. Last come what the best mapping of each
program promises for all regions together, and what whole runs give. The figures are those of a timed guest, of no
hardware.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

import click
import msgspec

from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from tests.benchmarks.guest_output import Lines, guest_errors
from tests.benchmarks.programs import compiled
from tests.benchmarks.replays import HEAD, Compared, Whole, add_round, instances_s, matched, row, summary
from tests.benchmarks.table import table
from tests.benchmarks.timed_variables import region_s
from tests.guest.machine import Guest, python_environment
from tests.guest.timed.configuration import timing_of

SOURCES = Path(__file__).parents[1] / "guest" / "programs"
# Sizes and steps, so that the private and shared caches of the guest hold a part of the data.
APPS = (
    "adapting stencil 384 12",
    "adapting cg 256 12",
    "adapting multigrid 384 8",
    "adapting phases 384 16",
    "steps serial 256 8",
    "solver serial 128 8",
    "levels serial 256 8",
    "gather serial 32768 8",
    "three_arrays 1024 20",
    "initialised serial 1024 20",
)
LIMIT_S = 7200


class Runs:
    """What one program's runs wrote."""

    def __init__(self) -> None:
        """Begin with none."""
        self.answers: list[ReplayedRegions] = []
        self.whole: Whole = {}
        self.walls: dict[str, list[float]] = {}
        self.region_s: dict[str, list[float]] = {}

    def take(self, name: str, written: dict[str, Any]) -> None:
        """Take what `regions` wrote, or a run under the mapping of this name."""
        if name == "regions":
            self.answers.append(msgspec.convert(written, ReplayedRegions))
            return
        wall_s, means = instances_s(written)
        self.walls.setdefault(name, []).append(wall_s)
        self.region_s.setdefault(name, []).append(region_s(written))
        add_round(self.whole, name, len(self.answers) - 1, means)

    def compared(self, name: str) -> Compared:
        return matched(name, self.whole, self.walls, self.answers)

    def promise(self) -> str:
        """Return what the mapping gains that the first replays advise for all regions, by them and by whole runs."""
        base = self.answers[0].baseline
        advised = [one for one in self.answers[0].one_mapping if one.mapping in self.region_s]
        if not advised:
            return "no mapping gains by replays"
        best = max(advised, key=lambda one: one.speedup)
        ratios = [old / new for old, new in zip(self.region_s[base], self.region_s[best.mapping], strict=True)]
        fastest = min(self.region_s, key=lambda label: median(self.region_s[label]))
        most = median(self.region_s[base]) / median(self.region_s[fastest])
        return (
            f"{best.mapping} {best.speedup:.2f}x by replays, {median(ratios):.2f}x by whole runs "
            f"({min(ratios):.2f}x to {max(ratios):.2f}x); best of them {fastest} {most:.2f}x"
        )


def measured(
    machine: str, factor: float | None, apps: Iterable[str], rounds: int, say: Callable[[str], None]
) -> dict[str, Runs]:
    """Boot a guest for each program, and return what its runs wrote."""
    found: dict[str, Runs] = {}
    for app in apps:
        program, *arguments = app.split()
        with tempfile.TemporaryDirectory(prefix="numapredict-regions-") as name:
            folder, timing, runs = Path(name), timing_of(machine, factor), Runs()
            source = next(SOURCES.glob(f"{program}.c*"))
            compiled(source, folder, "g++" if source.suffix == ".cpp" else "gcc", options=("-g", "-fopenmp"))
            (folder / "guest").mkdir()

            def take(line: str, runs: Runs = runs) -> None:
                said = json.loads(line)
                if "written" in said:
                    runs.take(said["name"], said["written"])

            command = [
                sys.executable,
                "-m",
                "tests.guest.timed_regions",
                str(rounds),
                f"{folder}/{program}",
                *arguments,
            ]
            cores = timing.machine.topology.core_count
            environment = python_environment() | {
                "GUEST_PAYS": program,
                "OMP_NUM_THREADS": str(cores),
                "OMP_WAIT_POLICY": "passive",
            }
            guest = Guest(timing.shape(), ("numa_balancing=disable", "transparent_hugepage=never"), timing)
            result = guest.run(command, folder / "guest", environment, LIMIT_S, (Lines(take), sys.stderr.buffer))
        if result.exit_code or not runs.answers:
            say(f"{app}: exit code {result.exit_code}")
            continue
        found[app] = runs
        say(f"{app}: {runs.promise()}")
    return found


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option("--app", "apps", multiple=True, default=APPS, help="A program of tests/guest/programs; repeatable.")
@click.option("--rounds", default=3, show_default=True)
def main(machine: str, factor: float | None, apps: tuple[str, ...], rounds: int) -> None:
    """Replay and run each program in a guest of its own, and compare."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    click.echo(f"timed guest {machine}; load average here {load}")
    with guest_errors():
        found = measured(machine, factor, apps, rounds, click.echo)
    compared = [runs.compared(app) for app, runs in found.items()]
    if compared:
        click.echo(table(HEAD, [row(one) for one in compared]))
        click.echo(summary(compared))


if __name__ == "__main__":
    main()
