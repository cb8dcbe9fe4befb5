"""The share of a program's local accesses, without counters: from sampled page touches by thread; pure.

It replaces the counters' local bandwidth on machines without counters (thesis sec. 6 reads that from the second probe).
Page touches are sampled, not cache misses.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from numapredict.collect.placing.placed_pages import NOWHERE, PlacedRange
from numapredict.collect.placing.profile_file import Profile


def local_share(profile: Profile, ranges: Sequence[PlacedRange], homes: Sequence[int]) -> float | None:
    """Return the share, 0 to 1, of the profile's touches that found the page on the toucher's home node.

    ``ranges`` give the pages' nodes at the end of the same run, ``homes`` the node (OS index) whose memory serves each
    thread slot. None where no touched page's node is known.
    """
    placed = {found.key: found for found in ranges}
    home = np.asarray(homes)
    local = touched = 0.0
    for known in profile.ranges:
        found = placed.get((known.kind, known.site, known.slot, known.order))
        if found is None or not known.count:
            continue
        samples = profile.samples[known.first : known.first + known.count]
        node = _nodes(found)[np.minimum(samples["page"], found.pages - 1)]
        rate = np.where(node == NOWHERE, 0.0, samples["rate"])
        touched += float(rate.sum())
        local += float(rate[node == home[np.minimum(samples["slot"], len(home) - 1)]].sum())
    return min(local / touched, 1.0) if touched > 0 else None  # sums of parts may exceed the sum by rounding


def _nodes(found: PlacedRange) -> npt.NDArray[np.int64]:
    """Return int64[pages]: the node of each page of a range."""
    nodes = np.full(max(found.pages, 1), NOWHERE, dtype=np.int64)
    for run in found.runs:
        nodes[run.first : run.first + run.count] = run.node
    return nodes
