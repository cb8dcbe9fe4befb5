"""Replays of regions against whole runs: how exact they are, and how much time they save.

`python -m tests.benchmarks.replays`. Each program, with as many steps as take about --seconds, runs whole with all
cores, with one, under `numapredict regions`, and whole again, five rounds in turn. For a region and a mapping, the
replay's time over the mean instance of the round's whole runs is what ICS'19 (sec. 4.4) compares; the median over the
rounds counts. Beside it stands what this computer is off by itself: the whole runs after the replays over those before.
What the answer goes by is the gain: the mean instance of the run itself over the gain that replays tell, against the
whole runs under that mapping. The acceleration (sec. 4.5) is the time of the whole runs under each mapping, one of
each, over what the program waited for its replays. Where instances differ, the whole runs' mean is taken times what
those like the replayed one took over the mean in the run with replays. The baseline's replays are told apart: its share
of emptied caches is fitted to the run, so its error is that of the fit. `--figure FILE` draws the replays' times over
the whole runs'.

Other programs: `--program "./lulesh2.0 -s 30 -i 100"`, as they are.

On a busy computer add `--processor-time`: threads that wait sleep, and the clock of an instance is the processor time
of the program's threads together.
"""

import json
import math
import os
import shlex
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from numapredict.native.library import applications_program, codelets_program
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from tests.benchmarks.programs import EXAMPLES, compiled, numapredict
from tests.benchmarks.replays_figure import draw_replays
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
NEAR = 0.15
FAR = 1.05
HEAD = (
    "program",
    "regions",
    "median error",
    "largest",
    "caches emptied",
    "expected from gains",
    "share replayed",
    "right mapping",
    "not replayed",
    "whole runs / replays",
)


Whole = dict[tuple[str, str], dict[int, list[float]]]
"""By region and mapping, and by round: the mean instance of each whole run that had the region."""


class Pair(NamedTuple):
    """A region under a mapping: seconds of an instance, by whole runs and by replays.

    ``told`` is the gain over the baseline by replays, ``gain`` that by whole runs. ``expected_s`` is the mean instance
    of the run with replays, over the gain that these tell; None for the baseline.
    """

    region: str
    mapping: str
    whole_s: float
    replay_s: float
    expected_s: float | None
    warm_s: float
    emptied: float
    told: float
    gain: float

    @property
    def off(self) -> float:
        """Return how far the replay is off, relative to the whole runs, without its sign."""
        return abs(self.replay_s / self.whole_s - 1)


class Compared(NamedTuple):
    """A program's pairs; ``whole_s`` is one run under each mapping, ``replays_s`` what all replays took.

    ``replayed`` is the share of the time in regions that replays stand for. ``repeated_off``: how far the mean instance
    of the whole runs after the replays is off that of those before, by region and mapping, if a round had two.
    """

    program: str
    pairs: tuple[Pair, ...]
    whole_s: float
    replays_s: float
    failed: int
    repeated_off: tuple[float, ...]
    replayed: float

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
    """Run a program whole, with replays, and whole again, in turn; of all rounds the medians count."""
    whole: Whole = {}
    walls: dict[str, list[float]] = {}
    answers = []

    def run(label: str, number: int) -> None:
        wall_s, means = instances_s(asked(folder, "run", "--mapping", label, "--", *command))
        walls.setdefault(label, []).append(wall_s)
        add_round(whole, label, number, means)

    for number in range(rounds):
        for label in labels:
            run(label, number)
        answers.append(msgspec.convert(asked(folder, "regions", *command), ReplayedRegions))
        for label in reversed(labels):
            run(label, number)
    return matched(name, whole, walls, answers)


def matched(
    name: str,
    whole: Whole,
    walls: Mapping[str, Sequence[float]],
    answers: Sequence[ReplayedRegions],
) -> Compared:
    """Return what replays say against the mean instances of whole runs, by region and mapping, and these runs' time."""
    found: dict[tuple[str, str], list[Pair]] = {}
    failed = 0
    for number, answer in enumerate(answers):
        for region in (region for region in answer.regions if region.share >= LEAST_SHARE):
            key = f"{Path(region.module).name}+{region.offset:#x}"
            failed += not region.gains or region.gains[0].time_s is None
            for gain in region.gains:
                times = whole.get((key, gain.mapping), {}).get(number)
                if times and gain.time_s and gain.speedup and gain.warm_s and region.instance_s:
                    whole_s = statistics.fmean(times) * region.instance_s * region.count / region.time_s
                    expected_s = None if gain is region.gains[0] else region.instance_s / gain.speedup
                    base_s = statistics.fmean(whole[key, region.gains[0].mapping][number])
                    base_s *= region.instance_s * region.count / region.time_s
                    pair = Pair(
                        *(key, gain.mapping, whole_s, gain.time_s, expected_s, gain.warm_s, region.emptied),
                        *(gain.speedup, base_s / whole_s),
                    )
                    found.setdefault((key, gain.mapping), []).append(pair)
    pairs = tuple(map(median_pair, found.values()))
    replays_s = statistics.median(answer.replay_s for answer in answers)
    whole_s = sum(map(statistics.median, walls.values()))
    twice = [[own for own in whole[key].values() if len(own) > 1] for key in found]
    repeated_off = tuple(abs(statistics.median(last / first for first, last in own) - 1) for own in twice if own)
    replayed = statistics.median(answer.replayed_share for answer in answers)
    return Compared(name, pairs, whole_s, replays_s, round(failed / len(answers)), repeated_off, replayed)


