"""Runs programs under the mappings of a timed guest, into a dataset: `python -m tests.benchmarks.timed_sweep`.

The campaign runs here and starts each program in a guest that stays up. It may be interrupted and goes on where it was.
The figures are those of a timed guest, of no hardware.
"""

import logging
from pathlib import Path

import click

from numapredict.collect.campaign.campaign import Campaign, Options
from numapredict.collect.mapping import Mapping
from numapredict.collect.space import default_mapping, full_space
from numapredict.collect.topology import Topology
from tests.benchmarks.timed_programs import codelets, foreign
from tests.guest.served_machine import served_machine
from tests.guest.timed.configuration import timing_of

MOST_S = 8 * 3600.0


def mappings(topology: Topology, threads: tuple[int, ...]) -> tuple[Mapping, ...]:
    """Return the full space, or what has so many threads and the default mapping."""
    default = default_mapping(topology)
    return tuple(one for one in full_space(topology) if not threads or one.threads in threads or one == default)


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--into", required=True, type=click.Path(path_type=Path, file_okay=False), help="The dataset's folder.")
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option("--repetitions", default=2, show_default=True, help="Timed runs of each.")
@click.option("--threads", multiple=True, type=int, help="Only mappings with so many threads; repeatable.")
@click.option("--only", multiple=True, help="Only programs whose names begin so; repeatable.")
def main(
    machine: str, into: Path, factor: float | None, repetitions: int, threads: tuple[int, ...], only: tuple[str, ...]
) -> None:
    """Sweep the programs on MACHINE."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    timing = timing_of(machine, factor)
    into.mkdir(parents=True, exist_ok=True)
    programs = [one for one in (*codelets(), *foreign(into)) if not only or one.name.startswith(only)]
    if not programs:
        raise click.UsageError(f"no program's name begins with {' or '.join(only)}")
    with served_machine(timing, repetitions, 0, MOST_S, ("numa_balancing=disable",)) as served:
        space = mappings(served.topology, threads)
        words = ["python -m tests.benchmarks.timed_sweep", machine, f"--factor {timing.factor:g}"]
        words += [f"--repetitions {repetitions}", *(f"--threads {number}" for number in threads)]
        command = " ".join([*words, *(f"--only {name}" for name in only)])
        campaign = Campaign(served, into, programs, space, command, Options(retry_failed=True))
        click.echo(f"{len(programs)} programs, {len(space)} mappings, {campaign.plan().runs} left")
        summary = campaign.run()
        campaign.finish()
    click.echo(f"{summary.finished} finished, {summary.failed} failed")


if __name__ == "__main__":
    main()
