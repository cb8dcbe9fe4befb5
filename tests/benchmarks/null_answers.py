"""Answers where nothing is to be gained: one node given as two, quiet and beside endless loops; and their intervals.

No page placement changes anything there, so a gain that is claimed is a false one. Of a program that does 4/5 of its
work where it is placed, an answer's interval is compared with the rounds of all other answers.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from tests.benchmarks.programs import EXAMPLES, compiled, numapredict
from tests.benchmarks.table import table

NODES = "node:2 core:1 pu:1"
HEAD = ["computer", "answers", "claims", "largest", "told to be busy"]
WORK = ("1024", "100")
GAINS = '#!/bin/sh\nexport OMP_NUM_THREADS=1\n[ -n "$NUMAPLACE" ] && exec "$1" 1024 80\nexec "$1" 1024 100\n'


@contextmanager
def loop() -> Iterator[None]:
    """Keep one processor busy."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def answers(number: int, folder: Path, *words: str) -> Iterator[dict[str, Any]]:
    """Yield so many answers, each of runs of its own."""
    environment = os.environ | {"HWLOC_SYNTHETIC": NODES, "NUMAPREDICT_CACHE": str(folder / "cache")}
    for _ in range(number):
        done = subprocess.run(
            [*numapredict(), "-q", "predict", "--json", "--fresh", *words],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        yield json.loads(done.stdout)


def row(name: str, found: list[dict[str, Any]]) -> list[str]:
    """Return how many claimed a gain, with the largest, and how many told that the computer was busy."""
    claims = [each["speedup"] for each in found if not each["keep"]]
    told = sum(bool(each["disturbed"]) for each in found)
    return [name, f"{len(found)}", f"{len(claims)}", f"{max(claims, default=1):.2f}x", f"{told}"]


def agreement(found: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Return how often single rounds and means of other answers lie in an answer's interval, and what chance gives.

    Of n rounds and a further one each is as likely to be the least and the greatest: (n - 1) / (n + 1) lie within.
    """
    given = [each["confirmation"] for each in found if each["confirmation"] and each["confirmation"]["speedup"]]
    rounds = [[a / b for a, b in zip(each["baseline_s"], each["mapping_s"], strict=True)] for each in given]
    single, means, expected = [], [], []
    for at, each in enumerate(given):
        others = [ratios for number, ratios in enumerate(rounds) if number != at]
        single += [each["low"] <= ratio <= each["high"] for ratios in others for ratio in ratios]
        means += [each["low"] <= statistics.geometric_mean(ratios) <= each["high"] for ratios in others]
        expected.append((len(rounds[at]) - 1) / (len(rounds[at]) + 1))
    return statistics.fmean(single), statistics.fmean(means), statistics.fmean(expected)


@click.command()
@click.option("--answers", "number", default=50, show_default=True, help="Of each kind.")
@click.option("--loops", multiple=True, type=int, default=(0, 1, 2), show_default=True, help="Endless loops beside.")
@click.option("--intervals/--no-intervals", default=True, show_default=True, help="Compare intervals, too.")
def main(number: int, loops: tuple[int, ...], intervals: bool) -> None:
    """Print how many answers claim a gain where there is none, and how good intervals are."""
    with tempfile.TemporaryDirectory(prefix="numapredict-") as name:
        folder = Path(name)
        heat = compiled(EXAMPLES / "heat.c", folder)
        rows = []
        for beside in loops:
            with ExitStack() as stack:
                for _ in range(beside):
                    stack.enter_context(loop())
                rows.append(row(f"{beside} loops beside", list(answers(number, folder, str(heat), *WORK))))
            click.echo(" ".join(rows[-1]), err=True)
        click.echo(table(HEAD, rows))
        if intervals:
            script = folder / "gains"
            script.write_text(GAINS)
            script.chmod(0o755)
            found = list(answers(number, folder, str(script), str(heat)))
            click.echo(table(HEAD, [row("1.25x to gain", found)]))
            single, means, expected = agreement(found)
            click.echo(
                f"in an answer's interval: {single:.2f} of the rounds of others (by chance {expected:.2f}), "
                f"{means:.2f} of their means"
            )


if __name__ == "__main__":
    main()
