"""How much processor time a search takes in addition to its runs, with all knowledge that ships."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from numapredict.collect.modelled.description import load_description, machine_names
from numapredict.predictor.searching.next_run import next_run
from numapredict.predictor.searching.prior import prior_of
from tests.benchmarks.figures import Figure, show

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the processor milliseconds that something takes, and its result."""
    began = time.process_time()
    found = work()
    return (time.process_time() - began) * 1e3, found


def first_times(machine: str) -> tuple[float, float]:
    """Return the milliseconds to read what is known of a machine, once a search, and to choose its fourth run.

    The machine is a new one of this shape: all that is known of it is carried over from all machines that ship.
    """
    topology = load_description(machine).topology
    name = f"another {machine}"
    read_ms, prior = timed(lambda: prior_of(name, topology, Path("none"), lambda _: True, modelled=True))
    columns = [prior.default, 0 if prior.default else 1, len(prior.mappings) - 1]
    chosen_ms, _found = timed(lambda: next_run(prior.known, columns, [0.0, 0.5, -1.0]))
    return read_ms, chosen_ms


def measure(machine: str, rounds: int) -> tuple[Figure, Figure]:
    """Return the times of ``first_times``, each round in a process of its own, as a user's search is."""
    code = f"import json; from tests.benchmarks.searching import *; print(json.dumps(first_times({machine!r})))"
    times = [json.loads(subprocess.check_output([sys.executable, "-c", code])) for _ in range(rounds)]
    read_ms, chosen_ms = zip(*times, strict=True)
    return (
        Figure(f"what is known of {machine}", "ms", read_ms, "below 50, with the next run"),
        Figure(f"the next run on {machine}", "ms", chosen_ms),
    )


@click.command()
@click.option("--rounds", default=5, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(rounds: int, as_json: bool) -> None:
    """Measure both on new machines of every described shape."""
    show([figure for machine in machine_names() for figure in measure(machine, rounds)], as_json=as_json)


if __name__ == "__main__":
    main()
