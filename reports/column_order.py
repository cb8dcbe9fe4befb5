"""The order of a heatmap's columns: the best mappings first, those that leave cores idle folded."""

from collections.abc import Sequence

import msgspec
import numpy as np

from numapredict.collect.terminal.printable import counted
from numapredict.predictor.learning.clustering import Array

FOLDED_FROM = 65
"""With so many mappings, those that leave cores idle share a column by their number of threads."""

THREADS, PAGE_POLICY, THREADS_PER_CORE = 0, 4, 5
"""Places in a mapping's choices."""

Choices = tuple[int | str, ...]


class Column(msgspec.Struct, frozen=True):
    """One column: its mappings by index, of which each program shows its fastest, and their page policy.

    ``group`` is empty where mappings are folded or foreign.
    """

    label: str
    mappings: tuple[int, ...]
    group: str


def columns_of(
    labels: Sequence[str], choices: Sequence[Choices | None], log2_times: Array, default: int
) -> tuple[Column, ...]:
    """Return the columns from left to right: all cores before fewer, page policies together, the best on average first.

    ``choices`` are the mappings' own, None for foreign ones; ``log2_times`` are programs by mappings. The ``default``
    has a column of its own.
    """
    means = log2_times.mean(axis=0).tolist()
    cores = [0 if each is None else _number(each, THREADS) // _number(each, THREADS_PER_CORE) for each in choices]
    policies = ["" if each is None else str(each[PAGE_POLICY]) for each in choices]
    folded: dict[int, list[int]] = {}
    single = []
    for at, each in enumerate(choices):
        if each is None or at == default or cores[at] == max(cores) or len(labels) < FOLDED_FROM:
            single.append(at)
        else:
            folded.setdefault(_number(each, THREADS), []).append(at)
    best: dict[tuple[int, str], float] = {}
    for at in single:
        group = cores[at], policies[at]
        best[group] = min(means[at], best.get(group, means[at]))

    def place(at: int) -> tuple[int, float, str, float]:
        return -cores[at], best[cores[at], policies[at]], policies[at], means[at]

    found = [Column(labels[at], (at,), policies[at]) for at in sorted(single, key=place)]
    for threads in sorted(folded, reverse=True):
        some = tuple(folded[threads])
        few = labels[some[0]] if len(some) == 1 else f"{counted(threads, 'thread')}, best of {len(some)}"
        found.append(Column(few, some, ""))
    return tuple(found)


def fastest(log2_times: Array, columns: Sequence[Column]) -> Array:
    """Return the times by column: of each program's fastest mapping there."""
    return np.stack([log2_times[:, list(column.mappings)].min(axis=1) for column in columns], axis=1)


def _number(choices: Choices, place: int) -> int:
    value = choices[place]
    assert isinstance(value, int)  # noqa: S101 # by the space
    return value
