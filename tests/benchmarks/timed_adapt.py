"""What share of the best gain `numapredict run --adapt` captures in a timed guest, by its clock.

`python -m tests.benchmarks.timed_adapt guest-2x2`. The figures are those of a timed guest, of no hardware. A guest that
is F times slower than a machine counts F of its seconds as one: the first quiet time is a thousandth there, and the
kernel's balancing comes as much too early. Programs say how long each part of each of their steps took. The best gain
is that of each part under its own best mapping, placed from the start, which no run may reach. Runs of the program as
it is, as long as the others, come before, between and after those: one differs from the next by several hundredths.
"""

import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.preload import preload_environment
from numapredict.collect.topology import Topology
from numapredict.native.library import placement_library
from tests.benchmarks.guest_output import Parts, guest_errors, named
from tests.benchmarks.programs import compiled, numapredict
from tests.guest.machine import Guest, python_environment
from tests.guest.timed.configuration import timing_of
from tests.shapes import shape

SOURCES = Path(__file__).parents[1] / "guest" / "programs"
COUNTS = (300, 1_000)
"""Instances of the main regions, after which a share is told."""

AROUND = 10
"""Steps before that, whose median counts."""

FIRST_STEPS = 5
"""Of a short run, which do not count: pages find their places there."""

SHORT = 12
POLICIES = ("interleave", "locality", "dataset", "balance", "mix")
Floats = npt.NDArray[np.float64]

AS_IT_IS = "as it is"
WAYS = {"balancing": ("1", False), "--adapt": ("0", True), "--adapt, balancing": ("1", True)}


