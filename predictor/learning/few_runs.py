"""A few runs that tell a search the most: programs that differ, under the mappings that a search would run.

The mappings are a portfolio: the default, then each time the one that adds most to the best so far of all known
programs. The programs, one of each group, stand for as many known ones as they can (k-medoids, taken greedily: Kaufman
and Rousseeuw, Finding Groups in Data, 1990, the BUILD phase of PAM).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from numapredict.collect.mapping import Mapping
from numapredict.collect.program import Program
from numapredict.collect.topology import Topology
from numapredict.native.errors import UsageError
from numapredict.predictor.learning.features import Array, group_of
from numapredict.predictor.searching.carried_gains import carried_knowledge, mapping_features
from numapredict.predictor.searching.gains_file import MachineGains
from numapredict.predictor.searching.known_gains import KnownGains
from numapredict.predictor.searching.next_run import next_run

LEAST_MAPPINGS = 3
"""The default and two more: with fewer there is no choice, and no second probe."""

PROGRAMS_A_MAPPING = 2
"""How many programs run for each mapping: as good as 1/2, 1 or 4 with 100 runs, better with 200."""

COMPARED = 20
"""Programs are compared under so many mappings of the portfolio."""


@dataclass(frozen=True)
class Few:
    """So many programs under so many mappings."""

    programs: int
    mappings: int


def few_within(runs: int, programs: int, mappings: int) -> Few:
    """Return how many programs, under how many mappings, a budget of runs allows. UsageError if it is too small."""
    least = min(LEAST_MAPPINGS, mappings)
    if runs < least:
        raise UsageError(
            f"a budget of {runs} runs is too small: a program takes at least {least}, under that many mappings"
        )
    wide = min(max(round(math.sqrt(runs / PROGRAMS_A_MAPPING)), least), mappings)
    chosen = min(runs // wide, programs)
    return Few(chosen, min(max(runs // chosen, least), mappings))


def portfolio(known: KnownGains, default: int, count: int) -> list[int]:
    """Return the columns of ``count`` mappings in the order in which a search that learns nothing would run them."""
    columns = [default]
    while len(columns) < count:
        following = next_run(known, columns, [math.nan] * len(columns))
        if following is None:
            break
        columns.append(following.column)
    return columns


def standing_for_most(gains: Array) -> list[int]:
    """Return the rows of gains, float64[groups, mappings], each time the one that is nearest to most still far ones."""
    apart = ((gains[:, None, :] - gains[None, :, :]) ** 2).mean(axis=2)
    off = (gains**2).mean(axis=1)  # until a row is taken, all are compared with a program that gains nothing
    order: list[int] = []
    for _ in range(len(gains)):
        value = np.maximum(off - apart, 0.0).sum(axis=1)
        value[order] = -1.0
        order.append(int(value.argmax()))
        off = np.minimum(off, apart[order[-1]])
    return order


def in_turn(groups: Sequence[str], known: KnownGains, columns: Sequence[int]) -> list[int]:
    """Return all rows of programs of these groups in the order in which they run: one of each group, then the others.

    First come groups of which nothing is known, a user's own programs, as they are given. Then known ones, compared
    under some ``columns``, each machine weighing the same.
    """
    rows: dict[str, list[int]] = {}
    for row, group in enumerate(groups):
        rows.setdefault(group, []).append(row)
    means: dict[str, list[Array]] = {}
    pairs = np.array(list(zip(known.machines, known.groups, strict=True)))
    for machine, name in dict.fromkeys(zip(known.machines, known.groups, strict=True)):
        if name in rows:
            same = (pairs == (machine, name)).all(axis=1)
            means.setdefault(name, []).append(known.gains[np.ix_(same, list(columns))].mean(axis=0))
    there, order = [name for name in rows if name in means], [name for name in rows if name not in means]
    if there:
        order += [there[at] for at in standing_for_most(np.array([np.mean(means[name], axis=0) for name in there]))]
    # In turn the first and the second of a group, which differ by how they initialise their data.
    first = [rows[name][number % len(rows[name])] for number, name in enumerate(order)]
    taken = set(first)
    return [*first, *(row for row in range(len(groups)) if row not in taken)]


class FewRuns:
    """Which programs and mappings of a campaign run first, by what ``known`` machines' programs gained."""

    def __init__(
        self,
        mappings: Sequence[Mapping],
        default: Mapping,
        topology: Topology,
        known: Sequence[MachineGains],
        *,
        modelled: bool,
    ) -> None:
        """Carry the known gains over to these mappings of a machine, ``modelled`` or real."""
        self._mappings, self._default = mappings, mappings.index(default)
        self._known = carried_knowledge(known, mapping_features(mappings, topology), self._default, modelled=modelled)

    def mappings(self, count: int) -> tuple[Mapping, ...]:
        """Return the first mappings, the default before all."""
        return tuple(self._mappings[column] for column in portfolio(self._known, self._default, count))

    def programs(self, programs: Sequence[Program]) -> tuple[Program, ...]:
        """Return all programs in the order in which they run."""
        columns = portfolio(self._known, self._default, COMPARED)
        return tuple(programs[row] for row in in_turn(list(map(group_of, programs)), self._known, columns))
