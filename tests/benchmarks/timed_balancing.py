"""Where pages go over a run, the kernel's NUMA balancing against ours, on data that one thread initialised.

`python -m tests.benchmarks.timed_balancing guest-2x2`. The figures are those of a timed guest, of no hardware.

A guest that is F times slower than a machine can be read in two ways. As that machine, with the same data: then all
seconds are divided by F, and the kernel, which looks after a second, comes F times too early. Or as a machine with F
times as much data, of which a second is a second: then the kernel's periods are right and the memory that it scans in
one is F times too much. Balancing is therefore measured with its defaults; with as much memory a second as the second
reading wants; and with its periods times F, as the first wants.
"""

import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import msgspec

from tests.benchmarks.convergence import Convergence, convergence
from tests.benchmarks.guest_output import Parts, guest_errors, named
from tests.benchmarks.programs import compiled, numapredict
from tests.guest.machine import Guest, python_environment
from tests.guest.timed.configuration import Timing, timing_of

SOURCE = Path(__file__).parents[1] / "guest" / "programs" / "initialised.c"
SETTINGS = "/sys/kernel/debug/sched/numa_balancing"
# Of the kernel (kernel/sched/fair.c); the scan size is in MB and at least 1.
DEFAULTS = {"scan_delay_ms": 1000, "scan_period_min_ms": 1000, "scan_period_max_ms": 60000, "scan_size_mb": 256}
POLICIES = ("locality", "balance", "mix")
THREAD_KB = 512  # of the array: with the machines for guests, far more than the caches that the thread uses
PAGES = "pages"
HEAD = f"{'':34} {'steady':>8} {'spread':>6} {'gain':>7} {'from':>6} {'after':>8} {'lost':>8} {'all':>8}   pages"


@dataclass(frozen=True)
class Way:
    """One way to run the program: a name, the words before its own, and the kernel's balancing, None for off."""

    name: str
    words: tuple[str, ...]
    balancing: dict[str, int] | None = None


@dataclass(frozen=True)
class Run:
    """What the program said: the seconds of each iteration, and its pages by node at the end."""

    way: str
    times_s: tuple[float, ...]
    pages: dict[int, int]


def ways(timing: Timing) -> Iterator[Way]:
    """Yield the ways that are compared, the default first."""
    machine, factor = timing.machine, timing.factor
    threads, nodes = machine.topology.core_count, len(machine.nodes)
    alone = ("env", f"OMP_NUM_THREADS={threads}")
    bound = (*alone, "OMP_PROC_BIND=true")
    yield Way("default, first touch", bound)
    yield Way("interleave-all", (*bound, "numactl", "--interleave=all"))
    yield Way("balancing, default periods", bound, DEFAULTS)
    yield Way("balancing, threads not bound", alone, DEFAULTS)
    yield Way("balancing, memory a second over F", bound, slower_scan(factor))
    yield Way("balancing, periods times F", bound, longer_periods(factor))
    for policy in POLICIES:
        label = f"{threads}x{nodes}-contiguous-{policy}"
        yield Way(f"next touch, {policy}", (*numapredict(), "run", "-q", "--mapping", label, "--"))
    label = f"{threads}x{nodes}-contiguous-locality"
    yield Way("locality, with balancing", (*numapredict(), "run", "-q", "--mapping", label, "--"), DEFAULTS)


def slower_scan(factor: float) -> dict[str, int]:
    """Return settings by which the kernel scans its default MB a second over the factor, one MB at a time or more."""
    size_mb = max(round(DEFAULTS["scan_size_mb"] / factor), 1)
    period_ms = round(DEFAULTS["scan_period_min_ms"] * size_mb * factor / DEFAULTS["scan_size_mb"])
    longest_ms = max(DEFAULTS["scan_period_max_ms"], period_ms)
    return DEFAULTS | {"scan_size_mb": size_mb, "scan_period_min_ms": period_ms, "scan_period_max_ms": longest_ms}


def longer_periods(factor: float) -> dict[str, int]:
    """Return settings by which all times are the default's times the factor."""
    return {name: round(value * factor) if name.endswith("_ms") else value for name, value in DEFAULTS.items()}