@dataclass(frozen=True)
class Subject:
    """A program: its kind and size, as `adapting.c` takes them, and instances of its main regions in a step."""

    kind: str
    instances: int
    size: int = 256

    def steps_of(self, instances: int) -> int:
        """Return how many steps have so many instances."""
        return -(-instances // self.instances)


SUBJECTS = (
    *(Subject("shared", 1), Subject("gather", 1, 384), Subject("cg", 3), Subject("stencil+shared", 3)),
    *(Subject("gather+stencil", 3), Subject("stencil+levels", 2), Subject("stencil", 2), Subject("multigrid", 8)),
    *(Subject("home", 2), Subject("compute", 1)),
)
"""Four with one main region, four with several, and two that no mapping makes faster."""


def labels(topology: Topology) -> tuple[str, ...]:
    """Return the mappings under which each program is timed: all cores, one node's, one."""
    nodes, cores = len(topology.cpu_nodes), topology.core_count
    teams = {(cores, nodes), (cores // nodes, 1), (1, 1)}
    found = [f"{cores}x{nodes}-contiguous-first-touch"]
    for threads, over in sorted(teams, reverse=True):
        if over > 1:
            found += [f"{threads}x{over}-contiguous-{policy}" for policy in POLICIES]
        else:
            found += [f"{threads}x1-contiguous-bind", f"{threads}x1-contiguous-interleave@{nodes}"]
    return tuple(found)


def steps_of(lines: Sequence[str]) -> Floats:
    """Return the seconds of each part of each step: [steps, parts]."""
    return np.array([[float(word) for word in line.split()] for line in lines if line[:1] == " "])


def median_step(parts: Floats) -> Floats:
    """Return the parts of a usual step of a short run."""
    found: Floats = np.median(parts[FIRST_STEPS:], axis=0)
    return found


def in_words(subject: Subject, way: str, parts: Floats, base: Floats, best_s: float) -> str:
    """Return a line: shares of the best gain after so many instances, then and on the way there; the worst so far.

    ``base``: the seconds of the steps of the program as it is; their mean stands for those that it did not have.
    """
    steps_s, base_s = parts.sum(axis=1), float(np.median(base))
    most = np.log2(base_s / best_s)
    behind = np.cumsum(steps_s) / (float(base.mean()) * np.arange(1, len(steps_s) + 1))
    cells = []
    for count in COUNTS:
        at = min(subject.steps_of(count), len(steps_s))
        now = np.log2(base_s / np.median(steps_s[at - AROUND : at]))
        cells.append(f"{count:5}: {now / most:5.2f} {-np.log2(behind[at - 1]) / most:5.2f}")
    worst = behind[len(behind) // 10 :].max() - 1
    return (
        f"{subject.kind:16} {way:20} best {base_s / best_s:5.2f}x  {'  '.join(cells)}  whole {1 / behind[-1]:5.2f}x"
        f"  end {base_s / np.median(steps_s[-AROUND:]):5.2f}x  worst {100 * worst:5.1f}%"
    )


@dataclass
class Taken:
    """What is known of a subject so far: steps of its runs as it is, as asked, and usual ones by mapping."""

    subject: Subject
    as_it_is: list[Floats] = field(default_factory=list)
    asked: list[tuple[str, Floats]] = field(default_factory=list)
    usual: dict[str, Floats] = field(default_factory=dict)

    def take(self, way: str, parts: Floats) -> None:
        """Take the steps of a run: [steps, parts]."""
        if way in WAYS:
            self.asked.append((way, parts))
        elif way == AS_IT_IS:
            self.as_it_is.append(parts)
        else:
            self.usual[way] = median_step(parts)

    def in_words(self) -> list[str]:
        """Return a line for each run that was asked for, and one on what they are compared with."""
        runs_s = [each.sum(axis=1) for each in self.as_it_is]
        usual = {**self.usual, AS_IT_IS: np.median(np.concatenate(self.as_it_is), axis=0)}
        best_s = float(np.min(list(usual.values()), axis=0).sum())
        base = np.concatenate(runs_s)
        found = [in_words(self.subject, way, parts, base, best_s) for way, parts in self.asked]
        one = min(usual, key=lambda label: float(usual[label].sum()))
        whole = [float(each.mean() / base.mean()) for each in runs_s]
        gain = float(usual[AS_IT_IS].sum() / usual[one].sum())
        end = f"runs as it is took {min(whole):.3f} to {max(whole):.3f} of their mean"
        return [*found, f"{'':16} one mapping: {one} {gain:.2f}x; {end}"]


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option("--only", default="", help="Only programs whose names contain this.")
@click.option("--way", "ways", multiple=True, type=click.Choice(list(WAYS)), default=("--adapt", "balancing"))
def main(machine: str, factor: float | None, only: str, ways: Sequence[str]) -> None:
    """Boot one guest, run each program in all ways, and print shares as the runs end."""
    taken = {subject.kind: Taken(subject) for subject in SUBJECTS if only in subject.kind}

    def take(name: str, lines: tuple[str, ...]) -> None:
        kind, _, way = name.partition(": ")
        parts = steps_of(lines)
        if len(parts) > 0:
            taken[kind].take(way, parts)
            if len(taken[kind].as_it_is) > len(ways):
                click.echo("\n".join(taken[kind].in_words()))

    with guest_errors(), tempfile.TemporaryDirectory(prefix="numapredict-adapt-") as name:
        timing = timing_of(machine, factor)
        program = compiled(SOURCES / "adapting.c", Path(name))
        folder = Path(name) / "guest"
        folder.mkdir()
        described = shape(tuple(len(node.cores) for node in timing.machine.topology.nodes))
        topology = replace(described, nodes=tuple(replace(node, os_index=node.index) for node in described.nodes))
        lines = ["set -e", f"export OMP_NUM_THREADS={topology.core_count} OMP_WAIT_POLICY=passive"]
        for subject in (each.subject for each in taken.values()):
            words = [str(program), subject.kind, str(subject.size)]
            steps = str(subject.steps_of(COUNTS[-1]))
            balancing_off = "echo 0 > /proc/sys/kernel/numa_balancing"
            as_it_is = [balancing_off, named(f"{subject.kind}: {AS_IT_IS}"), shlex.join([*words, steps])]
            lines.append(balancing_off)
            for label in labels(topology):
                variables = preload_environment({}, resolve(parse_label(label), topology), str(placement_library()))
                library = variables.pop("LD_PRELOAD")  # before the one that makes a program pay
                given = [f"LD_PRELOAD={library}:$LD_PRELOAD", *(f"{k}='{v}'" for k, v in variables.items())]
                lines += [named(f"{subject.kind}: {label}"), " ".join([*given, shlex.join([*words, str(SHORT)])])]
            for way in ways:
                balancing, adapted = WAYS[way]
                before = (*numapredict(), "run", "--adapt", "--fresh") if adapted else ()
                lines += as_it_is
                lines.append(f"echo {balancing} > /proc/sys/kernel/numa_balancing")
                lines += [
                    named(f"{subject.kind}: {way}"),
                    shlex.join([*before, *words, steps]),
                ]
            lines += as_it_is
        load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
        click.echo(f"timed guest {machine}, factor {timing.factor:g}; load average here {load}")
        environment = {**python_environment(), "GUEST_PAYS": program.name, "NUMAPREDICT_CACHE": str(folder)}
        guest = Guest(timing.shape(), ("transparent_hugepage=never",), timing)
        output = Parts(take)
        try:
            result = guest.run(["sh", "-c", "\n".join(lines)], folder, environment, 7200, (output, sys.stderr.buffer))
        finally:
            output.end()
    if result.exit_code != 0:
        raise SystemExit(f"exit code {result.exit_code}")


if __name__ == "__main__":
    main()
