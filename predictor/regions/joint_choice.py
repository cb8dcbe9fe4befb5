"""Choose the team of each region and the pages of each array together: what they take, and what changes between cost.

ICS'19 (sec. 3.4) gives each codelet its best mapping; in a whole program regions share their data, and a change of the
team, or a move of what they share, costs time. Times are in seconds and of the whole run. Pure.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

MOST_PAIRS = 3000
"""Pairs of teams, or of pages, of two regions: with more of them the search alternates."""

_Float = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Option:
    """One way to run a region: with a team and with all its arrays on some pages, both by number, in ``time_s``."""

    team: int
    pages: int
    time_s: float


@dataclass(frozen=True)
class Choices:
    """The options of one region, which uses these ``arrays``, by number."""

    arrays: frozenset[int]
    options: tuple[Option, ...]


@dataclass(frozen=True, eq=False)
class Problem:
    """Regions, and what may become of each array: numbers of pages.

    ``change_s[t, u]`` is what it costs to go from team t to team u, ``follows[r, s]`` how often region s comes right
    after region r. ``moves_s[r, s]`` is what it costs in all that their common arrays move before region s because r,
    which had them before, has other pages; infinite where they cannot.
    """

    regions: tuple[Choices, ...]
    arrays: tuple[frozenset[int], ...]
    change_s: _Float
    follows: _Float
    moves_s: _Float

    def cost_s(self, chosen: Sequence[int]) -> float:
        """Return the time of all regions with these options, with changes of teams and moves of pages."""
        picked = [region.options[number] for region, number in zip(self.regions, chosen, strict=True)]
        teams = np.array([option.team for option in picked], dtype=np.int64)
        changes = float((self.follows * self.change_s[np.ix_(teams, teams)]).sum()) if picked else 0.0
        return sum(option.time_s for option in picked) + changes + self.moved_s(chosen)

    def moved_s(self, chosen: Sequence[int]) -> float:
        """Return what moves of pages cost with these options."""
        pages = np.array([region.options[number].pages for region, number in zip(self.regions, chosen, strict=True)])
        return float(self.moves_s[pages[:, None] != pages[None, :]].sum())

    def is_possible(self, chosen: Sequence[int]) -> bool:
        """Return whether each array may have the pages that regions want, and may move where these are not the same."""
        wanted = self.pages_of(chosen)
        return all(pages <= self.arrays[array] for array, pages in wanted.items()) and self.moved_s(chosen) < math.inf

    def pages_of(self, chosen: Sequence[int]) -> dict[int, frozenset[int]]:
        """Return all pages on which regions want each array that one uses."""
        pages: dict[int, frozenset[int]] = {}
        for region, number in zip(self.regions, chosen, strict=True):
            for array in region.arrays:
                pages[array] = pages.get(array, frozenset()) | {region.options[number].pages}
        return pages


def choose(problem: Problem, starts: Sequence[Sequence[int]] = ()) -> tuple[int, ...] | None:
    """Return the number of each region's option, so that all together take the least time; None if nothing is possible.

    ``starts`` are known answers: none of them is better than what is returned.
    """
    known = [tuple(start) for start in starts if problem.is_possible(start)]
    teams = [len({option.team for option in region.options}) for region in problem.regions]
    moved = np.triu(problem.moves_s + problem.moves_s.T, 1) > 0
    placements = len({option.pages for region in problem.regions for option in region.options})
    pairs = sum(a * b for a, b in itertools.combinations(teams, 2)) + int(moved.sum()) * placements
    if pairs <= MOST_PAIRS:
        found = _exactly(problem)
        known += [] if found is None else [found]
    else:
        known = [_alternating(problem, start) for start in known + _uniform(problem)]
    return min(known, key=problem.cost_s, default=None)


def _exactly(problem: Problem) -> tuple[int, ...] | None:
    """Solve it as a mixed-integer linear program.

    One variable an option, one for each pair of teams of two regions between which a change costs something, which is
    at least 1 where both are chosen, and one for each two regions between which moves do: at least 1 where they have
    other pages.
    """
    first = np.concatenate(([0], np.cumsum([len(region.options) for region in problem.regions]))).astype(int)
    costs = [option.time_s for region in problem.regions for option in region.options]
    rows: list[dict[int, float]] = []
    lower: list[float] = []
    upper: list[float] = []

    def require(row: dict[int, float], least: float, most: float) -> None:
        rows.append(row)
        lower.append(least)
        upper.append(most)

    for number, region in enumerate(problem.regions):
        require({int(first[number]) + at: 1.0 for at in range(len(region.options))}, 1, 1)
    for number, region in enumerate(problem.regions):
        for at, option in enumerate(region.options):
            if any(option.pages not in problem.arrays[array] for array in region.arrays):
                require({int(first[number]) + at: 1.0}, 0, 0)
    whole = len(costs)
    # More than anything costs where nothing moves is as good as any more, and other costs stay in sight beside it.
    most_s = sum(max(option.time_s for option in region.options) for region in problem.regions)
    most_s += float((problem.follows * problem.change_s.max(initial=0.0)).sum())
    for one, other in itertools.combinations(range(len(problem.regions)), 2):
        move_s = float(problem.moves_s[one, other] + problem.moves_s[other, one])
        if move_s > 0:
            its_columns = _columns(problem, other, first, lambda option: option.pages)
            moved = {len(costs): -1.0} if move_s < math.inf else {}
            for pages, columns in _columns(problem, one, first, lambda option: option.pages).items():
                without = dict.fromkeys(its_columns.get(pages, ()), -1.0)
                require({**dict.fromkeys(columns, 1.0), **without, **moved}, -math.inf, 0)
            costs += [min(move_s, most_s)] if moved else []
        for team, columns in _columns(problem, one, first, lambda option: option.team).items():
            for its, others in _columns(problem, other, first, lambda option: option.team).items():
                cost_s = float(
                    problem.follows[one, other] * problem.change_s[team, its]
                    + problem.follows[other, one] * problem.change_s[its, team]
                )
                if cost_s > 0:
                    require({**dict.fromkeys((*columns, *others), 1.0), len(costs): -1.0}, -math.inf, 1)
                    costs.append(cost_s)
    return _solved(problem, (np.array(costs), whole, first), (rows, np.array(lower), np.array(upper)))


def _columns(
    problem: Problem, region: int, first: npt.NDArray[np.int64], of: Callable[[Option], int]
) -> dict[int, list[int]]:
    """Return the columns of a region's options by team, or by pages."""
    columns: dict[int, list[int]] = {}
    for at, option in enumerate(problem.regions[region].options):
        columns.setdefault(of(option), []).append(int(first[region]) + at)
    return columns


