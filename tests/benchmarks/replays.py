"""Replays of regions against whole runs: how exact they are, and how much time they save.

`python -m tests.benchmarks.replays`. Each program runs whole under every mapping of this computer's threads, three
rounds in turn, and once under `numapredict regions`. For a region and a mapping, the replay's time over the mean
instance of the whole runs is what ICS'19 (sec. 4.4) compares; its acceleration (sec. 4.5) is the time of all whole runs
over what the program waited for its replays.
"""

import json
import math
import os
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from numapredict.native.library import applications_program, codelets_program
from tests.benchmarks.programs import EXAMPLES, compiled, numapredict
from tests.benchmarks.table import table

CODELETS = (
    "stream-triad",
    "jacobi-3d-7",
    "spmv-csr",
    "cg-dot",
    "mg-prolong",
    "line-solve-z",
    "fft-transpose",
    "shared-table",
    "is-ranking",
    "bfs-level",
)
APPLICATIONS = ("short-regions", "serial-part", "locked-merge")
VARIABLES = Path(__file__).parents[1] / "integration" / "variables"
LEAST_SHARE = 0.05


class Pair(NamedTuple):
    """A region under a mapping: seconds of an instance, by whole runs and by replays."""

    region: str
    mapping: str
    whole_s: float
    replay_s: float

    @property
    def off(self) -> float:
        """Return how far the replay is off, relative to the whole runs."""
        return self.replay_s / self.whole_s - 1


class Compared(NamedTuple):
    """A program's pairs; ``whole_s`` is one run under each mapping, ``replays_s`` what all replays took."""

    program: str
    pairs: tuple[Pair, ...]
    whole_s: float
    replays_s: float
    failed: int

    @property
    def right(self) -> tuple[int, int]:
        """Return in how many regions, of how many, both find the same mapping fastest, or within 2% of it."""
        regions = {pair.region for pair in self.pairs}
        found = 0
        for region in regions:
            own = [pair for pair in self.pairs if pair.region == region]
            chosen = min(own, key=lambda pair: pair.replay_s)
            found += chosen.whole_s <= 1.02 * min(pair.whole_s for pair in own)
        return found, len(regions)


def asked(folder: Path, *words: str) -> dict[str, object]:
    """Run a command of numapredict that writes JSON to -o, and return it."""
    file = folder / "answer.json"
    verb, *rest = words
    command = [*numapredict(), verb, "-o", str(file), *rest]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found: dict[str, object] = json.loads(file.read_text())
    file.unlink()
    return found


def instances_s(run: dict[str, object]) -> tuple[float, dict[str, float]]:
    """Return a whole run's seconds, and the mean instance of each region, by module and offset."""
    processes = run["processes"]
    assert isinstance(processes, list)
    regions = [region for process in processes for region in process["regions"]]
    wall_s = run["time_s"]
    assert isinstance(wall_s, float)
    return wall_s, {key_of(region): region["time_s"] / region["count"] for region in regions}


def key_of(region: dict[str, object]) -> str:
    return f"{Path(str(region['module'])).name}+{region['offset']:#x}"


def compared(name: str, command: Sequence[str], labels: Sequence[str], rounds: int, folder: Path) -> Compared:
    """Run a program whole, and once with replays."""
    whole: dict[tuple[str, str], list[float]] = {}
    walls: dict[str, list[float]] = {}
    for _ in range(rounds):
        for label in labels:
            wall_s, means = instances_s(asked(folder, "run", "--mapping", label, "--", *command))
            walls.setdefault(label, []).append(wall_s)
            for region, mean_s in means.items():
                whole.setdefault((region, label), []).append(mean_s)
    answer = asked(folder, "regions", *command)
    pairs, failed = [], 0
    regions = answer["regions"]
    assert isinstance(regions, list)
    for region in regions:
        if region["share"] < LEAST_SHARE:
            continue
        failed += not region["gains"] or region["gains"][0]["time_s"] is None
        for gain in region["gains"]:
            times = whole.get((key_of(region), gain["mapping"]))
            if times and gain["time_s"] is not None:
                pairs.append(Pair(key_of(region), gain["mapping"], statistics.median(times), gain["time_s"]))
    replays_s = answer["replay_s"]
    assert isinstance(replays_s, float)
    return Compared(name, tuple(pairs), sum(map(statistics.median, walls.values())), replays_s, failed)


def summary(found: Sequence[Compared]) -> str:
    """Return the figures over all programs in words."""
    off = sorted(abs(pair.off) for one in found for pair in one.pairs)
    right, regions = (sum(numbers) for numbers in zip(*(one.right for one in found), strict=True))
    saved = [one.whole_s / one.replays_s for one in found if one.replays_s > 0]
    geometric = math.exp(statistics.fmean(map(math.log, saved)))
    return (
        f"{len(off)} pairs of region and mapping: median error {statistics.median(off):.1%}, 90% within "
        f"{off[math.ceil(0.9 * len(off)) - 1]:.1%}; the fastest mapping, or one within 2% of it, in {right} of "
        f"{regions} regions; whole runs over replays {statistics.median(saved):.1f}x in the median, {geometric:.1f}x "
        f"geometric, {statistics.fmean(saved):.1f}x arithmetic mean"
    )


def row(one: Compared) -> tuple[str, ...]:
    off = [abs(pair.off) for pair in one.pairs]
    right, regions = one.right
    return (
        one.program,
        str(regions),
        f"{statistics.median(off):.1%}" if off else "",
        f"{max(off):.1%}" if off else "",
        f"{right} of {regions}",
        str(one.failed),
        f"{one.whole_s / one.replays_s:.1f}" if one.replays_s > 0 else "",
    )


@click.command()
@click.option("--rounds", default=3, show_default=True)
@click.option("--size", default="small", show_default=True, help="Of the codelets.")
@click.option("--iterations", default=200, show_default=True, help="Of the codelets.")
def main(rounds: int, size: str, iterations: int) -> None:
    """Compare replays with whole runs on this computer, with one thread and with one a core of its first node."""
    cores = len(os.sched_getaffinity(0))
    labels = (f"{cores}x1-contiguous-bind", "1x1-contiguous-bind")
    head = ("program", "regions", "median error", "largest", "right mapping", "not replayed", "whole runs / replays")
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        folder = Path(name)
        options = ("-g", "-fopenmp", "-DNODES=(1l<<20)")
        commands = {
            codelet: [str(codelets_program()), codelet, "--size", size, "--iterations", str(iterations)]
            for codelet in CODELETS
        }
        commands |= {each: [str(applications_program()), each, "--size", size] for each in APPLICATIONS}
        commands["nodal arrays"] = [str(compiled(VARIABLES / "lulesh.c", folder, options=options)), "300"]
        commands |= {each: [str(compiled(EXAMPLES / f"{each}.c", folder))] for each in ("heat", "particles", "poisson")}
        found = [compared(each, command, labels, rounds, folder) for each, command in commands.items()]
    click.echo(table(head, [row(one) for one in found]))
    click.echo(summary(found))


if __name__ == "__main__":
    main()
