"""How far predicted gains are off for programs of a kind that the training lacks.

A held-out program has others of its kind in the training; a user's program may not. Hence the merge tree of the
programs' reactions is cut into kinds, each kind is left out in turn, and the part of a predicted gain that counts as
uncertain is the one with the greatest likelihood over both the programs and the kinds left out.
"""

from collections.abc import Sequence

import numpy as np

from numapredict.collect.mapping import AnyMapping
from numapredict.predictor.learning.clustering import Labels, cut, ward_linkage
from numapredict.predictor.learning.gain_model import Array, deviations, held_out_gains, regress
from numapredict.predictor.learning.nearby import held_out_widening, spread_of
from numapredict.predictor.searching.known_gains import group_weights

KINDS = 6
"""How many kinds there are: as many as the thesis has clusters (sec. 6)."""

RELATIVES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
"""The parts of a predicted gain that may count as uncertain."""


def kinds_of(gains: Array) -> Labels:
    """Return int64[programs]: each program's kind, by log2 gains float64[programs, mappings]."""
    if len(gains) < 2:
        return np.zeros(len(gains), dtype=np.int64)
    return cut(ward_linkage(-gains), min(KINDS, len(gains)))


def without_kind(readings: Array, gains: Array, groups: Sequence[str], kinds: Labels) -> Array:
    """Return float64[programs, mappings]: each program's gains predicted from the programs of other kinds."""
    names = np.asarray(groups)
    expected = np.tile(group_weights(groups) @ gains, (len(gains), 1))
    for kind in np.unique(kinds):
        inside, others = kinds == kind, kinds != kind
        others &= ~np.isin(names, names[inside])  # variants of a program that is left out do not count as others
        if len(set(names[others])) > 1:
            centre, scale, gain, slopes = regress(readings[others], gains[others], group_weights(list(names[others])))
            expected[inside] = gain + (readings[inside] - centre) / scale @ slopes
    return expected


def choose_relative(
    readings: Array, gains: Array, groups: Sequence[str], mappings: Sequence[AnyMapping], probes: tuple[int, int]
) -> float:
    """Return the part of a predicted gain that counts as uncertain, of RELATIVES.

    ``probes`` are the columns of the probes, the default first; their gains are measured and do not count. Minimises
    the mean of -log of the normal density over programs left out by group and by kind.
    """
    weights = group_weights(groups)
    expected = held_out_gains(readings, gains, groups)
    deviation = deviations(expected, gains, groups, probes[0], readings.shape[1])
    centre, scale, _, _ = regress(readings, gains, weights)
    factors = held_out_widening((readings - centre) / scale, gains - expected, mappings, groups)
    inferred = [column for column in range(gains.shape[1]) if column not in probes]
    if not inferred:
        return 0.0
    surprise = np.zeros(len(RELATIVES))
    for each in (expected, without_kind(readings, gains, groups, kinds_of(gains))):
        for index, relative in enumerate(RELATIVES):
            spread = spread_of(deviation, factors.both, each, relative)[:, inferred]
            density = np.log(spread) + ((gains - each)[:, inferred] / spread) ** 2 / 2
            surprise[index] += float(weights @ density.mean(axis=1))
    return RELATIVES[int(surprise.argmin())]
