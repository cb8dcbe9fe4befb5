"""Which node's memory serves the touches of a variable, and whether that is near or far. Pure.

Liu and Mellor-Crummey (PPoPP 2014, sec. 4.1): M_l and M_r are the sampled accesses to the memory of the thread's own
node and of another, and requests are unbalanced where one node's memory serves more than its part. Theirs are samples
of accesses; here they are touches, and of a described machine pages lie where first touch puts them (page_nodes.py).
"""

from collections.abc import Sequence

import msgspec

from numapredict.predictor.variables.traffic import Matrix


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


def requests_of(nodes: Sequence[int], matrix: Matrix) -> Requests:
    """Return the requests that touches between nodes are."""
    by_node = [sum(column) for column in zip(*matrix, strict=True)]
    local = sum(row[at] for at, row in enumerate(matrix))
    return requests(nodes, by_node, local, sum(by_node) - local)


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
