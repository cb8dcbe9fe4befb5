"""How much a little training adds to a search, on all machines: gain captured after 2, 3, 4 and 6 runs, by budget.

Budgets are runs of the machine's own programs, chosen as `train --budget` chooses them; a run is one program under one
mapping with its repetitions. Programs are held out by group: neither the choice of the runs, nor own gains, nor those
of other machines know the group that is asked about. What a search knows is made as for a user: own gains of a few
mappings are carried over to the others, and other machines' programs join. Figures of measured machines are means over
orders of the placements, as in ``search_curves``, and of the programs, of which nothing is known to choose by.
"""

import itertools

import click
import numpy as np

from numapredict.predictor.evaluation.search_curve import Knows, Space, Trials, foreign_knowledge, searched, space_of
from numapredict.predictor.learning.datasets import open_datasets, shipped_datasets
from numapredict.predictor.learning.features import Observations, gains_of
from numapredict.predictor.learning.few_runs import COMPARED, few_within, in_turn, portfolio
from numapredict.predictor.searching.carried_gains import carried_gains, mapping_features
from numapredict.predictor.searching.gains_file import MachineGains, read_gains
from numapredict.predictor.searching.known_gains import KnownGains, known_gains, with_others
from numapredict.predictor.searching.prior import shipped_file
from tests.benchmarks.search_curves import SHOWN, in_order, measured_machine, observed, row
from tests.golden.evaluations import measured

BUDGETS = (0, 20, 50, 100, 200, 400)
RUN_S = 20
"""A run on a server, with its repetitions, in seconds: what hours are computed with."""

ORDERS = 10


class Trainee:
    """A machine on whose programs a search is trained within budgets, and about which it is asked."""

    def __init__(self, observations: Observations, default: int, space: Space, elsewhere: list[MachineGains]) -> None:
        """Carry other machines' gains over to this machine's mappings."""
        self._default, self._gains = default, gains_of(observations.time_s, default)
        self._groups = np.array(observations.groups)
        self._features = mapping_features(space.mappings, space.topology)
        self._elsewhere = foreign_knowledge(space, default, elsewhere)

    def knows(self, runs: int | None) -> Knows:
        """Return what a search knows after a training of so many runs, None for all."""
        return lambda group: self._known(runs, group)

    def _known(self, runs: int | None, group: str) -> KnownGains:
        kept = np.flatnonzero(self._groups != group)
        if runs is None:
            return known_gains(self._gains[kept], self._groups[kept].tolist())
        known = self._elsewhere(group)
        if runs == 0:
            return known
        few = few_within(runs, len(kept), self._gains.shape[1])
        columns = portfolio(known, self._default, max(few.mappings, COMPARED))
        order = in_turn(self._groups[kept].tolist(), known, columns[:COMPARED])
        rows, columns = kept[order[: few.programs]], columns[: few.mappings]
        own = carried_gains(self._gains[np.ix_(rows, columns)], self._features[columns], self._features, self._default)
        own[:, columns] = self._gains[np.ix_(rows, columns)]
        return with_others(known_gains(own, self._groups[rows].tolist()), known)


def in_words(runs: int | None) -> str:
    """Return a budget in words."""
    if runs is None:
        return "all own data"
    return f"{runs} own runs, {runs * RUN_S / 3600:.1f} h" if runs else "no own data"


@click.command()
@click.option("--measured-only", is_flag=True, help="Only the machines that MCTOP measured.")
def main(measured_only: bool) -> None:
    """Print the table."""
    click.echo(f"{'gain captured after runs':60}{'  '.join(f'{runs:5}' for runs in SHOWN)}")
    shipped = list(read_gains(shipped_file()))
    for dataset in [] if measured_only else open_datasets(shipped_datasets()):
        observations, default = observed(dataset)
        space = space_of(dataset, observations)
        assert space is not None
        trainee = Trainee(observations, default, space, [each for each in shipped if each.machine != dataset.machine])
        for runs in (*BUDGETS, None):
            trials = searched(observations, default, trainee.knows(runs))
            click.echo(row(f"{dataset.machine} (modelled), {in_words(runs)}", observations, default, trials))
    for together, machine in itertools.product((False, True), measured.DEFAULTS):
        observations, default, pairs = measured_machine(machine, together=together)
        generator = np.random.default_rng(0)
        found: dict[int | None, list[Trials]] = {}
        for _ in range(ORDERS):
            order = generator.permutation(len(pairs.pairs))
            programs = generator.permutation(len(observations.programs))
            shuffled = in_order(observations, order).rows(programs.tolist())
            at, back = int(np.flatnonzero(order == default)[0]), np.argsort(programs)
            space = Space(tuple(map(pairs.of, shuffled.mappings)), pairs.topology, modelled=False)
            trainee = Trainee(shuffled, at, space, shipped)
            for runs in (*BUDGETS, None):
                trials = searched(shuffled, at, trainee.knows(runs))
                found.setdefault(runs, []).append(Trials(trials.gain[back], trials.cost[back]))
        for budget, each in found.items():
            mean = Trials(*(np.mean([getattr(trials, what) for trials in each], axis=0) for what in ("gain", "cost")))
            title = f"{machine} (measured, {len(set(observations.groups))} groups), {in_words(budget)}"
            click.echo(row(title, observations, default, mean))


if __name__ == "__main__":
    main()
