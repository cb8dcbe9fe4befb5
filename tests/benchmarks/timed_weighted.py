"""Weighted pages in a timed guest: `python -m tests.benchmarks.timed_weighted guest-2x2`; times by its clock.

The threads of one node, and their pages there, interleaved over two nodes, and weighted over them: by ranges, and by
the kernel where it is given the weights. Seconds are those of the parallel regions, and of no hardware.
"""

import statistics
from collections import Counter
from dataclasses import replace

import click
import msgspec

from numapredict.collect.mapping import parse_label
from numapredict.collect.measuring.hardware import Computer, HardwareMachine
from numapredict.collect.measuring.measurement_lock import MeasurementLock
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.tools.numactl import WEIGHTS
from numapredict.collect.program import CODELETS, Program
from tests.benchmarks.table import table
from tests.guest.errors import GuestError
from tests.guest.served_machine import ServedMachine, served_machine
from tests.guest.timed.configuration import Timing, timing_of

MOST_S, RUN_S = 3600.0, 600.0
NAMES = ("stream-triad", "memory-set", "jacobi-3d-7", "spmv-csr")


def set_weights(served: ServedMachine, weights: dict[int, int]) -> None:
    """Give the guest's kernel these weights."""
    script = "\n".join(["set -e", *(f"echo {weight} > {WEIGHTS}/node{node}" for node, weight in weights.items())])
    if (ending := served.guest.run(["/bin/sh", "-c", script], {}, None, RUN_S)).exit_code != 0:
        raise GuestError(ending.reason)


def weights_of(placement: Placement) -> dict[int, int]:
    """Return the weight of each node (OS index)."""
    return dict(Counter(placement.os_indices(placement.chunks)))


def slower(timing: Timing, read_GBps: float) -> Timing:
    """Return a guest whose memories deliver so much, and take half of it.

    By 8 GB/s two threads want three times what their node has, as all threads of a node of cascadelake-2x28 do.
    """
    nodes = len(timing.machine.nodes)
    machine = msgspec.structs.replace(
        timing.machine,
        controller_read_GBps=(read_GBps,) * nodes,
        controller_write_GBps=(read_GBps / 2,) * nodes,
    )
    return replace(timing, machine=machine)


@click.command()
@click.argument("machine", default="guest-2x2")
@click.option("--rounds", default=3, show_default=True)
@click.option("--iterations", default=8, show_default=True)
@click.option("--memory", default=8.0, show_default=True, help="What each node's memory delivers, in GB/s.")
def main(machine: str, rounds: int, iterations: int, memory: float) -> None:
    """Print a table of medians: seconds, and the speedup of each way over pages on the threads' node."""
    timing = slower(timing_of(machine, None), memory)
    rows = []
    with served_machine(timing, 1, 0, MOST_S) as served:
        known = msgspec.structs.replace(served.topology, bandwidths=timing.machine.topology.bandwidths)
        computer = Computer(served.guest.run, MeasurementLock(served.guest.folder))
        hardware = HardwareMachine(known, repetitions=1, warm_up=0, computer=computer)
        cores = len(known.cpu_nodes[0].cores)
        labels = [f"{cores}x1-contiguous-{pages}" for pages in ("bind@1", "interleave@2", "weighted@2")]
        weights = weights_of(resolve(parse_label(labels[-1]), known))
        for name in NAMES:
            command = (CODELETS, name, "--size", "tiny", "--iterations", str(iterations))
            program = served.charged(Program(name=name, command=command, group=name))
            times: dict[str, list[float]] = {}
            for _ in range(rounds):
                for way in (*labels, "kernel"):
                    set_weights(served, weights if way == "kernel" else dict.fromkeys(weights, 1))
                    measured = hardware.run(program, parse_label(labels[-1] if way == "kernel" else way))
                    if not measured.repetitions or measured.repetitions[0].region_time_s is None:
                        raise GuestError(f"{name} {way}: {measured.status}: {measured.message}")
                    times.setdefault(way, []).append(measured.repetitions[0].region_time_s)
            middle = [statistics.median(values) for values in times.values()]
            spread = max((max(values) - min(values)) / statistics.median(values) for values in times.values())
            rows.append((name, f"{middle[0]:.2f}", *(f"{middle[0] / one:.2f}" for one in middle[1:]), f"{spread:.0%}"))
            click.echo(" ".join(rows[-1]), err=True)
    click.echo(
        f"timed guest {machine}, memory {memory:g} GB/s, factor {timing.factor:g}, weights {weights}, {rounds} rounds\n"
    )
    head = ("program", "on the threads' node, s", "interleave", "weighted, ranges", "weighted, kernel", "widest spread")
    click.echo(table(head, rows), nl=False)


if __name__ == "__main__":
    main()
