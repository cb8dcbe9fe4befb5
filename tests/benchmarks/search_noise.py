"""How often a search ends slower than the program as it is, if every run's time has noise.

Every run has its recorded time, times log-normal noise that is independent of all others'. The search and the runs that
confirm its winner are the product's own, of what is known as in ``search_curves``; what it advises is judged by the
recorded times. The 95% intervals are exact ones of so many of so many searches, each counted as one of its own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import click
import numpy as np
from scipy.stats import binomtest

from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.collect.measuring.run_limit import UNLIMITED, RunLimit
from numapredict.collect.topology import Topology
from numapredict.predictor.advising.confirmation import confirm
from numapredict.predictor.advising.search import Runner, search
from numapredict.predictor.advising.search_options import RUNS, SearchOptions
from numapredict.predictor.evaluation.search_curve import Knows, Space, space_of
from numapredict.predictor.learning.datasets import open_datasets, shipped_datasets
from numapredict.predictor.learning.features import Observations, gains_of
from numapredict.predictor.learning.scores import SEED, SLOWER, Array
from numapredict.predictor.searching.prior import Prior
from tests.benchmarks.search_curves import knowledges, measured_machine, observed
from tests.golden.evaluations import measured


@dataclass(frozen=True)
class Noise:
    """The deviation of a run's time, as a share of it, and how often the whole is drawn."""

    share: float
    draws: int


def advised(times_s: Array, prior: Prior, topology: Topology, draw: np.random.Generator, noise: float) -> int:
    """Return the column that a search advises for a program of these times, float64[mappings]."""
    columns = {mapping: column for column, mapping in enumerate(prior.mappings)}

    def run(mapping: AnyMapping, limit: RunLimit = UNLIMITED) -> Measurement:
        assert isinstance(mapping, Mapping)
        time_s = float(times_s[columns[mapping]] * np.exp(noise * draw.standard_normal()))
        ended = time_s > limit.whole_s
        return Measurement(
            program="",
            mapping=mapping,
            machine="",
            modelled=False,
            status="timeout" if ended else "ok",
            repetitions=() if ended else (Repetition(time_s=time_s),),
        )

    default = prior.mappings[prior.default]
    runner = Runner("", default, lambda: run(default), run)
    found = search(runner, prior, topology, SearchOptions(RUNS))
    winner = prior.mappings[found.made[found.best()].column]
    if winner == default:
        return prior.default
    sides: dict[AnyMapping, Callable[[], Measurement]] = {default: lambda: run(default), winner: lambda: run(winner)}
    result = confirm("", sides, *found.confirming_rounds(None))
    return columns[winner] if result.won else prior.default


def gains(observations: Observations, default: int, knows: Knows, topology: Topology, noise: Noise) -> Array:
    """Return the true gains of what is advised, in log2, float64[draws, programs]."""
    # Times alone are looked up by a mapping: another machine's opaque ones have stand-ins.
    mappings = tuple(
        each if isinstance(each, Mapping) else Mapping(n + 1, 1, "contiguous", 1, "first-touch")
        for n, each in enumerate(observations.mappings)
    )
    known = {group: knows(group) for group in dict.fromkeys(observations.groups)}
    priors = {group: Prior(mappings, each, default, "") for group, each in known.items()}
    true, draw = gains_of(observations.time_s, default), np.random.default_rng(SEED)
    return np.array(
        [
            [
                true[n, advised(observations.time_s[n], priors[group], topology, draw, noise.share)]
                for n, group in enumerate(observations.groups)
            ]
            for _ in range(noise.draws)
        ]
    )


def slower_in_words(slower: int, searches: int) -> str:
    """Return how many searches ended slower, their share and its interval."""
    interval = binomtest(slower, searches).proportion_ci()
    share = f"{slower / searches:.2%} ({interval.low:.2%} to {interval.high:.2%})"
    return f"{f'{slower} of {searches}':14}{share:26}"


def row(name: str, found: Array, best: Array) -> str:
    """Return a line of the table: of gains, float64[draws, programs], and each program's best possible one."""
    slower = int((found < -np.log2(1 + SLOWER)).sum())
    captured = found.sum() / (best.sum() * len(found))
    return f"{name:52}{slower_in_words(slower, found.size)}{captured:5.2f}   {2 ** found.min():.2f}"


def cases() -> Iterator[tuple[str, Observations, int, Knows, Topology]]:
    """Yield every machine's programs with each kind of knowledge."""
    for dataset in open_datasets(shipped_datasets()):
        observations, default = observed(dataset)
        space = space_of(dataset, observations)
        assert space is not None
        for name, knows in knowledges(observations, default, space, dataset.machine).items():
            if name != "both":
                yield f"{dataset.machine} (modelled), {name}", observations, default, knows, space.topology
    for machine in measured.DEFAULTS:
        observations, default, pairs = measured_machine(machine)
        space = Space(tuple(map(pairs.of, observations.mappings)), pairs.topology, modelled=False)
        for name, knows in knowledges(observations, default, space, "").items():
            yield f"{machine} (measured), {name}", observations, default, knows, pairs.topology


@click.command()
@click.option("--noise", "share", default=0.05, show_default=True, help="The noise's deviation over a run's time.")
@click.option("--draws", default=12, show_default=True, help="How often each program is searched for.")
def main(share: float, draws: int) -> None:
    """Print, after four runs, the share of programs over 2% slower, the gain captured, and the least speedup."""
    click.echo(f"{f'noise of {share:.0%}, {draws} draws':52}{'over 2% slower':40}gain captured, least speedup")
    slower = searches = 0
    for name, observations, default, knows, topology in cases():
        found = gains(observations, default, knows, topology, Noise(share, draws))
        click.echo(row(name, found, gains_of(observations.time_s, default).max(axis=1)))
        slower, searches = slower + int((found < -np.log2(1 + SLOWER)).sum()), searches + found.size
    click.echo(f"{'all':52}{slower_in_words(slower, searches)}")


if __name__ == "__main__":
    main()
