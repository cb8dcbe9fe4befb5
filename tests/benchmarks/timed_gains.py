"""What advice gains by a timed guest's clock, from a sweep: `python -m tests.benchmarks.timed_gains FOLDER...`.

Each program is held out with both of its initialisations; probes, clusters and all other choices are made without it,
from codelets alone. The figures are those of a timed guest, of no hardware.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from numapredict.collect.data.dataset import Dataset, read_dataset
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.program import CODELETS
from numapredict.predictor.evaluation.evaluate import Evaluation, evaluate_held_out
from numapredict.predictor.evaluation.folds import HeldOut
from tests.benchmarks.table import table


class Gain(msgspec.Struct, frozen=True):
    """One program: the mapping advised and the best one, and their speedups over the default."""

    program: str
    advised: AnyMapping
    speedup: float
    best: AnyMapping
    best_speedup: float

    @property
    def captured(self) -> float | None:
        """Return the share of the gain on a log scale; None where the default is within 2% of the best."""
        return math.log(self.speedup) / math.log(self.best_speedup) if self.best_speedup > 1.02 else None


def read_sweep(folder: Path, machine: str = "") -> Dataset:
    """Return a sweep's dataset; UsageError where it is not a timed guest's, or another machine's."""
    dataset = read_dataset(folder)
    if dataset.modelled or not dataset.machine.startswith(f"timed guest {machine}"):
        raise click.UsageError(f"{folder} holds {dataset.machine}, and not a sweep in timed guest {machine}")
    failed = [f"{one.program} under {one.mapping.label}" for one in dataset.measurements if one.status != "ok"]
    if failed:
        raise click.UsageError(f"{folder}: {len(failed)} runs failed, first {failed[0]}; run timed_sweep again")
    return dataset


def gains(dataset: Dataset) -> tuple[Gain, ...]:
    """Return every program's gain, advised from codelets that are not it."""
    own = {program.name for program in dataset.programs if program.command[0] == CODELETS}
    foreign = [program.group for program in dataset.programs if program.name not in own]
    found = {held.program: held for held in _held_out(dataset, own)}
    for group in dict.fromkeys(foreign):
        of_group = {program.name for program in dataset.programs if program.group == group}
        found |= {held.program: held for held in _held_out(dataset, own | of_group) if held.program in of_group}
    return tuple(_gain(found[program.name]) for program in dataset.programs if program.name in found)


def _held_out(dataset: Dataset, names: set[str]) -> Sequence[HeldOut]:
    evaluation: Evaluation = evaluate_held_out(
        msgspec.structs.replace(
            dataset,
            programs=tuple(one for one in dataset.programs if one.name in names),
            measurements=tuple(one for one in dataset.measurements if one.program in names),
        )
    )
    return evaluation.held_out


def _gain(held: HeldOut) -> Gain:
    return Gain(held.program, held.mapping, held.speedup, held.oracle_mapping, held.oracle_speedup)


def captured(found: Sequence[Gain]) -> float:
    """Return log(geometric mean speedup) / log(geometric mean of the best)."""
    return sum(math.log(one.speedup) for one in found) / sum(math.log(one.best_speedup) for one in found)


def geometric(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
def main(folders: tuple[Path, ...]) -> None:
    """Print a table for each dataset."""
    for folder in folders:
        dataset = read_sweep(folder)
        found = gains(dataset)
        click.echo(f"{dataset.machine}: made by {dataset.made_by}")
        click.echo("Speedups of the parallel regions over the default mapping, by the guest's clock.\n")
        rows = [
            (
                one.program,
                one.advised.label,
                f"{one.speedup:.2f}",
                one.best.label,
                f"{one.best_speedup:.2f}",
                "" if one.captured is None else f"{one.captured:.2f}",
            )
            for one in found
        ]
        click.echo(table(("program", "advised", "speedup", "best", "speedup", "captured"), rows))
        foreign = {program.name for program in dataset.programs if program.command[0] != CODELETS}
        for name, part in (
            ("codelets", [one for one in found if one.program not in foreign]),
            ("others", [one for one in found if one.program in foreign]),
        ):
            if part:
                advised, best = geometric([one.speedup for one in part]), geometric([one.best_speedup for one in part])
                click.echo(f"{name}: {advised:.3f} of {best:.3f}, gain captured {captured(part):.2f}")


if __name__ == "__main__":
    main()
