"""On which node the pages of a variable lie: as the kernel said during the run, else where first touch puts them. Pure.

A profile of a computer with several nodes has the node of each sampled page and of the thread that touched it, as
HPCToolkit has of its samples (Liu and Mellor-Crummey, PPoPP 2014, sec. 4.1). Of a described machine nobody can say it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from numapredict.collect.placement import Placement
from numapredict.collect.placing.profile_file import Profile
from numapredict.predictor.variables.touches import Numbers, Touches

_KNOWN = 0.9
"""Of the touches: with fewer, pages are taken to be where first touch puts them."""


@dataclass(frozen=True)
class PageNodes:
    """The node of each thread's memory, and by OS number the nodes where pages were seen; empty: none was asked for."""

    of_thread: tuple[int, ...]
    seen: Mapping[int, int] = field(default_factory=dict)

    @property
    def all(self) -> tuple[int, ...]:
        """Return the nodes that may serve a touch, in order."""
        return tuple(sorted({*self.of_thread, *self.seen.values()}))

    def homes(self, touches: Touches, first: Numbers) -> Numbers:
        """Return the node that has the page of each row, int64[N], -1 where it is not known.

        ``first`` has the thread that touched each row's page first, -1 where that is not known: it says nothing of
        pages that were seen on a node.
        """
        if not self.seen:
            return np.where(first >= 0, np.array(self.of_thread, dtype=np.int64)[np.maximum(first, 0)], -1)
        homes = np.full(len(first), -1, dtype=np.int64)
        for os_index, node in self.seen.items():
            homes[touches.page_node == os_index] = node
        return homes


def page_nodes_of(profile: Profile, placement: Placement, is_here: bool) -> PageNodes:
    """Return the nodes of the placement's threads, and of pages where the profile saw these threads run there.

    ``is_here``: the question is of the computer that was profiled. Slot i of S stands for thread i * T // S, as in page
    plans.
    """
    topology, threads = placement.topology, len(placement.slots)
    at = [slot * threads // profile.slots for slot in range(profile.slots)]
    of_thread = tuple(placement.homes[thread] for thread in at)
    index = {node.os_index: node.index for node in topology.nodes}
    touched = profile.samples[profile.samples["touches"] > 0]
    if not is_here or profile.placed or not len(touched):
        return PageNodes(of_thread)
    wanted = np.array([topology.nodes[placement.slots[thread].node].os_index for thread in at], dtype=np.int64)
    page = touched["page_node"].astype(np.int64) - 1
    agrees = np.isin(page, list(index)) & (touched["thread_node"].astype(np.int64) - 1 == wanted[touched["slot"]])
    share = float(touched["touches"][agrees].sum() / touched["touches"].sum())
    return PageNodes(of_thread, index if share >= _KNOWN else {})
