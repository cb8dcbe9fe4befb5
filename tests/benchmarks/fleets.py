"""How learning from a fleet grows with its machines, and what a campaign on all of them costs.

The machines are those described, varied within what servers have; times are made up (`tests/planted.py`), in datasets
of the size that a campaign gives.
"""

import multiprocessing
import resource
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import click
import msgspec
import numpy as np
from matplotlib.figure import Figure as Drawing

from numapredict.collect.data.dataset import write_dataset
from numapredict.collect.data.dataset_store import add
from numapredict.collect.modelled.campaign_time import campaign_time_s
from numapredict.collect.modelled.description import MachineDescription, NodeShape, load_description, machine_names
from numapredict.collect.space import full_space
from numapredict.predictor.evaluation.fleet_session import learn_fleet
from numapredict.predictor.learning.learning import Wishes
from numapredict.predictor.searching.gains_file import read_gains
from numapredict.predictor.searching.prior import prior_of
from numapredict.reports import palette
from numapredict.reports.figure_file import write_figure
from numapredict.reports.source import sign
from tests.benchmarks.figures import Figure, show
from tests.planted import planted_dataset

GROWTH = (10, 30, 100)
CORES, WORKERS = 2, 64


def fleet(machines: int) -> list[MachineDescription]:
    """Return so many machines: each described one, then these with other cores, caches and distances.

    Half to twice the cores of a node and the shared cache, other nodes' latencies within a third.
    """
    known = [load_description(name) for name in machine_names()]
    return [_varied(known[n % len(known)], n // len(known)) for n in range(machines)]


def _varied(machine: MachineDescription, number: int) -> MachineDescription:
    if not number:
        return machine
    generator = np.random.default_rng(number)
    cores = max(round(max(node.cores for node in machine.nodes) * generator.choice([0.5, 0.75, 1.25, 1.5, 2.0])), 2)
    group = machine.shared_cache.cores
    cores = max(cores // group, 1) * group if group else cores
    farther = float(generator.uniform(0.75, 1.33))
    latency = tuple(
        tuple(value if row == column else value * farther for column, value in enumerate(values))
        for row, values in enumerate(machine.read_latency_ns)
    )
    shared = machine.shared_cache
    return msgspec.structs.replace(
        machine,
        name=f"{machine.name}-{number}",
        nodes=tuple(NodeShape(cores if node.cores else 0, node.memory_bytes) for node in machine.nodes),
        read_latency_ns=latency,
        shared_cache=msgspec.structs.replace(shared, size_bytes=int(shared.size_bytes * generator.choice([0.5, 1, 2]))),
    )


def campaign_s(machine: MachineDescription) -> float:
    """Return the seconds of a core for a program's traces and runs under all mappings, by the rule of `--dry-run`."""
    mappings = full_space(machine.topology)
    traces = sorted({(mapping.threads, mapping.threads_per_core) for mapping in mappings})
    return campaign_time_s([threads for threads, _ in traces], mappings, len(machine.nodes))


def stored(machine: MachineDescription, number: int, programs: int, store: Path) -> int:
    """Put made-up times of programs under all mappings of a machine into a store; return how many runs they are."""
    dataset = planted_dataset(programs, number, "full", topology=machine.topology)
    with tempfile.TemporaryDirectory() as folder:
        write_dataset(dataset, Path(folder))
        add(Path(folder), str(store))
    return len(dataset.measurements)


def learned(store: Path, machines: int, held_out: bool) -> tuple[float, float, float]:
    """Return the processor time in s, the greatest memory in GB and the MB of the file of learning, in its process."""
    path = store.parent / f"gains-{machines}.msgpack"
    began = time.process_time()
    learn_fleet([str(store)], path, Wishes(), held_out=held_out)
    took = time.process_time() - began
    return took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, path.stat().st_size / 1e6


def answered(path: Path, machine: MachineDescription) -> tuple[float, float]:
    """Return the processor time in ms of reading a fleet's file and of preparing a search by it."""
    began = time.process_time()
    read_gains(path)
    read = time.process_time()
    prior_of("a new machine", machine.topology, path, lambda _: True, modelled=True)
    return 1000 * (read - began), 1000 * (time.process_time() - read)


def drawn(machines: Sequence[int], seconds: Sequence[float], memory_GB: Sequence[float], source: str) -> Drawing:
    """Return the figure: time and memory of learning by the number of machines."""
    figure = Drawing(figsize=(6.4, 2.9), layout="constrained")
    for axes, values, unit in zip(figure.subplots(1, 2), (seconds, memory_GB), ("s", "GB"), strict=True):
        axes.plot(machines, values, color=palette.BLUE, marker="o")
        axes.set(
            xlabel="machines of the fleet",
            ylabel=f"{'processor time' if unit == 's' else 'memory'} of learning ({unit})",
        )
        axes.set_ylim(0, max(values) * 1.15)
        axes.set_xlim(0, max(machines) * 1.08)
        palette.quieten(axes)
    sign(figure, source)
    return figure


@click.command()
@click.option("--machines", multiple=True, type=int, help="How many (default: 10, 30 and 100).")
@click.option("--programs", default=128, show_default=True)
@click.option("--held-out", is_flag=True, help="Also compare the machines, each searched by the others alone.")
@click.option("--figure", type=click.Path(path_type=Path), help="Draw time and memory into this file.")
@click.option("--json", "as_json", is_flag=True)
def main(machines: tuple[int, ...], programs: int, held_out: bool, figure: Path | None, as_json: bool) -> None:
    """Measure learning from fleets of 10, 30 and 100 machines, and say what campaigns on them cost."""
    counts = sorted(machines or GROWTH)
    described = fleet(counts[-1])
    figures, grown = [], []
    with tempfile.TemporaryDirectory() as name:
        store, runs = Path(name) / "store", 0
        for at, machine in enumerate(described, 1):
            runs += stored(machine, at, programs, store)
            if at not in counts:
                continue
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                took, memory, size = pool.submit(learned, store, at, held_out).result()
                read, prepared = pool.submit(answered, store.parent / f"gains-{at}.msgpack", machine).result()
            grown.append((at, took, memory))
            core_h = programs * sum(map(campaign_s, described[:at])) / 3600
            said = partial("{1} of {0} machines".format, at)
            figures += [
                Figure(said("runs"), "", (float(runs),)),
                Figure(said(f"campaign on {CORES} cores, estimated,"), "h", (core_h / CORES,)),
                Figure(said(f"campaign on {WORKERS} workers, estimated,"), "h", (core_h / WORKERS,)),
                Figure(said("learning, processor,"), "s", (took,)),
                Figure(said("memory of learning"), "GB", (memory,)),
                Figure(said("file"), "MB", (size,)),
                Figure(said("an answer reads the file"), "ms", (read,)),
                Figure(said("an answer prepares a search"), "ms", (prepared,)),
            ]
    show(figures, as_json=as_json)
    if figure is not None:
        source = f"{programs} programs with made-up times under all mappings of varied machines"
        write_figure(drawn(*zip(*grown, strict=True), source), figure)


if __name__ == "__main__":
    main()
