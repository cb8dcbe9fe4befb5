"""What it costs that an array moves whenever regions that want it in different places take turns. Pure."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

MOVE_S = 4e-6
"""A page's move. To copy one took 3.2 to 3.9 us (1.1 GB/s, by one thread), and the kernel has to map it anew."""

MARGIN = 2.0
"""Moves have to gain so many times what they cost: by how much one replay is off is not known, and the cost is sure."""

_Float = npt.NDArray[np.float64]


def move_seconds(uses: Sequence[frozenset[int]], pages: Sequence[int], follows: Sequence[_Float]) -> _Float:
    """Return what moves cost before region s if r, which had its arrays before, wants others, float64[R, R].

    ``uses`` are the arrays of each region, by number; of each array ``pages`` are how many it has, and ``follows`` how
    often region s comes with r as the latest before it of those that use it.
    """
    cost_s = np.zeros((len(uses), len(uses)))
    for array, many in enumerate(pages):
        users = np.array([array in used for used in uses], dtype=bool)
        cost_s += np.outer(users, users) * follows[array] * many * MOVE_S
    return cost_s
