"""What `numapredict run --adapt` gains in a timed guest, by its clock, against the program as it is and NUMA balancing.

`python -m tests.benchmarks.timed_adapt guest-2x2`. The figures are those of a timed guest, of no hardware. A guest that
is F times slower than a machine counts F of its seconds as one: the first quiet second is a thousandth there, and the
kernel's balancing comes as much too early. Programs say how long each of their steps took.
"""

import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from tests.benchmarks.guest_output import Parts, guest_errors, named
from tests.benchmarks.programs import compiled, numapredict
from tests.guest.machine import Guest, python_environment
from tests.guest.timed.configuration import timing_of

SOURCES = Path(__file__).parents[1] / "guest" / "programs"
STEADY = 20
"""Steps at the end, whose median is the steady one."""
FIRST = 0.1
"""Part of the steps at the beginning before which it does not count how far a way is behind: single steps vary."""

WAYS = {
    "as it is": ("0", False),
    "balancing": ("1", False),
    "--adapt": ("0", True),
    "--adapt, balancing": ("1", True),
}


@dataclass(frozen=True)
class Subject:
    """A program that prints the seconds of each step."""

    name: str
    words: tuple[str, ...]


def subjects(steps: int) -> tuple[Subject, ...]:
    """Return the programs: kind, sizes and steps of `adapting.c`."""
    return tuple(
        Subject(name, (name, str(size), str(round(steps * share))))
        for name, size, share in (
            ("stencil", 384, 1.0),
            ("cg", 16384, 1.0),
            ("multigrid", 384, 1.0),
            ("short", 384, 0.02),
            ("phases", 384, 1.0),
        )
    )


def in_words(subject: str, way: str, times_s: Sequence[float], base: Sequence[float]) -> str:
    """Return a line: the whole, steady and worst speedup over the program as it is, and when the steady state began."""
    whole = sum(base) / sum(times_s)
    sums = np.cumsum(base)[: len(times_s)] / np.cumsum(times_s)[: len(base)]
    sums = sums[min(round(FIRST * len(sums)), len(sums) - 1) :]
    steady, base_steady = (float(np.median(each[-STEADY:])) for each in (times_s, base))
    near = [n for n, time_s in enumerate(times_s) if time_s <= 1.1 * steady]
    reached = sum(times_s[: near[0]]) if near else sum(times_s)
    return (
        f"{subject:10} {way:20} {len(times_s):5} {sum(times_s):8.2f} {whole:7.2f}x {base_steady / steady:7.2f}x"
        f" {float(sums.min()):7.2f}x {reached:8.2f} s"
    )


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option("--steps", type=click.IntRange(50), default=600, show_default=True)
@click.option("--only", default="", help="Only programs whose names contain this.")
def main(machine: str, factor: float | None, steps: int, only: str) -> None:
    """Boot one guest, run each program in all ways, and print speedups as the runs end."""
    base: dict[str, Sequence[float]] = {}

    def take(name: str, lines: tuple[str, ...]) -> None:
        subject, _, way = name.partition(": ")
        times_s = [float(line) for line in lines if not line.startswith("sum")]
        base.setdefault(subject, times_s)
        if times_s:
            click.echo(in_words(subject, way, times_s, base[subject]))

    with guest_errors(), tempfile.TemporaryDirectory(prefix="numapredict-adapt-") as name:
        timing = timing_of(machine, factor)
        program = compiled(SOURCES / "adapting.c", Path(name))
        folder = Path(name) / "guest"
        folder.mkdir()
        threads = timing.machine.topology.core_count
        lines = ["set -e", f"export OMP_NUM_THREADS={threads} OMP_WAIT_POLICY=passive"]
        for subject in subjects(steps):
            for way, (balancing, adapted) in WAYS.items():
                if only not in subject.name:
                    continue
                words = (*numapredict(), "run", "--adapt", "--fresh") if adapted else ()
                lines.append(f"echo {balancing} > /proc/sys/kernel/numa_balancing")
                lines += [named(f"{subject.name}: {way}"), shlex.join([*words, str(program), *subject.words])]
        load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
        click.echo(f"timed guest {machine}, factor {timing.factor:g}; load average here {load}")
        click.echo(f"{'':31} {'steps':>5} {'seconds':>8} {'whole':>8} {'steady':>8} {'worst':>8} {'reached':>10}")
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
