"""What a search finds by a timed guest's clock, with nothing trained there: `python -m tests.benchmarks.timed_search`.

For each program: its runs, the answer with the interval of the confirming runs, and, by the times that a sweep recorded
under all mappings, the gain captured after 2, 3 and 4 runs. The figures are those of a timed guest, of no hardware.
"""

import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping, from_label
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.space import default_mapping
from numapredict.predictor.advising.advice import Advice
from tests.benchmarks.guest_output import Lines, guest_errors
from tests.benchmarks.table import table
from tests.benchmarks.timed_against_modelled import MEASURED, region_s
from tests.benchmarks.timed_gains import read_sweep
from tests.benchmarks.timed_programs import codelets, foreign
from tests.guest.machine import Guest, python_environment
from tests.guest.timed.configuration import timing_of
from tests.guest.timed_session import Said

PROGRAMS = {
    "guest-2x2": ("stream-triad.tiny.serial", "jacobi-3d-7.tiny.parallel", "tiny_regions.serial", "gather.serial"),
    "guest-4x2": ("stream-triad.tiny.serial", "solver.serial", "steps.serial", "spmv-csr.tiny.serial"),
}
"""By machine: a stream on pages of one node, one whose default is best, many small regions, irregular accesses."""

SHOWN = (2, 3, 4)
HEAD = ("program", "as it is; further runs", "answer, confirmed", "recorded", *map(str, SHOWN))
LIMIT_S = 7200


class Recorded(msgspec.Struct, frozen=True):
    """A program's speedups over the default mapping that a sweep recorded, by mapping."""

    speedups: dict[AnyMapping, float]

    def of(self, mapping: AnyMapping) -> float:
        """Return a mapping's speedup; 1 for the program as it is and for a mapping that the sweep left out."""
        return self.speedups.get(mapping, 1.0)

    @property
    def best(self) -> float:
        """Return the greatest."""
        return max(self.speedups.values())

    def captured(self, runs: Sequence[AnyMapping]) -> float | None:
        """Return the gain captured by the best of the runs; None where the default is within 2% of the best."""
        return math.log(max(map(self.of, runs))) / math.log(self.best) if self.best > 1.02 else None


def recorded(dataset: Dataset, program: str) -> Recorded:
    """Return what a sweep recorded of a program, by the time of its parallel regions."""
    if dataset.topology is None:
        raise click.UsageError(f"the sweep of {dataset.machine} has no topology")
    times = {one.mapping: region_s(one) for one in dataset.measurements if one.program == program}
    default_s = times[default_mapping(dataset.topology)]
    return Recorded({mapping: default_s / time_s for mapping, time_s in times.items()})


def answer(found: Advice) -> str:
    """Return what was advised, with the confirming runs' interval."""
    confirmed = found.confirmation
    if confirmed is None or confirmed.speedup is None:
        return "keep" if confirmed is None else f"keep: {confirmed.reason}"
    interval = f"{confirmed.speedup:.2f}x ({confirmed.low:.2f} to {confirmed.high:.2f})"
    return f"{'keep: ' if found.keep else ''}{confirmed.mapping}, {interval}"


def cells(found: Advice, sweep: Recorded) -> tuple[str, ...]:
    """Return a line of the table: the further runs, the answer, its recorded speedup, and the gain captured."""
    runs = [
        f"{run.mapping} {run.outcome if run.speedup is None else f'{run.speedup:.2f}x'}"
        + ("" if run.mapping in sweep.speedups else " (not in the sweep)")
        for run in found.runs[1:]
    ]
    made = [run.mapping for run in found.runs]
    shares = [sweep.captured(made[:count]) for count in SHOWN]
    return (
        f"{found.runs[0].time_s:.3f} s; {', '.join(runs)}",
        answer(found),
        f"{sweep.of(found.mapping):.2f} of {sweep.best:.2f}" if found.keep or found.mapping in sweep.speedups else "",
        *("" if share is None else f"{share:.2f}" for share in shares),
    )


def rows(lines: dict[str, str], session: Sequence[Said], dataset: Dataset) -> Iterator[tuple[str, ...]]:
    """Yield a line of the table for each program whose last search, of its command line, gave an answer."""
    last = {" ".join(said.words[said.words.index("--json") + 1 :]): said for said in session if said.exit_code == 0}
    for name, line in lines.items():
        if line in last:
            found = msgspec.json.decode(last[line].output, type=Advice, dec_hook=from_label)
            yield name, *cells(found, recorded(dataset, name))


@click.command()
@click.argument("machine", default="guest-2x2", type=click.Choice(sorted(PROGRAMS)))
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option("--program", "names", multiple=True, help="A program of the sweep, in place of the four; repeatable.")
def main(machine: str, factor: float | None, names: tuple[str, ...]) -> None:
    """Boot one guest, search for each program there, print all that was said, and the table."""
    names = names or PROGRAMS[machine]
    session: list[Said] = []
    sweep = read_sweep(MEASURED / machine, machine)

    def take(line: str) -> None:
        said = msgspec.json.decode(line, type=Said)
        session.append(said)
        click.echo(f"$ numapredict {' '.join(said.words)}\n{said.output}\n{said.errors}exit code {said.exit_code}")

    with guest_errors(), tempfile.TemporaryDirectory(prefix="numapredict-search-") as name:
        timing, folder = timing_of(machine, factor), Path(name)
        known = {program.name: program for program in (*codelets(), *foreign(folder))}
        (folder / "guest").mkdir()
        lines = {each: " ".join([executable_of(known[each]), *known[each].command[1:]]) for each in names}
        command = [sys.executable, "-m", "tests.guest.timed_search", *lines.values()]
        guest = Guest(timing.shape(), ("numa_balancing=disable",), timing)
        pays = ":".join(sorted({Path(line.split()[0]).name for line in lines.values()}))
        environment = python_environment() | {"GUEST_PAYS": pays}
        try:
            result = guest.run(command, folder / "guest", environment, LIMIT_S, (Lines(take), sys.stderr.buffer))
        finally:
            click.echo(table(HEAD, [*rows(lines, session, sweep)]))
    click.echo(f"booted in {result.boot_s:.1f} s, ended after {result.total_s:.1f} s")


if __name__ == "__main__":
    main()
