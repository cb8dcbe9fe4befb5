"""The kernel's own placement against ours, in a timed guest: `python -m tests.benchmarks.timed_kernel_placement`.

Each program runs in these ways, in turn, round by round: as it is, on all CPUs; the same with the kernel's automatic
NUMA balancing at its defaults; with balancing that scans the guest's factor less memory a second (see
timed_balancing.py); with its pages interleaved by numactl; under the mapping that was advised, and under the one that
was best in the sweep. Times are those of the whole process by the guest's clock, of no hardware.
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from numapredict.collect.mapping import parse_label
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.placing.launcher import Launching, launcher_command, read_time_s
from numapredict.collect.program import Program
from tests.benchmarks.table import table
from tests.benchmarks.timed_balancing import DEFAULTS, settings_lines, slower_scan
from tests.benchmarks.timed_gains import Gain, gains, geometric, read_sweep
from tests.benchmarks.timed_programs import codelets, foreign
from tests.guest.errors import GuestError
from tests.guest.served_machine import ServedMachine, served_machine
from tests.guest.timed.configuration import timing_of

MOST_S, RUN_S = 4 * 3600.0, 600.0
BALANCING = "/proc/sys/kernel/numa_balancing"


def plain_s(served: ServedMachine, program: Program, before: Sequence[str] = ()) -> float:
    """Return the time of one run without the preload library, on all CPUs, in seconds of the guest's clock."""
    clock = served.guest.folder / "clock"
    clock.unlink(missing_ok=True)
    paying = dict(served.charged(program).environment)
    preload = {"LD_PRELOAD": paying.pop("LD_PRELOAD")}
    words = launcher_command([*before, executable_of(program), *program.command[1:]], preload, Launching(time=clock))
    threads = {"OMP_NUM_THREADS": str(served.topology.core_count)}
    ending = served.guest.run(words, paying | threads, None, RUN_S)
    time_s = read_time_s(clock)
    if ending.exit_code != 0 or time_s is None:
        raise GuestError(f"{program.name}: {ending.reason}")
    return time_s


def set_balancing(served: ServedMachine, mode: int, settings: Mapping[str, int]) -> None:
    """Switch the kernel's balancing, and set how it scans."""
    script = "\n".join(["set -e", *settings_lines(settings), f"echo {mode} > {BALANCING}"])
    if (ending := served.guest.run(["/bin/sh", "-c", script], {}, None, RUN_S)).exit_code != 0:
        raise GuestError(ending.reason)


def balanced_s(served: ServedMachine, program: Program, settings: Mapping[str, int]) -> float:
    """Return the time of one run with the kernel's balancing on."""
    set_balancing(served, 1, settings)
    try:
        return plain_s(served, program)
    finally:
        set_balancing(served, 0, DEFAULTS)


def ways_of(served: ServedMachine, program: Program, advice: Gain) -> dict[str, Callable[[], float]]:
    """Return the ways to run a program by name; each gives the seconds of one run."""
    interleaved = ("/usr/bin/numactl", "--interleave=all")
    return {
        "default": lambda: plain_s(served, program),
        "balancing": lambda: balanced_s(served, program, DEFAULTS),
        "balancing / factor": lambda: balanced_s(served, program, slower_scan(served.timing.factor)),
        "interleaved": lambda: plain_s(served, program, interleaved),
        "advised": lambda: served.run(program, parse_label(advice.advised.label)).time_s,
        "best in sweep": lambda: served.run(program, parse_label(advice.best.label)).time_s,
    }


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--dataset", required=True, type=click.Path(path_type=Path, exists=True), help="The sweep's folder.")
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--more", default=8.0, show_default=True, help="Times as many iterations as in the sweep.")
@click.option("--only", multiple=True, help="Only programs whose names begin so; repeatable.")
def main(machine: str, dataset: Path, factor: float | None, rounds: int, more: float, only: tuple[str, ...]) -> None:
    """Print a table: seconds by default, and the speedups of the other ways over it."""
    known = {one.program: one for one in gains(read_sweep(dataset, machine))}
    timing = timing_of(machine, factor)
    rows: list[tuple[str, ...]] = []
    speedups: list[list[float]] = []
    head: tuple[str, ...] = ()
    with served_machine(timing, 1, 0, MOST_S) as served:
        set_balancing(served, 0, DEFAULTS)
        programs = (*codelets(more), *foreign(served.guest.folder, more))
        for program in [one for one in programs if one.name in known and (not only or one.name.startswith(only))]:
            ways = ways_of(served, program, known[program.name])
            times: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(rounds):
                for way, run in ways.items():
                    times[way].append(run())
            middle = [statistics.median(values) for values in times.values()]
            spread = max((max(values) - min(values)) / statistics.median(values) for values in times.values())
            speedups.append([middle[0] / one for one in middle[1:]])
            rows.append((program.name, f"{middle[0]:.2f}", *(f"{one:.2f}" for one in speedups[-1]), f"{spread:.0%}"))
            head = ("program", "default, s", *list(ways)[1:], "widest spread")
            click.echo(" ".join(rows[-1]), err=True)
    means = [f"{geometric(column):.2f}" for column in zip(*speedups, strict=True)]
    rows.append(("geometric mean", "", *means, ""))
    click.echo(f"timed guest {machine}, factor {timing.factor:g}, {rounds} rounds: speedups of the whole process\n")
    click.echo(table(head, rows), nl=False)


if __name__ == "__main__":
    main()
