"""What `variables` finds in a timed guest and what its plans gain there: `python -m tests.benchmarks.timed_variables`.

All threads use one of the default program's three arrays at random. `--app 'initialised serial 1024 60'` has one that
should be with its threads, `--app 'lulesh 20'` three of nine. The runs of each plan and of none, all by first touch,
are in turn. The figures are those of a timed guest, of no hardware.
"""

import json
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from tests.benchmarks.guest_output import Lines, guest_errors
from tests.benchmarks.programs import compiled
from tests.benchmarks.table import table
from tests.guest.machine import Guest, python_environment
from tests.guest.timed.configuration import timing_of
from tests.guest.timed_session import Said

TESTS = Path(__file__).parents[1]
PROGRAMS = (TESTS / "guest" / "programs", TESTS / "integration" / "variables")
LIMIT_S = 3600
HEAD = ("placed alone", "regions", "gain (lowest to highest of the rounds)")


def source_of(program: str) -> Path:
    """Return a program's source; click.UsageError where there is none."""
    for folder in PROGRAMS:
        if (source := folder / f"{program}.c").is_file():
            return source
    raise click.UsageError(f"there is no {program}.c in {' or '.join(map(str, PROGRAMS))}")


def region_s(run: Mapping[str, Any]) -> float:
    """Return a run's seconds in regions, from what `run --json` wrote."""
    return float(sum(region["time_s"] for process in run["processes"] for region in process["regions"]))


def gains(times: Mapping[str, Sequence[float]]) -> list[tuple[str, str, str]]:
    """Return a row a plan: its median time and its gain over none, "" in ``times``, round by round."""
    rows = []
    for plan, own in times.items():
        ratios = [none / each for none, each in zip(times[""], own, strict=True)]
        said = f"{statistics.median(ratios):.2f}x ({min(ratios):.2f}x to {max(ratios):.2f}x)" if plan else ""
        rows.append((plan or "nothing", f"{statistics.median(own):.3f} s", said))
    return rows


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option(
    "--app",
    default="three_arrays 1024 60",
    show_default=True,
    help="A program of tests/guest/programs or tests/integration/variables, and its arguments.",
)
@click.option("--rounds", default=3, show_default=True)
def main(machine: str, factor: float | None, app: str, rounds: int) -> None:
    """Boot one guest, profile the program, place its variables, and print what was said and gained."""
    times: dict[str, list[float]] = {}

    def take(line: str) -> None:
        if "plan" in json.loads(line):
            found = json.loads(line)
            times.setdefault(found["plan"], []).append(region_s(found["run"]))
        elif "--json" not in (said := msgspec.json.decode(line, type=Said)).words:
            click.echo(f"$ numapredict {' '.join(said.words)}\n{said.output}{said.errors}")

    program, *arguments = app.split()
    with guest_errors(), tempfile.TemporaryDirectory(prefix="numapredict-variables-") as name:
        folder, timing = Path(name), timing_of(machine, factor)
        compiled(source_of(program), folder, options=("-g", "-fopenmp"))
        (folder / "guest").mkdir()
        typed = [f"{folder}/{program}", *arguments]
        command = [sys.executable, "-m", "tests.guest.timed_variables", str(rounds), *typed]
        environment = python_environment() | {"GUEST_PAYS": program}
        guest = Guest(timing.shape(), ("numa_balancing=disable",), timing)
        result = guest.run(command, folder / "guest", environment, LIMIT_S, (Lines(take), sys.stderr.buffer))
    click.echo(table(HEAD, gains(times)) if times else "no plan was made")
    if result.exit_code:
        raise SystemExit(f"exit code {result.exit_code}")


if __name__ == "__main__":
    main()
