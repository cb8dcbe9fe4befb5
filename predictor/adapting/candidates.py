"""The few mappings that a running program may try, of all that known programs ran under."""

import math
from collections.abc import Collection

from numapredict.predictor.searching.known_gains import KnownGains
from numapredict.predictor.searching.next_run import next_run

MOST = 24
"""Columns of a table, the baseline's included; native/placement/adapt/next_trial.h has room for 32."""

LEAST = 0.002
"""What a further column must add to the best of those chosen, in log2 and as the mean over known programs."""


def candidate_columns(known: KnownGains, first: int, allowed: Collection[int]) -> tuple[int, ...]:
    """Return the columns that together leave known programs least to gain, ``first`` and others of those allowed.

    Each further one adds most to the best of those before it: a greedy portfolio, as a search's without any run.
    """
    chosen = [first]
    closed = set(range(known.gains.shape[1])) - set(allowed)
    while len(chosen) < MOST:
        following = next_run(known, chosen, [math.nan] * len(chosen), (), closed - set(chosen))
        if following is None or following.expected_gain < LEAST:
            break
        chosen.append(following.column)
    return tuple(chosen)
