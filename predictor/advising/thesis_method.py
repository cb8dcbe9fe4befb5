"""The thesis's method: two probes assign a program to a cluster, whose centroid's best mapping it gets (sec. 6).

That mapping is run, as every mapping that is advised.
"""

from numapredict.collect.mapping import Mapping, applicable
from numapredict.native.errors import InsufficientDataError, NoModelError
from numapredict.predictor.advising.assignment import assign, reading_of
from numapredict.predictor.advising.search_state import Search
from numapredict.predictor.learning.model import Model


def next_by_cluster(found: Search, model: Model) -> int | None:
    """Return the column of the next run: a probe's, then that of the best mapping of the cluster; None after that.

    From then on only this mapping may be advised. Limits are on what is advised: probes may be beyond them. Raises
    InsufficientDataError where a probe has failed, and NoModelError where a mapping cannot be applied.
    """
    columns = {mapping: n for n, mapping in enumerate(found.prior.mappings)}
    ran = {made.measurement.mapping: made for made in found.made}
    probes = [applicable(probe.mapping) for probe in model.probes]
    for mapping in probes:
        column = columns.get(mapping)
        if column is None or column in found.refused:
            raise NoModelError(f"the model's probe {mapping} cannot be run here: leave --method thesis out")
        if mapping not in ran:
            return column
    readings = [reading_of(made.measurement, found.clock) for made in ran.values()]
    assigned = assign(model, [reading for reading in readings if reading is not None])
    if assigned is None:
        raise InsufficientDataError(
            f"the program failed under a probe, {' or '.join(map(str, probes))}: without its time there is no cluster; "
            "leave --method thesis out"
        )
    left_out = found.left_out()
    ranked = [columns.get(applicable(each.mapping)) for each in assigned.cluster.ranked]
    found.only = next((column for column in ranked if column is not None and column not in left_out), None)
    if found.only is None:
        raise NoModelError("none of the mappings of the program's cluster can be applied: leave --method thesis out")
    chosen: Mapping = found.prior.mappings[found.only]
    return None if chosen in ran else found.only
