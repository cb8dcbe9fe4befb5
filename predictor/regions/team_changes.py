"""What it costs that teams change from region to region.

Measured (native/placement/threads/teams.h): libgomp creates the threads anew that a larger team needs; a thread that
has to run on another PU than before is bound there. Pure.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

NEW_THREAD_S = 33e-6
"""Of libgomp, a thread: alternating teams of 32 and 8 took 495 us a region, of 32 alone 98."""

MOVED_S = 31e-6
"""For a thread to be bound to another PU, 10 to 31 us; threads of a team do so side by side."""

Team = tuple[int, ...]
"""The PU of each thread."""

_Float = npt.NDArray[np.float64]


def change_seconds(teams: Sequence[Team], *, keeps_threads: bool) -> _Float:
    """Return what it costs to go from one team to another, float64[T, T]; ``keeps_threads``: the runtime does."""
    many = len(teams)
    cost_s = np.zeros((many, many))
    for n, before in enumerate(teams):
        for m, after in enumerate(teams):
            new = max(len(after) - len(before), 0)
            moved = any(a != b for a, b in zip(before, after, strict=False))
            cost_s[n, m] = (0.0 if keeps_threads else new * NEW_THREAD_S) + (MOVED_S if moved else 0.0)
    return cost_s