def settings_lines(settings: Mapping[str, int]) -> list[str]:
    """Return the shell's lines that set how the kernel's balancing scans."""
    # The longest period first: the kernel takes no shortest one above it.
    ordered = sorted(settings.items(), key=lambda pair: "max" not in pair[0])
    return [f"echo {value} > {SETTINGS}/{name}" for name, value in (*ordered, *settings.items())]


def script(chosen: Sequence[Way], program: Sequence[str], runs: int) -> str:
    """Return the shell's script that runs the program in all ways, one after the other, and this so many times."""
    lines = ["set -e", "mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug"]
    for _ in range(runs):
        for way in chosen:
            lines.append(f"echo {1 if way.balancing else 0} > /proc/sys/kernel/numa_balancing")
            lines += [*settings_lines(way.balancing or DEFAULTS), named(way.name)]
            lines += [shlex.join([*way.words, *program])]
    return "\n".join(lines)


def run_of(way: str, lines: Sequence[str]) -> Run:
    """Return the run that a part of a script's output tells of."""
    times_s = tuple(float(line) for line in lines if not line.startswith(PAGES))
    ends = [line.split()[1:] for line in lines if line.startswith(PAGES)]
    pages = {int(node): int(count) for pair in ends[-1] for node, _, count in [pair.partition(":")]} if ends else {}
    return Run(way, times_s, pages)


def in_words(run: Run, course: Convergence, default_s: float) -> str:
    """Return a run's line of the table."""
    when = "-" if course.iteration is None else str(course.iteration)
    pages = " ".join(f"{node}:{count}" for node, count in run.pages.items())
    return (
        f"{run.way:34} {course.steady_s:8.4f} {100 * course.spread:5.1f}% {default_s / course.steady_s:6.2f}x"
        f" {when:>6} {course.after_s:8.2f} {course.lost_s:8.2f} {sum(run.times_s):8.2f}   {pages}"
    )


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--factor", type=float, help="How many times slower than the machine; 1000, of guest-4x2 2000.")
@click.option("--iterations", type=click.IntRange(4), default=160, show_default=True)
@click.option("--runs", type=click.IntRange(1), default=1, show_default=True, help="Of each way, in turn.")
@click.option("--only", default="", help="Only the ways whose names contain this, and the default.")
@click.option("--json", "as_json", is_flag=True)
def main(
    machine: str,
    factor: float | None,
    iterations: int,
    runs: int,
    only: str,
    as_json: bool,
) -> None:
    """Boot one guest, run a serially initialised program in it in all ways, and print when each became steady.

    Each row comes when its run has ended.
    """
    found: list[tuple[Run, Convergence]] = []

    def take(way: str, lines: tuple[str, ...]) -> None:
        run = run_of(way, lines)
        if len(run.times_s) < iterations:
            return  # why, is on standard error
        found.append((run, convergence(run.times_s)))
        if not as_json:
            default_s = [course.steady_s for one, course in found if one.way == chosen[0].name][-1]
            click.echo(in_words(*found[-1], default_s))

    with guest_errors(), tempfile.TemporaryDirectory(prefix="numapredict-balancing-") as name:
        timing = timing_of(machine, factor)
        kilobytes = THREAD_KB * timing.machine.topology.core_count
        chosen = [way for number, way in enumerate(ways(timing)) if number == 0 or only in way.name]
        program = compiled(SOURCE, Path(name))
        folder = Path(name) / "guest"
        folder.mkdir()
        words = script(chosen, (str(program), "serial", str(kilobytes), str(iterations), PAGES), runs)
        environment = {**python_environment(), "GUEST_PAYS": program.name}
        guest = Guest(timing.shape(), ("transparent_hugepage=never",), timing)
        if not as_json:
            click.echo(f"timed guest {machine}, factor {timing.factor:g}: {kilobytes} KB, seconds by the guest's clock")
            click.echo(HEAD)
        output = Parts(take)
        try:
            result = guest.run(["sh", "-c", words], folder, environment, 7200, (output, sys.stderr.buffer))
        finally:
            output.end()
            if as_json:
                listed = [asdict(run) | asdict(course) for run, course in found]
                click.echo(msgspec.json.format(msgspec.json.encode(listed)).decode())
    if result.exit_code != 0:
        raise SystemExit(f"exit code {result.exit_code}")


if __name__ == "__main__":
    main()
