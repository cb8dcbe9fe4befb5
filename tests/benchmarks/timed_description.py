"""A timed guest described by measuring it: each figure over what the guest was made of.

`python -m tests.benchmarks.timed_description guest-2x2`. The figures are those of a timed guest, of no hardware.
"""

import tempfile
import time
from pathlib import Path

import click

from numapredict.collect.describing.sample import Pace
from tests.benchmarks.figures import Figure, show
from tests.guest.described import comparisons, measured_guest
from tests.guest.machine import EMULATOR, Guest
from tests.guest.served import served
from tests.guest.timed.configuration import timing_of
from tests.guest.timed.parts import build_parts

MEMORY_MB = 384
MOST_S = 3600.0


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--factor", type=float, help="How many times slower than the machine.")
@click.option("--rounds", default=5, show_default=True)
@click.option("--round-ms", default=100, show_default=True, help="By the guest's clock.")
@click.option("--json", "as_json", is_flag=True)
def main(machine: str, factor: float | None, rounds: int, round_ms: int, as_json: bool) -> None:
    """Boot one guest, measure it as a computer, and print measured / described for each figure."""
    timing = timing_of(machine, factor)
    with tempfile.TemporaryDirectory(prefix="numapredict-timed-") as name:
        folder = Path(name)
        build_parts(folder, EMULATOR)
        guest = Guest(timing.shape(MEMORY_MB), ("numa_balancing=disable",), timing)
        with served(guest, folder, MOST_S) as running:
            began_s = time.monotonic()
            measured = measured_guest(running, timing.machine, Pace(rounds, round_ms, attempts=1))
            lasted_s = time.monotonic() - began_s
    figures = [
        Figure(f"timed guest, {each.name}", "", (each.ratio,), "0.9 to 1.1") for each in comparisons(measured, timing)
    ]
    widest = max(sample.spread for sample in measured.samples())
    teams = [
        Figure(
            f"timed guest, {team.threads} threads on {team.nodes} nodes, {name}", name[-2:], getattr(team, name).values
        )
        for team in measured.teams
        for name in ("fork_join_us", "barrier_us", "atomic_ns", "lock_ns")
    ]
    whole = [Figure("widest spread of a figure", "", (widest,)), Figure("all measurements", "s", (lasted_s,))]
    show([*figures, *teams, *whole], as_json=as_json)


if __name__ == "__main__":
    main()
