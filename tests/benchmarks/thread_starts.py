"""What starting threads costs a placed program, against the same one unplaced, and against one that binds its own.

Of two PUs the one that has nothing to do sleeps, and waking it may take longer than all else. An unplaced program often
starts its thread on the PU that it runs on. So what the library costs is told by the program that binds its threads to
the same PUs, and by a mapping that has one PU alone.
"""

import os
import subprocess
import tempfile
from pathlib import Path

import click

from tests.benchmarks.figures import Figure, ratios, show
from tests.benchmarks.programs import HERE, compiled
from tests.preloaded import placed

TURNS = 3
KINDS = ("one thread, joined at once", "{} threads, joined in the end", "{} threads alive at one time")


def times_us(command: list[str], environment: dict[str, str]) -> tuple[float, ...]:
    """Return what the program printed."""
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return tuple(map(float, done.stdout.split()))


def mapping(*cpus: int) -> dict[str, str]:
    """Return the variables of a run on these PUs."""
    return placed(f"cpus={','.join(map(str, cpus))};homes=0*2;threads=contiguous;pages=first-touch;nodes=0", 2)


@click.command()
@click.option("--single", default=2000, show_default=True, help="threads that are joined before the next one")
@click.option("--threads", default=1000, show_default=True)
@click.option("--rounds", default=7, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(single: int, threads: int, rounds: int, as_json: bool) -> None:
    """Measure starts of threads; the four ways to run the program take turns, and a round has the least of three."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise click.ClickException("threads are placed on two PUs, and this process may use one")
    first, other = cpus[0], cpus[-1]
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        program = compiled(HERE / "thread_starts.c", Path(name), options=("-pthread",))
        command = [str(program), str(single), str(threads)]
        plain = dict(os.environ)
        ways = (
            (command, plain),
            ([*command, str(first), str(other)], plain),
            (command, mapping(first, other)),
            (command, mapping(first, first)),
        )
        found: tuple[list[tuple[float, ...]], ...] = ([], [], [], [])
        for _ in range(rounds):
            lock = [[times_us(*way) for way in ways] for _ in range(TURNS)]
            for n, of_way in enumerate(found):
                of_way.append(tuple(min(turn[n][kind] for turn in lock) for kind in range(len(KINDS))))
    figures: list[Figure] = []
    for kind, words in enumerate(KINDS):
        free, by_hand, two_pus, one_pu = ([times[kind] for times in of_way] for of_way in found)
        what = words.format(threads)
        figures.append(Figure(f"{what}: unplaced", "us", tuple(free)))
        if kind == 0:
            figures += (
                Figure(f"{what}: placed adds", "us", differences(two_pus, free), "under 5"),
                Figure(f"{what}: the same PUs by hand add", "us", differences(by_hand, free)),
                Figure(f"{what}: placed adds to by hand", "us", differences(two_pus, by_hand), "under 5"),
                Figure(f"{what}: placed on one PU adds", "us", differences(one_pu, free), "under 5"),
            )
        else:
            figures += (
                ratios(f"{what}: placed over unplaced", two_pus, free, "at most 1.2"),
                ratios(f"{what}: by hand over unplaced", by_hand, free),
                ratios(f"{what}: placed over by hand", two_pus, by_hand, "at most 1.2"),
            )
    show(figures, as_json=as_json)


def differences(above: list[float], below: list[float]) -> tuple[float, ...]:
    """Return the differences round by round."""
    return tuple(a - b for a, b in zip(above, below, strict=True))


if __name__ == "__main__":
    main()
