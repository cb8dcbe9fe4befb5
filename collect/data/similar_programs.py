"""Programs that may be one code base: under every mapping they take nearly the same time, up to a constant factor.

Held out one at a time, each would be predicted from the other, and an evaluation would look too good.
"""

from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.terminal.printable import printable

Array = npt.NDArray[np.float64]

RANK_CORRELATION = 0.98
SCALE = 1.05
"""At most so much does the ratio of two similar programs' times typically vary between mappings, as a factor."""

LEAST_MAPPINGS = 8
_MOST_NAMED = 5

Pair = tuple[str, str]


def similar_programs(dataset: Dataset) -> tuple[Pair, ...]:
    """Return the pairs of programs of different groups whose times nearly agree, in the dataset's order.

    That is a rank correlation over RANK_CORRELATION, and the same scale: of their ratios the typical one (the median
    deviation) is within SCALE. How long they run does not count: another input of one code takes another time. Only
    imported tables are looked at: the programs of a campaign come with their groups, and a model gives programs with
    equal patterns equal times.
    """
    if dataset.topology is not None:
        return ()
    labels = {m.mapping.label: None for m in dataset.measurements}
    column_of = {label: column for column, label in enumerate(labels)}
    rows = {program.name: np.full(len(labels), np.nan) for program in dataset.programs}
    for m in dataset.measurements:
        if m.status == "ok":
            rows[m.program][column_of[m.mapping.label]] = np.log2(m.time_s)
    groups = {program.name: program.group or program.name for program in dataset.programs}
    return tuple(
        (one, other)
        for one, other in combinations(rows, 2)
        if groups[one] != groups[other] and _agree(rows[one], rows[other])
    )


def similar_in_words(pairs: tuple[Pair, ...], machine: str) -> str:
    """Return one line that names the pairs and says what to do about them."""
    named = "; ".join(" and ".join(map(printable, pair)) for pair in pairs[:_MOST_NAMED])
    more = f"; and {len(pairs) - _MOST_NAMED} more pairs" if len(pairs) > _MOST_NAMED else ""
    return (
        f"{printable(machine)}: programs whose times nearly agree are not held out together: {named}{more}; "
        "if they are one code base, import the table with --groups FILE.csv"
    )


def _agree(one: Array, other: Array) -> bool:
    """Return whether two rows of log2 times, NaN where there is none, belong to similar programs."""
    both = ~np.isnan(one) & ~np.isnan(other)
    if both.sum() < LEAST_MAPPINGS:
        return False
    one, other = one[both], other[both]
    ratios = one - other
    if np.median(np.abs(ratios - np.median(ratios))) > np.log2(SCALE):
        return False
    ranks = np.vstack([rankdata(one), rankdata(other)])
    if np.ptp(ranks, axis=1).min() == 0:  # the same time everywhere has no order
        return False
    return bool(np.corrcoef(*ranks)[0, 1] > RANK_CORRELATION)
