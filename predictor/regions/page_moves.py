"""What it costs that an array moves whenever regions that want it in different places take turns. Pure."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

MOVE_S = 4e-6
"""A page's move. To copy one took 3.2 to 3.9 us (1.1 GB/s, by one thread), and the kernel has to map it anew."""

MARGIN = 2.0
"""Moves have to gain so many times what they cost: by how much one replay is off is not known, and the cost is sure."""

_Float = npt.NDArray[np.float64]


def move_seconds(pages: Sequence[int], follows: Sequence[_Float]) -> _Float:
    """Return what moves cost before region s if r, which had its arrays before, wants others, float64[R, R].

    Of each array ``pages`` are how many it has, and ``follows`` how often region s comes with r as the latest before it
    of those that use it.
    """
    found: _Float = sum((many * MOVE_S * each for many, each in zip(pages, follows, strict=True)), np.zeros(()))
    return found