def _solved(
    problem: Problem,
    variables: tuple[_Float, int, npt.NDArray[np.int64]],
    constraints: tuple[list[dict[int, float]], _Float, _Float],
) -> tuple[int, ...] | None:
    costs, whole, first = variables
    rows, lower, upper = constraints
    if not problem.regions:
        return ()
    entries = [(row, column, value) for row, each in enumerate(rows) for column, value in each.items()]
    at, columns, values = zip(*entries, strict=True)
    matrix = csr_array((values, (at, columns)), shape=(len(rows), len(costs)))
    # Numbers near 1: the solver's tolerances are absolute.
    scale = float(max(np.abs(costs).max(), 1e-300))
    found = milp(
        costs / scale,
        integrality=(np.arange(len(costs)) < whole).astype(np.int64),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, lower, upper),
    )
    if found.x is None:
        return None
    chosen = tuple(int(np.argmax(found.x[start:end])) for start, end in itertools.pairwise(first))
    return chosen if problem.is_possible(chosen) else None


def _uniform(problem: Problem) -> list[tuple[int, ...]]:
    """Return the answers with one placement of all pages, and with each region's fastest team for it."""
    placements = sorted({option.pages for region in problem.regions for option in region.options})
    found = [[_fastest(region, pages) for region in problem.regions] for pages in placements]
    whole = [tuple(n for n in each if n is not None) for each in found if None not in each]
    return [each for each in whole if problem.is_possible(each)]


def _fastest(region: Choices, pages: int) -> int | None:
    """Return the number of a region's fastest option with these pages, None where it has none."""
    fits = [(option.time_s, n) for n, option in enumerate(region.options) if option.pages == pages]
    return min(fits)[1] if fits else None


def _alternating(problem: Problem, start: tuple[int, ...]) -> tuple[int, ...]:
    """Change one region's option, or the pages of an array with all regions that use it, while that helps."""
    best, best_s = start, problem.cost_s(start)
    while True:
        before_s = best_s
        for candidate in itertools.chain(_other_options(problem, best), _other_pages(problem, best)):
            cost_s = problem.cost_s(candidate)
            if cost_s < best_s and problem.is_possible(candidate):
                best, best_s = candidate, cost_s
        if best_s >= before_s:
            return best


def _other_options(problem: Problem, chosen: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [
        (*chosen[:number], other, *chosen[number + 1 :])
        for number, region in enumerate(problem.regions)
        for other in range(len(region.options))
        if other != chosen[number]
    ]


def _other_pages(problem: Problem, chosen: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the answers in which one array, and all that regions use together with it, goes elsewhere."""
    found = []
    for array, allowed in enumerate(problem.arrays):
        together = _used_together(problem, array)
        for pages in allowed:
            moved = list(chosen)
            for number in together:
                fastest = _fastest(problem.regions[number], pages)
                if fastest is None:
                    break
                moved[number] = fastest
            else:
                found.append(tuple(moved))
    return found


def _used_together(problem: Problem, array: int) -> list[int]:
    """Return the regions that use an array, or one that these use, and so on."""
    arrays, regions = {array}, set[int]()
    while True:
        more = {n for n, region in enumerate(problem.regions) if region.arrays & arrays} - regions
        if not more:
            return sorted(regions)
        regions |= more
        arrays |= set().union(*(problem.regions[n].arrays for n in more))
