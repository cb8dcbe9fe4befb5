"""How far predicted gains are off for one program: more if they are off for programs with similar readings.

One deviation per mapping does not suit all programs: programs without memory traffic have similar readings, but some
scale with the threads and others do not. Hence the errors of held-out programs are kept by number of threads, and a
program whose nearest neighbours had larger errors than usual has wider intervals. Neighbours that did better than
predicted widen the upper end, others the lower one: most errors are gains from fewer threads above the predicted ones,
hardly any are below.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.mapping import AnyMapping, Mapping

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Mappings = Sequence[AnyMapping]

WIDTH = 0.5
"""How far neighbours reach, in standard deviations of the readings: the width of a Gaussian kernel."""

PRIOR = 1.0
"""How many neighbours the average over all programs counts as."""

LEAST = 0.25
"""The least factor of a squared deviation: an end of an interval is at least half as far as with equal sides."""

UNKNOWN_THREADS = 0
"""The number of threads of a foreign mapping, whose label does not state it."""


class Nearby(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The training programs and their errors when they were held out.

    ``readings`` are standardised, one row per program; ``weights`` are equal for groups and add up to their number.
    ``errors`` has for every program and each of ``threads`` its mean squared error over that of all programs, and
    ``above`` twice the part of it from gains above the predicted ones: equal to ``errors`` if both sides are.
    """

    readings: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    threads: tuple[int, ...]
    errors: tuple[tuple[float, ...], ...]
    above: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        """Raise ValueError for parts of different lengths and values that give no deviation."""
        if not self.readings or {len(self.weights), len(self.errors), len(self.above)} != {len(self.readings)}:
            raise ValueError("nearby: weights, errors and above must have a row a program")
        rows = (*self.errors, *self.above)
        if len({len(row) for row in self.readings}) != 1 or {len(row) for row in rows} != {len(self.threads)}:
            raise ValueError("nearby: every program needs as many readings and errors")
        if min(self.weights) <= 0 or min(min(row, default=0.0) for row in rows) < 0:
            raise ValueError("nearby: weights must be positive, errors not negative")
        most = max(max(row, default=0.0) for row in (*rows, *self.readings))
        if most == float("inf"):
            raise ValueError("nearby: readings and errors must be finite")


class Widening(msgspec.Struct, frozen=True, eq=False):
    """Factors of squared deviations, float64[..., mappings]: to both sides, for the lower end and for the upper one."""

    both: Array
    below: Array
    above: Array


def threads_of(mappings: Mappings) -> Counts:
    """Return the mappings' numbers of threads, int64[mappings]; UNKNOWN_THREADS for foreign mappings."""
    counts = [each.threads if isinstance(each, Mapping) else UNKNOWN_THREADS for each in mappings]
    return np.array(counts, dtype=np.int64)


def relative_errors(residual: Array, threads: Counts, weights: Array) -> tuple[tuple[int, ...], Array, Array]:
    """Return the different numbers of threads, and ``errors`` and ``above`` of a Nearby, float64[programs, numbers].

    ``residual`` float64[programs, mappings] in log2; the ``weights`` of programs add up to 1.
    """
    squared = residual**2
    average = np.maximum(weights @ squared, 1e-12)
    counts = tuple(int(count) for count in np.unique(threads))

    def of(values: Array) -> Array:
        rows: Array = values / average
        found: Array = np.column_stack([rows[:, threads == n].mean(axis=1) for n in counts])
        return found

    errors = of(squared)
    mean = np.maximum(weights @ errors, 1e-12)
    return counts, errors / mean, 2 * of(np.where(residual > 0, squared, 0.0)) / mean


def widening(near: Array, weights: Array, errors: Array) -> Array:
    """Return float64[programs, numbers of threads]: the mean of errors near a program, not below that of all.

    ``near`` float64[programs, known programs] are their weights by distance; ``weights`` are equal for groups.
    """
    everyone = weights @ errors / weights.sum()
    found: Array = (near @ errors + PRIOR * everyone) / (near.sum(axis=1, keepdims=True) + PRIOR)
    wide: Array = np.maximum(found, everyone)
    return wide


def nearness(left: Array, right: Array, weights: Array) -> Array:
    """Return float64[left, right]: the kernel weights of the right readings at the left ones."""
    distance = np.linalg.norm(left[:, None, :] - right[None, :, :], axis=2)
    found: Array = weights * np.exp(-((distance / WIDTH) ** 2) / 2)
    return found


def _widened(near: Array, weights: Array, errors: Array, above: Array, columns: Sequence[int]) -> Widening:
    """Return the factors with a row per program; ``columns`` has each mapping's column by its number of threads."""
    both, lower, upper = (widening(near, weights, each)[:, columns] for each in (errors, 2 * errors - above, above))
    return Widening(both, lower, upper)


def _columns(counts: Sequence[int], threads: Counts) -> list[int]:
    """Return each mapping's index in ``counts`` by its number of threads."""
    at = {count: column for column, count in enumerate(counts)}
    return [at[int(count)] for count in threads]


def learn_nearby(standard: Array, residual: Array, mappings: Mappings, weights: Array, groups: int) -> Nearby:
    """Return the Nearby of held-out programs' errors; ``weights`` add up to 1, ``groups`` is the number of groups."""
    counts, errors, above = relative_errors(residual, threads_of(mappings), weights)
    return Nearby(
        readings=_rows(standard),
        weights=tuple(map(float, weights * groups)),
        threads=counts,
        errors=_rows(errors),
        above=_rows(np.minimum(above, 2 * errors)),
    )


def widening_of(nearby: Nearby | None, standard: Array, mappings: Mappings) -> Widening:
    """Return how much wider the intervals of a program with these readings are, float64[mappings] each."""
    if nearby is None:
        same = np.ones(len(mappings))
        return Widening(same, same, same)
    weights = np.array(nearby.weights)
    near = nearness(standard.reshape(1, -1), np.array(nearby.readings), weights)
    columns = _columns(nearby.threads, threads_of(mappings))
    found = _widened(near, weights, np.array(nearby.errors), np.array(nearby.above), columns)
    return Widening(found.both[0], found.below[0], found.above[0])


def held_out_widening(standard: Array, residual: Array, mappings: Mappings, groups: Sequence[str]) -> Widening:
    """Return ``widening_of`` every program by those of other groups, float64[programs, mappings] each."""
    names, inverse, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    weights, threads = 1 / sizes[inverse] / len(names), threads_of(mappings)
    counts, errors, above = relative_errors(residual, threads, weights)
    near = nearness(standard, standard, weights * len(names))
    near[inverse[:, None] == inverse[None, :]] = 0.0
    return _widened(near, weights * len(names), errors, above, _columns(counts, threads))


def spread_of(deviation: Array, factors: Array, expected: Array, relative: float) -> Array:
    """Return float64[..., mappings]: deviations widened by ``factors`` and by ``relative`` of the predicted gain.

    A gain or loss far from 0 is inferred from other programs and uncertain in proportion.
    """
    found: Array = np.sqrt(deviation**2 * np.maximum(factors, LEAST) + (relative * expected) ** 2)
    return found


def _rows(values: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row)) for row in np.round(values, 4))
