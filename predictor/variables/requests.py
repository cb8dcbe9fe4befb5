"""Which node's memory serves the touches of a variable, and whether that is near or far. Pure.

Liu and Mellor-Crummey (PPoPP 2014, sec. 4.1): M_l and M_r are the sampled accesses to the memory of the thread's own
node and of another, and requests are unbalanced where one node's memory serves more than its part. Theirs are samples
of accesses; here they are touches, and of a described machine pages lie where first touch puts them (page_nodes.py).
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from numapredict.predictor.variables.page_nodes import PageNodes
from numapredict.predictor.variables.touches import Numbers, Touches


class Requests(msgspec.Struct, frozen=True, kw_only=True):
    """The touches by where they go, in a unit in which the program's have as many as were sampled.

    ``local`` is M_l, ``remote`` M_r. ``by_node`` are the touches that each of ``nodes`` serves; ``imbalance`` is those
    of the busiest one over an even part, 1 where all serve as many.
    """

    local: float
    remote: float
    nodes: tuple[int, ...]
    by_node: tuple[float, ...]
    imbalance: float


def requests_of(touches: Touches, home: Numbers, nodes: PageNodes, each: float) -> Requests:
    """Return the requests of a variable's touches; ``each`` is what a touch of weight 1 counts.

    ``home`` has the node of each row's page, int64[N], -1 where those of all threads are as likely.
    """
    names = np.array(nodes.all, dtype=np.int64)
    thread = np.searchsorted(names, np.array(nodes.of_thread, dtype=np.int64))
    beside = np.bincount(thread, minlength=len(names)) / len(thread)
    weight = touches.weight * each
    known = home >= 0
    at = np.searchsorted(names, np.where(known, home, names[0]))
    by_node = np.bincount(at[known], weight[known], len(names)) + beside * float(weight[~known].sum())
    near = np.where(known, at == thread[touches.slot], beside[thread[touches.slot]])
    local = float((weight * near).sum())
    return requests(names.tolist(), by_node.tolist(), local, float(weight.sum()) - local)


def all_requests(each: Sequence[Requests]) -> Requests | None:
    """Return the requests of all variables of which they are known; None where there is none."""
    if not each:
        return None
    by_node = [sum(served) for served in zip(*(one.by_node for one in each), strict=True)]
    return requests(each[0].nodes, by_node, sum(one.local for one in each), sum(one.remote for one in each))


def requests(nodes: Sequence[int], by_node: Sequence[float], local: float, remote: float) -> Requests:
    """Return the requests that so many of ``by_node`` serve, rounded."""
    total = sum(by_node)
    return Requests(
        local=max(round(local, 3), 0.0),
        remote=max(round(remote, 3), 0.0),
        nodes=tuple(nodes),
        by_node=tuple(round(one, 3) for one in by_node),
        imbalance=round(max(by_node) * len(by_node) / total, 4) if total > 0 else 1.0,
    )