def add_round(whole: Whole, label: str, number: int, means: Mapping[str, float]) -> None:
    """Add what a run under a mapping took for an instance of each of its regions, in the round of this number."""
    for region, mean_s in means.items():
        whole.setdefault((region, label), {}).setdefault(number, []).append(mean_s)


def median_pair(pairs: Sequence[Pair]) -> Pair:
    """Return the medians of a region's pairs under one mapping, a round each: of times over the round's whole runs."""
    whole_s = statistics.median(one.whole_s for one in pairs)
    replay, warm = (
        statistics.median(each)
        for each in zip(*((one.replay_s / one.whole_s, one.warm_s / one.whole_s) for one in pairs), strict=True)
    )
    expected = [one.expected_s / one.whole_s for one in pairs if one.expected_s is not None]
    return Pair(
        pairs[0].region,
        pairs[0].mapping,
        whole_s,
        replay * whole_s,
        statistics.median(expected) * whole_s if expected else None,
        warm * whole_s,
        *(statistics.median(each) for each in zip(*((one.emptied, one.told, one.gain) for one in pairs), strict=True)),
    )


def spread(off: Sequence[float]) -> str:
    ordered = sorted(off)
    within = ordered[math.ceil(0.9 * len(ordered)) - 1]
    near = sum(each <= NEAR for each in off) / len(off)
    return (
        f"{len(ordered)} pairs: median error {statistics.median(ordered):.1%}, 90% within {within:.1%}, "
        f"{near:.0%} within {NEAR:.0%}"
    )


def gains_off(one: Compared) -> list[float]:
    """Return how far the gains are off that replays foretell, over those of whole runs."""
    return [abs(pair.told / pair.gain - 1) for pair in one.pairs if pair.expected_s is not None]


def of_the_wrong_sign(one: Compared) -> int:
    """Return of how many pairs a gain was foretold that is a loss, or the other way, and more than 5% apart."""
    pairs = [pair for pair in one.pairs if pair.expected_s is not None]
    return sum((p.told - 1) * (p.gain - 1) < 0 and abs(math.log(p.told / p.gain)) > math.log(FAR) for p in pairs)


def expected_off(one: Compared) -> list[float]:
    """Return how far the expected times are off."""
    return [abs(pair.expected_s / pair.whole_s - 1) for pair in one.pairs if pair.expected_s is not None]


def summary(found: Sequence[Compared]) -> str:
    """Return the figures over all programs in words."""
    right, regions = (sum(numbers) for numbers in zip(*(one.right for one in found), strict=True))
    saved = [one.whole_s / one.replays_s for one in found if one.replays_s > 0]
    geometric = math.exp(statistics.fmean(map(math.log, saved)))
    pairs = [pair for one in found for pair in one.pairs]
    others = [pair for pair in pairs if pair.expected_s is not None]
    repeated = [off for one in found for off in one.repeated_off]
    noise = f"whole runs after the replays against those before, {spread(repeated)}\n" if repeated else ""
    return (
        f"{noise}"
        f"replays, {spread([pair.off for pair in pairs])}\n"
        f"without emptied caches, {spread([abs(pair.warm_s / pair.whole_s - 1) for pair in pairs])}\n"
        f"replays of other mappings than the baseline, {spread([pair.off for pair in others])}\n"
        f"these without emptied caches, {spread([abs(pair.warm_s / pair.whole_s - 1) for pair in others])}\n"
        f"expected from gains, {spread([off for one in found for off in expected_off(one)])}\n"
        f"gains foretold, {spread([off for one in found for off in gains_off(one)])}, "
        f"{sum(map(of_the_wrong_sign, found))} of the wrong sign by over 5%\n"
        f"the fastest mapping, or one within 2% of it, in {right} of {regions} regions\n"
        f"whole runs over replays {statistics.median(saved):.1f}x in the median, {geometric:.1f}x geometric, "
        f"{statistics.fmean(saved):.1f}x arithmetic mean"
    )


