"""What `numapredict run --adapt` would do to programs whose times under every mapping are known: a simulation.

`python -m tests.benchmarks.adapting`. The decisions are the library's own C code. Every instance takes its program's
time under the mapping that it has, times log-normal noise; a change of the pages costs the moves of all of them. Times
of the shipped machines are modelled, MCTOP's measured (on other placements than ours: their counterparts). What is
known is of the machine's other groups of programs alone. Programs start under the default, with instances of
`--instance-ms` there.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import numpy as np

from numapredict.collect.mapping import Mapping
from numapredict.predictor.adapting.candidates import candidate_columns
from numapredict.predictor.adapting.places import in_place, pages_of
from numapredict.predictor.evaluation.search_curve import Knows, own_knowledge, searched
from numapredict.predictor.learning.datasets import open_datasets, shipped_datasets
from numapredict.predictor.learning.features import Observations, gains_of
from numapredict.predictor.searching.known_gains import KnownGains
from tests.adapting import Case, Decisions, Played
from tests.benchmarks.search_curves import measured_machine, observed
from tests.golden.evaluations import measured

COUNTS = (300, 1_000, 10_000)
NOW = 50
"""Instances, the last ones, by which column `now` says how fast a program has become."""

PAGE_US = 2.5 / 4
"""A page's, where four threads of the team move pages at once."""

NOISES = 4_096


@dataclass(frozen=True, eq=False)
class Machine:
    """A machine's programs, and the mappings of their columns."""

    name: str
    observations: Observations
    default: int
    mappings: tuple[Mapping, ...]
    knows: Knows


def machines() -> Iterator[Machine]:
    """Yield the shipped machines, and MCTOP's with their own data alone."""
    for dataset in open_datasets(shipped_datasets()):
        observations, default = observed(dataset)
        mappings = tuple(each for each in observations.mappings if isinstance(each, Mapping))
        yield Machine(dataset.machine, observations, default, mappings, own_knowledge(observations, default))
    for machine in measured.DEFAULTS:
        observations, default, pairs = measured_machine(machine)
        mappings = tuple(map(pairs.of, observations.mappings))
        yield Machine(f"{machine} (MCTOP)", observations, default, mappings, own_knowledge(observations, default))


def can_be_given(machine: Machine, mapping: Mapping) -> bool:
    """Return whether a program that began under the default can be given a mapping."""
    default = machine.mappings[machine.default]
    return in_place(mapping, default.threads, default.page_nodes)


@cache
def table(machine: Machine, group: str) -> tuple[KnownGains, tuple[int, ...]]:
    """Return what is known of the columns that a program of this group may try, and these columns."""
    known = machine.knows(group)
    allowed = [n for n, each in enumerate(machine.mappings) if can_be_given(machine, each)]
    columns = candidate_columns(known, machine.default, allowed)
    return KnownGains(known.gains[:, list(columns)], known.weights, known.groups, known.machines), columns


def best_in_place(machine: Machine) -> float:
    """Return the mean gain in log2 of each program's best mapping that it can be given while it runs."""
    gains = gains_of(machine.observations.time_s, machine.default)
    allowed = [n for n, each in enumerate(machine.mappings) if can_be_given(machine, each)]
    return float(gains[:, allowed].max(axis=1).mean())


def candidates(machine: Machine) -> str:
    """Return in words what the best of the mappings gives that can be had in place, and of those in the tables."""
    gains = gains_of(machine.observations.time_s, machine.default)
    tables = [list(table(machine, group)[1]) for group in machine.observations.groups]
    inside = np.mean([gains[row, columns].max() for row, columns in enumerate(tables)])
    return f"{best_in_place(machine):.3f} in place, {inside:.3f} of {np.mean(list(map(len, tables))):.0f}"


def played(
    decisions: Decisions, machine: Machine, instances: int, megabytes: float, instance_ms: float, noise: float
) -> list[Played]:
    """Return what becomes of each of a machine's programs."""
    draw, found = np.random.default_rng(0), []
    for row, group in enumerate(machine.observations.groups):
        known, columns = table(machine, group)
        times = machine.observations.time_s[row, list(columns)]
        pages = pages_of([machine.mappings[column] for column in columns])
        case = Case(
            time_ns=(times / times[0] * instance_ms * 1e6)[:, None],
            instances=instances,
            pages=pages,
            pages_ns=megabytes * 256 * PAGE_US * 1e3,
            noise=np.exp(noise * draw.standard_normal(NOISES)),
        )
        found.append(decisions.play(known, case))
    return found


def gain_after(runs: Sequence[Played], before: Sequence[Played]) -> float:
    """Return the mean gain in log2 of what comes after the instances of shorter runs of the same programs."""
    pairs = zip(runs, before, strict=True)
    return float(np.mean([np.log2((run.baseline_ns - n.baseline_ns) / (run.time_ns - n.time_ns)) for run, n in pairs]))


def in_words(name: str, runs: Sequence[Played], best: float, before: Sequence[Played]) -> str:
    """Return a line of the table: shares of the best gain, whole and of the last instances, and the worst."""
    gain = np.array([np.log2(run.baseline_ns / run.time_ns) for run in runs])
    slower = max(run.time_ns / run.baseline_ns - 1 for run in runs)
    share = np.mean([run.in_trials_ns / run.time_ns for run in runs])
    return (
        f"{name:32}{gain.mean():7.3f}{best:8.3f}{gain.mean() / best:7.2f}{gain_after(runs, before) / best:7.2f}"
        f"{100 * slower:8.1f}%"
        f"{100 * max(run.worst for run in runs):8.1f}%{100 * share:8.1f}%"
        f"{np.mean([run.tried for run in runs]):7.1f}{np.mean([run.kept for run in runs]):6.1f}"
        f"{sum(run.back for run in runs):6}{np.median([run.reached_ns for run in runs]) / 1e9:8.1f} s"
    )


@click.command()
@click.option("--noise", default=0.03, show_default=True, help="The noise's deviation over an instance's time.")
@click.option("--megabytes", default=256.0, show_default=True, help="Of data: 4 KiB pages, which four threads move.")
@click.option("--instance-ms", default=10.0, show_default=True, help="Time of an instance under the default.")
def main(noise: float, megabytes: float, instance_ms: float) -> None:
    """Print, for each number of instances, gains in log2, slowdowns, and what was tried."""
    with tempfile.TemporaryDirectory() as folder:
        decisions = Decisions(Path(folder))
        head = f"{'instances':32}{'gain':>7}{'best':>8}{'whole':>7}{'now':>7}{'slower':>9}{'ever':>9}{'trials':>9}"
        click.echo(f"{head}{'tried':>7}{'kept':>6}{'back':>6}{'reached':>10}")
        for machine in machines():
            trials = searched(machine.observations, machine.default, machine.knows)
            search = float(trials.gain[:, 3].mean())  # four runs
            most, best = gains_of(machine.observations.time_s, machine.default).max(axis=1), best_in_place(machine)
            click.echo(
                f"{machine.name}: best {most.mean():.3f} of {len(machine.mappings)} mappings, {candidates(machine)}; a "
                f"search of four runs {search / best:.2f}"
            )
            for count in COUNTS:
                runs, before = (
                    played(decisions, machine, instances, megabytes, instance_ms, noise)
                    for instances in (count, count - NOW)
                )
                click.echo(in_words(f"  {count}", runs, best, before))


if __name__ == "__main__":
    main()
