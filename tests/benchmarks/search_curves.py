"""How much of the gain a search captures after 2, 3, 4 and 6 runs, on all machines, by what it knows.

At the end of a line is which share of the next runs came out within its 90% interval, after as many runs and in all.
Programs are held out by group. On the modelled machines a search knows the machine's other programs that ship, the
applications among them, or the other machines' alone (each codelet left out there, too); on the machines that MCTOP
measured their own programs, the modelled machines' alone, or both as searches join them, each with the programs of one
code base apart and together. Several of MCTOP's placements have the same mapping of ours as their counterpart, and
nothing says which of them to run first: figures of measured machines are means over orders of the placements.

Other programs on a modelled machine that ships are asked about with --dataset, after a campaign:

    numapredict collect campaign --machine broadwell-2x10 --program "./lulesh2.0 -s 10 -i 20" --into FOLDER
"""

import tempfile
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt

from numapredict.collect.data.counterparts import Counterparts
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.modelled.description import load_description
from numapredict.predictor.evaluation.search_curve import (
    RUNS,
    Knows,
    Space,
    Trials,
    after_runs,
    forecasts,
    foreign_knowledge,
    own_knowledge,
    random_search,
    searched,
    space_of,
)
from numapredict.predictor.learning.datasets import open_datasets, shipped_datasets
from numapredict.predictor.learning.features import Observations, gains_of, observe
from numapredict.predictor.learning.learning import options_of
from numapredict.predictor.learning.train import default_of
from numapredict.predictor.searching.gains_file import MachineGains, read_gains
from numapredict.predictor.searching.known_gains import known_gains, with_others
from numapredict.predictor.searching.prior import shipped_file
from tests.benchmarks.measured_counterparts import counterparts_of
from tests.golden.evaluations import measured

SHOWN = (2, 3, 4, 6)
ORDERS = 20


def observed(dataset: Dataset) -> tuple[Observations, int]:
    """Return a dataset's programs and its default's column."""
    default = default_of(dataset, options_of(None, None, dataset))
    observations = observe(dataset, default)
    return observations, observations.column(default)


def measured_machine(name: str, *, together: bool = False) -> tuple[Observations, int, Counterparts]:
    """Return the programs on a machine of MCTOP's, its default's column, and the counterparts of its placements.

    ``together``: the programs of one code base are a group.
    """
    with tempfile.TemporaryDirectory() as folder:
        dataset = measured.imported(name, Path(folder) / "table", together=together)
    observations, default = observed(dataset)
    return observations, default, counterparts_of(observations.mappings, load_description(name).topology)


def held(observations: Observations, default: int, knows: Knows, trials: Trials) -> npt.NDArray[np.float64]:
    """Return of the next run after each number of runs the share within its 90% interval, then of all further runs."""
    found = [
        [each.within for program in forecasts(observations, default, knows, trials, [runs]) for each in program]
        for runs in range(1, RUNS[-1])
    ]
    within, runs = np.array([sum(each) for each in found]), np.array([len(each) for each in found])
    return np.append((within / runs)[[made - 1 for made in SHOWN]], within.sum() / runs.sum())


def row(
    name: str, observations: Observations, default: int, trials: Trials, within: npt.NDArray[np.float64] | None = None
) -> str:
    """Return a line of the table: gain captured after each number of runs, the cost of four, and ``held``."""
    best = gains_of(observations.time_s, default).max(axis=1)
    found = {each.runs: each for each in after_runs(trials, best, observations.groups)}
    shares = "  ".join(f"{found[runs].gain_captured or 0.0:5.2f}" for runs in SHOWN)
    line = f"{name:60}{shares}   cost of 4 {found[4].cost_in_default_runs:.1f}"
    return line if within is None else f"{line}   within {'  '.join(f'{share:.2f}' for share in within)}"


def in_order(observations: Observations, order: npt.NDArray[np.int64]) -> Observations:
    """Return the observations with their mappings in another order."""
    mappings = tuple(observations.mappings[column] for column in order)
    return replace(observations, mappings=mappings, time_s=observations.time_s[:, order])


def shipped_knowledge(here: MachineGains, observations: Observations) -> Knows:
    """Return the knowledge of the machine's programs that ship, the asked group left out."""
    columns = [here.mappings.index(mapping.label) for mapping in observations.mappings]
    gains, groups = here.gains[:, columns], np.array(here.groups)
    return lambda group: known_gains(gains[groups != group], groups[groups != group].tolist())


def both(own: Knows, foreign: Knows) -> Knows:
    """Return the machine's own programs joined by others, as where its own are few."""
    return lambda group: with_others(own(group), foreign(group))


def knowledges(observations: Observations, default: int, space: Space, machine: str) -> dict[str, Knows]:
    """Return the kinds of knowledge by name: ``machine`` is left out of the others'."""
    shipped = read_gains(shipped_file())
    elsewhere = [each for each in shipped if each.machine != machine]
    here = next((each for each in shipped if each.machine == machine), None)
    own = own_knowledge(observations, default) if here is None else shipped_knowledge(here, observations)
    foreign = foreign_knowledge(space, default, elsewhere)
    return {"own data": own, "other machines alone": foreign, "both": both(own, foreign)}


@click.command()
@click.option("--dataset", "folders", multiple=True, help="A campaign of other programs; repeatable.")
def main(folders: tuple[str, ...]) -> None:
    """Print the table, or that of campaigns of yours alone."""
    click.echo(f"{'gain captured after runs':60}{'  '.join(f'{runs:5}' for runs in SHOWN)}")
    for dataset in open_datasets(folders or shipped_datasets()):
        observations, default = observed(dataset)
        space = space_of(dataset, observations)
        assert space is not None
        for name, knows in knowledges(observations, default, space, dataset.machine).items():
            if name != "both":  # its own programs are many
                trials = searched(observations, default, knows)
                within = held(observations, default, knows, trials)
                click.echo(row(f"{dataset.machine} (modelled), {name}", observations, default, trials, within))
    for machine in () if folders else measured.DEFAULTS:
        for together in (False, True):
            observations, default, pairs = measured_machine(machine, together=together)
            title = f"{machine} (measured), {len(set(observations.groups))} groups"
            found: dict[str, list[tuple[Trials, npt.NDArray[np.float64]]]] = {}
            for order in np.random.default_rng(0).permuted(np.tile(np.arange(len(pairs.pairs)), (ORDERS, 1)), axis=1):
                shuffled, at = in_order(observations, order), int(np.flatnonzero(order == default)[0])
                space = Space(tuple(map(pairs.of, shuffled.mappings)), pairs.topology, modelled=False)
                # The modelled machine of this name knows nothing of what was measured.
                for name, knows in knowledges(shuffled, at, space, "").items():
                    if name != "other machines alone" or not together:  # these have no program of its groups
                        trials = searched(shuffled, at, knows)
                        shown = found.setdefault(name.replace("other", "modelled"), [])
                        shown.append((trials, held(shuffled, at, knows, trials)))
            for name, tried in found.items():
                mean = Trials(
                    *(np.mean([getattr(each, what) for each, _ in tried], axis=0) for what in ("gain", "cost"))
                )
                within = np.mean([each for _, each in tried], axis=0)
                click.echo(row(f"{title}, {name}", observations, default, mean, within))
            if not together:
                click.echo(row(f"{title}, random order", observations, default, random_search(observations, default)))


if __name__ == "__main__":
    main()