def row(one: Compared) -> tuple[str, ...]:
    off, expected = [pair.off for pair in one.pairs], expected_off(one)
    right, regions = one.right
    return (
        one.program,
        str(regions),
        f"{statistics.median(off):.1%}" if off else "",
        f"{max(off):.1%}" if off else "",
        " ".join(sorted({f"{pair.emptied:.0%}" for pair in one.pairs})),
        f"{statistics.median(expected):.1%}" if expected else "",
        f"{one.replayed:.0%}",
        f"{right} of {regions}",
        str(one.failed),
        f"{one.whole_s / one.replays_s:.1f}" if one.replays_s > 0 else "",
    )


def steps_for(command: Callable[[int], list[str]], seconds: float) -> int:
    """Return how many steps of a program take about so long here, or are more than it needs to converge."""
    steps, before = 2, 0.0
    while True:
        began = time.perf_counter()
        subprocess.run(command(steps), check=True, stdout=subprocess.DEVNULL)
        taken = time.perf_counter() - began
        if taken > seconds / 4:
            return max(round(steps * seconds / taken), 1)
        if taken > 0.1 and taken < 1.3 * before:  # solvers converge
            return steps
        steps, before = 4 * steps, taken


def commands(folder: Path) -> dict[str, Callable[[int], list[str]]]:
    """Return the programs, by the number of steps."""

    def codelet(name: str) -> Callable[[int], list[str]]:
        return lambda steps: [str(codelets_program()), name, "--size", "small", "--iterations", str(steps)]

    def application(name: str) -> Callable[[int], list[str]]:
        return lambda steps: [str(applications_program()), name, "--size", "medium", "--iterations", str(steps)]

    def other(program: Path, *size: str) -> Callable[[int], list[str]]:
        return lambda steps: [str(program), *size, str(steps)]

    found = {name: codelet(name) for name in CODELETS} | {name: application(name) for name in APPLICATIONS}
    options = ("-g", "-fopenmp", "-DNODES=(1l<<20)")
    found["nodal arrays"] = other(compiled(VARIABLES / "lulesh.c", folder, options=options))
    sizes = {"heat": "2048", "particles": "400", "poisson": "96"}
    return found | {name: other(compiled(EXAMPLES / f"{name}.c", folder), size) for name, size in sizes.items()}


@click.command()
@click.option("--rounds", default=5, show_default=True)
@click.option("--seconds", default=1.5, show_default=True, help="Of a run with all cores.")
@click.option("--processor-time", is_flag=True, help="Of all threads together, for a busy computer.")
@click.option("--program", "others", multiple=True, help="A program and its arguments, instead of those known here.")
@click.option("--every", is_flag=True, help="Print each pair, too.")
@click.option("--figure", type=click.Path(path_type=Path), help="Draw the replays' times over the whole runs'.")
@click.argument("names", nargs=-1)
def main(
    *,
    rounds: int,
    seconds: float,
    processor_time: bool,
    others: tuple[str, ...],
    every: bool,
    figure: Path | None,
    names: tuple[str, ...],
) -> None:
    """Compare replays with whole runs on this computer, with one thread and with one a core of its first node."""
    cores = len(os.sched_getaffinity(0))
    labels = (f"{cores}x1-contiguous-bind", "1x1-contiguous-bind")
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        folder, found = Path(name), []
        if processor_time:
            options = ("-shared", "-fPIC", "-Wall", "-Werror")
            clock = compiled(Path(__file__).with_name("processor_clock.c"), folder, options=options)
            os.environ |= {"LD_PRELOAD": str(clock), "OMP_WAIT_POLICY": "passive"}
        known = {} if others else commands(folder)
        asked_for = {words: shlex.split(words) for words in others}
        for program, command in known.items():
            if not names or program in names:
                asked_for[program] = command(steps_for(command, seconds))
        for program, words in asked_for.items():
            found.append(compared(program, words, labels, rounds, folder))
            for pair in found[-1].pairs if every else ():
                times_ms = f"whole {pair.whole_s * 1e3:.3f} ms, replay {pair.replay_s * 1e3:.3f}, warm"
                gains = f"{pair.warm_s * 1e3:.3f}, gain {pair.gain:.2f}x, foretold {pair.told:.2f}x"
                click.echo(f"{program} {pair.region} {pair.mapping}: {times_ms} {gains}", err=True)
    click.echo(table(HEAD, [row(one) for one in found]))
    click.echo(summary(found))
    if figure is not None:
        clock = "processor time of all threads" if processor_time else "by the clock"
        draw_replays(
            [
                (one.program, pair.region.rpartition("+")[2], pair.mapping, pair.replay_s / pair.whole_s)
                for one in found
                for pair in one.pairs
            ],
            f"Source: this computer, measured ({clock}), {rounds} rounds of {seconds:g} s. The share of emptied caches "
            f"in the replays of {labels[0]} is fitted to the run.",
            figure,
        )


if __name__ == "__main__":
    main()
