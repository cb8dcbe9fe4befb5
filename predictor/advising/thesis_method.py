"""The thesis's method: two probes assign a program to a cluster, whose centroid's best mapping it gets (sec. 6).

That mapping is run, as every mapping that is advised.
"""

import logging
from dataclasses import dataclass

import numpy as np

from numapredict.collect.mapping import Mapping, applicable
from numapredict.collect.measuring.run_limit import UNLIMITED
from numapredict.collect.terminal.progress import Trials, trying
from numapredict.collect.topology import Topology
from numapredict.native.errors import InsufficientDataError, NoModelError
from numapredict.predictor.advising.assignment import assign, reading_of
from numapredict.predictor.advising.search import Runner, Search, begun
from numapredict.predictor.advising.search_options import SearchOptions
from numapredict.predictor.advising.search_run import Made, outcome_in_words
from numapredict.predictor.learning.model import Model
from numapredict.predictor.searching.prior import Prior

log = logging.getLogger(__name__)


@dataclass
class SearchByCluster(Search):
    """Runs of which only the last may be advised."""

    def best(self) -> int:
        """Return the number of the last run, or of the baseline's, whichever is faster as a whole."""
        last = len(self.made) - 1
        return last if np.nan_to_num(self.whole_gains()[last], nan=-np.inf) > 0 else 0


def search_by_cluster(
    runner: Runner, prior: Prior, topology: Topology, model: Model, options: SearchOptions
) -> SearchByCluster:
    """Run a program as it is, under the model's probes, and under the best mapping of its cluster's centroid.

    Raises InsufficientDataError where a probe fails, NoModelError where no mapping of the cluster can be applied, and
    what ``search`` raises.
    """
    trials = Trials("at most 4", log)
    with trying(trials):
        first = begun(runner, prior, topology, options, trials)
        found = SearchByCluster(first.prior, first.known, first.made[:1], first.clock, first.closed)
        probes = [applicable(probe.mapping) for probe in model.probes]
        for mapping in probes:
            if mapping != found.made[0].measurement.mapping:
                _run(found, mapping, runner, topology, trials)
        readings = [reading_of(made.measurement, found.clock) for made in found.made]
        assigned = assign(model, [reading for reading in readings if reading is not None])
        if assigned is None:
            raise InsufficientDataError(
                f"{runner.program} failed under a probe, {' or '.join(map(str, probes))}: without its time there is no "
                "cluster; leave --method thesis out"
            )
        ranked = (applicable(each.mapping) for each in assigned.cluster.ranked)
        columns = {mapping: n for n, mapping in enumerate(prior.mappings)}
        chosen = next((each for each in ranked if each in columns and columns[each] not in found.closed), None)
        if chosen is None:
            raise NoModelError(f"none of the model's mappings can be applied on {topology.name}: choose another model")
        if chosen in [made.measurement.mapping for made in found.made[1:]]:
            found.made.sort(key=lambda made: made.measurement.mapping == chosen)  # the order of the others stays
        elif chosen != found.made[0].measurement.mapping:
            _run(found, chosen, runner, topology, trials)
    return found


def _run(found: Search, mapping: Mapping, runner: Runner, topology: Topology, trials: Trials) -> None:
    trials.begin(str(mapping), f"{runner.program} under {mapping}")
    measurement = runner.run(mapping, UNLIMITED)
    found.add(Made(measurement, found.prior.nearest(mapping, topology)))
    trials.end(outcome_in_words(found.records()[-1]), found.best())
