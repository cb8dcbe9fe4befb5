"""How long learning and answering take: an answer after its probes, training, and clustering of many programs."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import click
import numpy as np

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import mapping_named
from numapredict.collect.program import Program
from numapredict.collect.space import full_space
from numapredict.predictor.evaluation.folds import assigned_row
from numapredict.predictor.learning.clustering import cut, ward_linkage
from numapredict.predictor.learning.features import Observations, clustering_rows, observe
from numapredict.predictor.learning.learning import options_of
from numapredict.predictor.learning.train import train_on
from tests.benchmarks.figures import Figure, show
from tests.planted import four_by_eight, planted_dataset

PROGRAMS, MAPPINGS = 90, 150
MANY = (1000, 5000, 10_000, 20_000)
A_GROUP = 2
"""Programs of the many that are variants of one, as the codelets are."""


def observations_of(dataset: Dataset, programs: int, mappings: int) -> Observations:
    """Return planted programs, as many as asked for, under the first mappings of the full space and the default."""
    seen = observe(dataset)
    generator = np.random.default_rng(1)
    rows = generator.integers(0, len(seen.programs), programs)
    columns = np.arange(len(seen.mappings))[:mappings]
    columns[0] = seen.column(mapping_named("32x4-contiguous-first-touch"))
    chosen = np.unique(columns)

    def varied(values: np.ndarray) -> np.ndarray:
        return values[np.ix_(rows, chosen)] * np.exp(generator.normal(0, 0.05, (programs, len(chosen))))

    assert seen.local_bandwidth_GBps is not None
    return Observations(
        programs=tuple(Program(name=f"p{n}", command=("x",), group=f"g{n // A_GROUP}") for n in range(programs)),
        mappings=tuple(seen.mappings[column] for column in chosen),
        time_s=varied(seen.time_s),
        local_bandwidth_GBps=varied(seen.local_bandwidth_GBps),
    )


def processor_s(work: Callable[[], object]) -> float:
    """Return the processor time that something takes, of all threads of this process."""
    began = time.process_time()
    work()
    return time.process_time() - began


def cluster(programs: int) -> tuple[float, float]:
    """Return seconds and the greatest memory in GB of clustering so many programs, in a process of its own."""
    rows = clustering_rows(np.random.default_rng(1).lognormal(0, 0.5, (programs, MAPPINGS)), 0, "log")
    began = time.perf_counter()
    cut(ward_linkage(rows), 6)
    return time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def train_many(programs: int) -> tuple[float, float]:
    """Return seconds and the greatest memory in GB of all of a training on so many programs, once they are read.

    In a process of its own. Reading is not in it: 20,000 programs are 3 million runs.
    """
    dataset = planted_dataset(30, subset="full")
    observations = observations_of(dataset, programs, MAPPINGS)
    began = time.perf_counter()
    train_on(observations, dataset, options_of(mapping_named("32x4-contiguous-first-touch"), None))
    return time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


@click.command()
@click.option("--rounds", default=3, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def main(rounds: int, as_json: bool) -> None:
    """Measure an answer, the training of 90 programs under 150 mappings, and learning from up to 20,000 programs."""
    dataset = planted_dataset(30, subset="full")
    observations = observations_of(dataset, PROGRAMS, min(MAPPINGS, len(full_space(four_by_eight()))))
    options = options_of(mapping_named("32x4-contiguous-first-touch"), None)
    trained, answered = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        model = train_on(observations, dataset, options)
        trained.append(time.perf_counter() - began)
        answer = partial(assigned_row, model, observations, 0)
        answered += [1000 * processor_s(answer) for _ in range(20)]
    figures = [
        Figure("an answer after its probes, processor", "ms", tuple(answered), "under 50"),
        Figure(
            f"training {PROGRAMS} programs x {len(observations.mappings)} mappings", "s", tuple(trained), "under 10"
        ),
    ]
    for what, work in (("clustering", cluster), ("training", train_many)):
        for programs in MANY:
            took = []
            for _ in range(rounds):
                with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                    took.append(pool.submit(work, programs).result())
            goals = ("under 60", "under 4") if programs == MANY[-1] else ("", "")
            name = f"{what} {programs:,} programs x {MAPPINGS} mappings"
            figures.append(Figure(name, "s", tuple(t for t, _ in took), goals[0]))
            figures.append(Figure(f"{name}, memory", "GB", tuple(m for _, m in took), goals[1]))
    show(figures, as_json=as_json)


if __name__ == "__main__":
    main()
