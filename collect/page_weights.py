"""The weights of `weighted`: how many of so many pages each node gets, by what it can deliver to the threads; pure.

After BWAP (Gureya et al., Bandwidth-Aware Page Placement in NUMA, IPDPS 2020, sec. 3): all nodes deliver at the same
time, so the pages are best spread where none takes longer than the others. Two more limits are ours: a memory serves
all thread nodes together, and a thread reads from one node after the other.
"""

from collections import Counter
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from numapredict.collect.topology import LOCAL_DISTANCE, Topology

LEAST_TOTAL = 32
"""Weights add up to this at most, or to four a node where that is more: to 1/32 a share is as good as known."""
_AS_GOOD = 1.01  # the smallest weights are taken that need at most so many times as long as the best
_NOTHING = 1e-12

Floats = npt.NDArray[np.float64]


@lru_cache(maxsize=1024)
def page_weights(topology: Topology, thread_nodes: tuple[int, ...], page_nodes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the weight of each page node for threads on these nodes, one entry a thread; all by logical index.

    A weight may be 0. Where no bandwidths are known, distances stand for them.
    """
    times = _times(topology, Counter(thread_nodes), list(page_nodes))
    shares = _most_delivered(times)
    shares /= shares.sum()
    candidates = [_rounded(shares, total) for total in range(1, max(LEAST_TOTAL, 4 * len(page_nodes)) + 1)]
    needed = [float((times @ each).max() / each.sum()) for each in candidates]
    best = min(needed)
    chosen = next(each for each, time in zip(candidates, needed, strict=True) if time <= best * _AS_GOOD)
    return tuple(int(weight) for weight in chosen)


def _times(topology: Topology, threads: Counter[int], page_nodes: list[int]) -> Floats:
    """Return how long each thing takes for one unit of all pages from each page node, float64[things, page nodes].

    Each thread reads an equal part of every page node. The things: each page node's memory, or what the threads of a
    node get from there if that takes longer; links; the threads of each node, which read one after the other.
    """
    used, count = list(threads), sum(threads.values())
    part = np.array([threads[index] / count for index in used])
    known, pairs = topology.bandwidths, np.ix_(used, page_nodes)
    rows: list[npt.ArrayLike] = []
    if known is None:
        node_s = np.array(topology.distances) / LOCAL_DISTANCE
    else:
        node_s = 1 / np.array(known.node_GBps)
        rows.append(1 / (count * np.array(known.thread_GBps)[pairs]))
        of_node = dict(zip(used, part, strict=True))
        rows += [
            [[sum(of_node.get(i, 0.0) for i, j in link.pairs if j == node) / link.read_GBps for node in page_nodes]]
            for link in known.links
        ]
    slowest = np.maximum(node_s[page_nodes, page_nodes], (part[:, None] * node_s[pairs]).max(axis=0))
    return np.vstack([np.diag(slowest), *rows])


def _most_delivered(times: Floats) -> Floats:
    """Return how much each node delivers in a unit of time where all together deliver most, float64[page nodes].

    No row of ``times`` may need longer. By the simplex method from the slack basis, which is feasible (Dantzig 1947),
    with Bland's rule (1977): of equally good choices the first page nodes are used.
    """
    rows, columns = times.shape
    scale = times.max()
    table = np.hstack([times / scale, np.eye(rows), np.ones((rows, 1))])
    gain = np.concatenate([np.ones(columns), np.zeros(rows + 1)])
    basis = list(range(columns, columns + rows))
    while (better := np.flatnonzero(gain[:-1] > _NOTHING)).size:
        column = int(better[0])
        ratios = np.full(rows, np.inf)
        positive = table[:, column] > _NOTHING
        ratios[positive] = np.maximum(table[positive, -1], 0.0) / table[positive, column]
        ties = np.flatnonzero(ratios <= ratios.min() + _NOTHING)
        row = min(ties.tolist(), key=basis.__getitem__)
        table[row] /= table[row, column]
        for other in range(rows):
            if other != row:
                table[other] -= table[other, column] * table[row]
        gain -= gain[column] * table[row]
        basis[row] = column
    found = np.zeros(columns + rows)
    found[basis] = table[:, -1]
    result: Floats = np.maximum(found[:columns], 0.0) / scale
    return result


def _rounded(shares: Floats, total: int) -> npt.NDArray[np.int64]:
    """Return whole numbers that add up to ``total`` and are nearest to the shares, by largest remainders."""
    exact = shares * total
    whole = np.floor(exact + _NOTHING).astype(np.int64)
    order = np.argsort(-np.round(exact - whole, 9), kind="stable")
    whole[order[: total - int(whole.sum())]] += 1
    return whole
