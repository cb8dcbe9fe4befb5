"""Choose the next run of a search: the mapping from which programs that react alike gained most in addition.

After some runs, a known program counts the more the closer its gains in these runs are to the new program's. For each
mapping, the known programs say by how much it beats the best of the runs made, each compared with its own best among
them: a mapping that repeats what was tried adds nothing for any of them, so that the runs differ. With no knowledge of
the new program this is the greedy choice of a portfolio, which is within 1 - 1/e of the best one (Nemhauser, Wolsey and
Fisher, Mathematical Programming 14, 1978).
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from numapredict.predictor.searching.known_gains import Array, KnownGains

DEVIATION = 0.35
"""The deviation, in log2, by which the gains of programs that react alike differ.

Chosen on modelled times: by other machines' programs alone, four runs then capture 0.95 on average, and 0.94 with 1.0
(and UNLIKE 0.1); by a machine's own programs both are equal. From 0.2 to 0.5, all is within 0.01.
"""

UNLIKE = 0.4
"""The part of the weight that all known programs keep, however different their gains were: none is ever ruled out.

Chosen with DEVIATION so that the timed guests' recorded times lose nothing: they are no independent check of it.
"""


_AT_ONCE = 16  # programs: their numbers fit the cache


class NextRun(NamedTuple):
    """A mapping's column, and the gain in log2 that a run of it is expected to add to the best run so far."""

    column: int
    expected_gain: float


def off_by(known: KnownGains, columns: Sequence[int], gains: Sequence[float], ended: Sequence[bool] = ()) -> Array:
    """Return how far each known program's gains are from those that were measured, float64[K, measured runs]."""
    measured = np.asarray(gains, dtype=np.float64)
    read = np.flatnonzero(np.isfinite(measured))
    off: Array = known.gains[:, np.asarray(columns)[read]] - measured[read]
    if ended:
        off = np.where(np.asarray(ended)[read], np.maximum(off, 0.0), off)
    return off


def weights_after(
    known: KnownGains, columns: Sequence[int], gains: Sequence[float], ended: Sequence[bool] = ()
) -> Array:
    """Return how much each known program counts after runs of these columns gave these gains, float64[K], 1 in all.

    A gain that is not a number, of a run that failed, tells nothing. Of an ``ended`` run, the gain is at most this.
    """
    return weights_at(known.weights, (off_by(known, columns, gains, ended) ** 2).sum(axis=1), DEVIATION)


def weights_at(before: Array, squared: Array, deviation: float) -> Array:
    """Return how much programs count whose gains are so far from another's, float64[..., K], 1 in all.

    ``before`` is how much they counted before the runs, 1 in all; ``squared`` are sums of squares over the runs;
    ``deviation``: of programs that react alike, in log2.
    """
    distance = squared / deviation**2
    likely = before * np.exp(-(distance - distance.min(axis=-1, keepdims=True)) / 2)
    weights: Array = (1 - UNLIKE) * likely / likely.sum(axis=-1, keepdims=True) + UNLIKE * before
    return weights


def next_run(
    known: KnownGains,
    columns: Sequence[int],
    gains: Sequence[float],
    ended: Sequence[bool] = (),
    closed: Collection[int] = (),
    covered: Collection[int] = (),
) -> NextRun | None:
    """Return the run that should add most, after runs of ``columns`` that gave ``gains``; None if all have run.

    Of ``ended`` runs the gain is at most this. ``closed`` columns cannot run. What ``covered`` columns give is known as
    well, and no program is like another for it: hundreds would outweigh the runs. ValueError without a run: the default
    is the first.
    """
    if not columns:
        raise ValueError("a search begins with a run of the default")
    if len(gone := {*columns, *closed, *covered}) >= known.gains.shape[1]:
        return None
    weights = weights_after(known, columns, gains, ended)
    best = known.gains[:, [*columns, *covered]].max(axis=1, keepdims=True)
    expected = np.zeros(known.gains.shape[1])
    for first in range(0, len(weights), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        expected += np.einsum("k,km->m", weights[part], np.maximum(known.gains[part] - best[part], 0.0))
    expected[list(gone)] = -1.0
    column = int(expected.argmax())
    return NextRun(column, float(expected[column]))
