"""What fixes of misplaced data save in a timed guest, against what `variables --time` said: six shapes of data.

`python -m tests.benchmarks.timed_fixes guest-2x2`. A last program has nothing to fix. The figures are those of a timed
guest, of no hardware.
"""

import json
import math
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from numapredict.predictor.variables.variable import Variables
from tests.benchmarks.guest_output import Lines, guest_errors
from tests.benchmarks.programs import compiled
from tests.benchmarks.table import table
from tests.guest.machine import Guest, python_environment
from tests.guest.timed.configuration import timing_of

SOURCE = Path(__file__).parents[1] / "guest" / "programs" / "misplaced.cpp"
SHAPES = ("array", "rows", "vectors", "structure", "static", "file")
SMALL_ROWS = ("rows:4", "vectors:4")
"""Of 4 KiB, which are no variables of their own unless blocks of one call stack are a group."""

LIMIT_S = 3600
HEAD = ("data", "said", "touches local, then", "whole runs: wrong, right", "saved", "within")


class Fixed(msgspec.Struct, frozen=True):
    """A shape, the answer on it, and the times of its runs, wrong and right, round by round."""

    shape: str
    answer: Variables
    runs: dict[str, list[float]]

    @property
    def saved(self) -> float | None:
        """Return the share of the whole run that the fix takes off, None where nothing was run."""
        logs = [math.log(now / was) for was, now in zip(self.runs["wrong"], self.runs["right"], strict=True)]
        return 1 - math.exp(statistics.fmean(logs)) if logs else None

    @property
    def promised(self) -> bool:
        """Return whether the answer promises that a fix saves time."""
        return any(one.remedy.action != "nothing" for one in self.answer.variables)

    @property
    def is_as_said(self) -> bool:
        """Return whether the fix saved what the answer said, or nothing was promised where there is nothing to fix."""
        said, saved = None if self.answer.time is None else self.answer.time.run, self.saved
        if saved is None:
            return not self.promised
        return self.promised and said is not None and said.low <= saved <= said.high

    @property
    def row(self) -> tuple[str, ...]:
        """Return its row of the table."""
        said, traffic = None if self.answer.time is None else self.answer.time.run, self.answer.traffic
        medians = [f"{statistics.median(times):.3f} s" for times in self.runs.values() if times]
        return (
            self.shape,
            "nothing" if said is None else f"{said.share:.1%} ({said.low:.1%} to {said.high:.1%})",
            "" if traffic is None else f"{traffic.local_now:.0%}, {traffic.local_then:.0%}",
            ", ".join(medians),
            "" if self.saved is None else f"{self.saved:.1%}",
            "yes" if self.is_as_said else "no",
        )


def verdict(found: Sequence[Fixed]) -> str:
    """Return how many fixes saved what was said, and what was promised where there is nothing to fix."""
    fixes = [one for one in found if one.saved is not None]
    none = [one for one in found if one.saved is None]
    wrongly = sum(one.promised for one in none)
    return (
        f"{sum(one.is_as_said for one in fixes)} of {len(fixes)} fixes saved what was said, within its range; "
        f"of {len(none)} programs with nothing to fix {wrongly or 'none'} was promised a gain"
    )


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option("--kilobytes", default=1152, show_default=True, help="Of the data.")
@click.option("--passes", default=80, show_default=True, help="Over the data, in one run.")
@click.option("--rounds", default=3, show_default=True, help="Of runs of the wrong and the right program, in turn.")
@click.option("--shape", "shapes", multiple=True, default=SHAPES, show_default=True, help="rows:4 has rows of 4 KiB.")
def main(machine: str, factor: float | None, kilobytes: int, passes: int, rounds: int, shapes: tuple[str, ...]) -> None:
    """Boot one guest, ask about each program, fix it, and print what was said and saved."""
    found: list[Fixed] = []

    def take(line: str) -> None:
        if "shape" in json.loads(line):
            found.append(msgspec.json.decode(line, type=Fixed))
            click.echo(f"{' | '.join(found[-1].row)}", err=True)
        elif json.loads(line)["exit_code"]:
            click.echo(line, err=True)

    with guest_errors(), tempfile.TemporaryDirectory(prefix="numapredict-fixes-") as name:
        folder, timing = Path(name), timing_of(machine, factor)
        program = compiled(SOURCE, folder, "g++", ("-g", "-fopenmp"))
        (folder / "guest").mkdir()
        words = [str(rounds), str(program), str(kilobytes), str(passes), *shapes]
        command = [sys.executable, "-m", "tests.guest.timed_fixes", *words]
        environment = python_environment() | {"GUEST_PAYS": "misplaced"}
        guest = Guest(timing.shape(), ("numa_balancing=disable",), timing)
        result = guest.run(command, folder / "guest", environment, LIMIT_S, (Lines(take), sys.stderr.buffer))
    click.echo(table(HEAD, [one.row for one in found]))
    click.echo(verdict(found))
    if result.exit_code:
        raise SystemExit(f"exit code {result.exit_code}")


if __name__ == "__main__":
    main()
