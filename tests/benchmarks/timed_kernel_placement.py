"""The kernel's own placement against ours, in a timed guest: `python -m tests.benchmarks.timed_kernel_placement`.

Each program runs in five ways, in turn, round by round: as it is, on all CPUs; the same with the kernel's automatic
NUMA balancing; the same with its pages interleaved by numactl; under the mapping that was advised, and under the one
that was best in the sweep. Times are those of the whole process by the guest's clock, of no hardware.
"""

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from numapredict.collect.data.dataset import read_dataset
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.placing.launcher import Launching, launcher_command, read_time_s
from numapredict.collect.program import Program
from tests.benchmarks.table import table
from tests.benchmarks.timed_gains import gains, geometric
from tests.benchmarks.timed_programs import codelets, foreign
from tests.guest.errors import GuestError
from tests.guest.served_machine import ServedMachine, served_machine
from tests.guest.timed.configuration import FACTOR, Timing, timed_machine

MOST_S, RUN_S = 4 * 3600.0, 600.0
BALANCING = "/proc/sys/kernel/numa_balancing"
SCAN = "/sys/kernel/debug/sched/numa_balancing"
WAYS = ("default", "balancing", "interleave", "advised", "best")


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


def set_balancing(served: ServedMachine, mode: int) -> None:
    """Switch the kernel's balancing."""
    command = ["/bin/sh", "-c", f"echo {mode} > {BALANCING}"]
    if (ending := served.guest.run(command, {}, None, RUN_S)).exit_code != 0:
        raise GuestError(ending.reason)


def balanced_s(served: ServedMachine, program: Program) -> float:
    """Return the time of one run with the kernel's balancing on."""
    set_balancing(served, 1)
    try:
        return plain_s(served, program)
    finally:
        set_balancing(served, 0)


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--dataset", required=True, type=click.Path(path_type=Path, exists=True), help="The sweep's folder.")
@click.option("--factor", default=FACTOR, show_default=True, help="How many times slower than the machine.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--more", default=8.0, show_default=True, help="Times as many iterations as in the sweep.")
@click.option("--only", multiple=True, help="Only programs whose names begin so; repeatable.")
def main(machine: str, dataset: Path, factor: float, rounds: int, more: float, only: tuple[str, ...]) -> None:
    """Print a table: seconds by default, and the speedups of the other ways over it."""
    known = {one.program: one for one in gains(read_dataset(dataset))}
    timing = Timing(timed_machine(machine), factor)
    rows, speedups = [], []
    with served_machine(timing, 1, 0, MOST_S) as served:
        set_balancing(served, 0)
        programs = (*codelets(more), *foreign(served.guest.folder, more))
        for program in [one for one in programs if one.name in known and (not only or one.name.startswith(only))]:
            advice = known[program.name]
            ways: dict[str, Callable[[], float]] = {
                "default": lambda program=program: plain_s(served, program),
                "balancing": lambda program=program: balanced_s(served, program),
                "interleave": lambda program=program: plain_s(
                    served, program, ("/usr/bin/numactl", "--interleave=all")
                ),
                "advised": lambda program=program, advice=advice: served.run(program, advice.advised).time_s,
                "best": lambda program=program, advice=advice: served.run(program, advice.best).time_s,
            }
            times = {way: [] for way in WAYS}
            for _ in range(rounds):
                for way in WAYS:
                    times[way].append(ways[way]())
            middle = {way: statistics.median(values) for way, values in times.items()}
            spread = max((max(values) - min(values)) / middle[way] for way, values in times.items())
            speedup = [middle["default"] / middle[way] for way in WAYS]
            speedups.append(speedup)
            rows.append(
                (program.name, f"{middle['default']:.2f}", *(f"{one:.2f}" for one in speedup[1:]), f"{spread:.0%}")
            )
            click.echo(" ".join(rows[-1]), err=True)
    rows.append(
        ("geometric mean", "", *(f"{geometric(column):.2f}" for column in list(zip(*speedups, strict=True))[1:]), "")
    )
    head = ("program", "default, s", "NUMA balancing", "interleaved", "advised", "best in the sweep", "widest spread")
    click.echo(f"timed guest {machine}, factor {factor:g}, {rounds} rounds\n\n{table(head, rows)}", nl=False)


if __name__ == "__main__":
    main()
