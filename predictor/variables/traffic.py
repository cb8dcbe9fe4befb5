"""Between which nodes a variable's touches go, with its pages as they are and as its remedy would have them. Pure.

With a remedy each page is on the node whose threads touch its surroundings most, or all are even over the threads'
nodes. Surroundings are the touches next before and behind: single pages have too few to say whose they are. A touch
does not count when its own page is judged, so that chance alone makes no touch local. Where touches are too few for the
blocks that nodes use, or the remedy's gain by them may be chance, the traffic with it is not known: it is as it is.
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from numapredict.predictor.variables.page_nodes import PageNodes
from numapredict.predictor.variables.pattern import Pattern
from numapredict.predictor.variables.remedy import PLACED, Action
from numapredict.predictor.variables.touches import Numbers, Touches

_TOGETHER = 16  # neighbouring touches at most: of pages in turn, those at the same place of a turn
_FEW = 4  # touches for each block that a node uses: with fewer, nothing is said of a remedy

Matrix = tuple[tuple[float, ...], ...]


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """Touches between ``nodes``: a row for the node of the threads, a column for the node that serves them.

    ``as_it_is`` and ``with_remedy`` have as many in all, in the unit of requests; they are equal where the remedy
    changes nothing, or what it changes is not known.
    """

    nodes: tuple[int, ...]
    as_it_is: Matrix
    with_remedy: Matrix

    @property
    def local_now(self) -> float:
        """Return the share of touches, 0 to 1, that the memory of the thread's own node serves."""
        return _local(self.as_it_is)

    @property
    def local_then(self) -> float:
        """Return that share with the remedy."""
        return _local(self.with_remedy)


def traffic_of(
    touches: Touches, homes: Numbers, nodes: PageNodes, each: float, remedy: tuple[Action, Pattern]
) -> Traffic:
    """Return the traffic of a variable's touches, of which one of weight 1 counts ``each``.

    ``homes`` has the node of each row's page, int64[N], -1 where those of all threads are as likely.
    """
    names = np.array(nodes.all, dtype=np.int64)
    of_slot = np.searchsorted(names, np.array(nodes.of_thread, dtype=np.int64))
    evenly = np.bincount(of_slot, minlength=len(names)) / len(of_slot)
    known = homes >= 0
    now = np.zeros((len(homes), len(names)))
    now[known, np.searchsorted(names, homes[known])] = 1.0
    now[~known] = evenly
    action, pattern = remedy
    thread = of_slot[touches.slot]
    weight = touches.weight * each
    as_now = as_then = _matrix(thread, weight, now)
    seen = int(touches.count.sum())
    to_each_block = seen // _blocks(of_slot, pattern)
    placed = PLACED.get(action) if to_each_block >= _FEW else None
    if placed == "interleave":
        as_then = _matrix(thread, weight, np.broadcast_to((evenly > 0) / np.count_nonzero(evenly), now.shape))
    elif placed == "locality":
        together = min(to_each_block // 4, _TOGETHER)
        as_then = _matrix(thread, weight, _with_their_threads(touches, thread, pattern, len(names), together))
    gain, then = _local(as_then) - _local(as_now), _local(as_then)
    if placed == "interleave":
        is_known = gain + busiest(as_now) - busiest(as_then) > 0
    else:
        is_known = gain > 2 * math.sqrt(max(then * (1 - then), 0.0) / max(seen, 1))  # more than chance
    return Traffic(nodes=tuple(names.tolist()), as_it_is=as_now, with_remedy=as_then if is_known else as_now)


def all_traffic(each: Sequence[Traffic]) -> Traffic | None:
    """Return the traffic of all variables of which it is known; None where there is none."""
    if not each:
        return None
    now, then = (np.sum([getattr(one, name) for one in each], axis=0) for name in ("as_it_is", "with_remedy"))
    return Traffic(nodes=each[0].nodes, as_it_is=_rounded(now), with_remedy=_rounded(then))


def as_it_is(traffic: Traffic) -> Traffic:
    """Return the traffic of a variable that stays where it is."""
    return msgspec.structs.replace(traffic, with_remedy=traffic.as_it_is)


def busiest(matrix: Matrix) -> float:
    """Return the share of all touches that the node serves which serves most."""
    served = [sum(row[at] for row in matrix) for at in range(len(matrix))]
    return max(served) / (sum(served) or 1.0)


def _blocks(of_slot: Numbers, pattern: Pattern) -> int:
    """Return how many blocks of pages the nodes use by the pattern, of the whole or of one turn."""
    whole = pattern.turns if pattern.in_blocks and pattern.turns is not None else 1
    return min(1 + int(np.count_nonzero(np.diff(of_slot))), max(pattern.threads, 1)) * whole


def _with_their_threads(touches: Touches, thread: Numbers, pattern: Pattern, nodes: int, together: int) -> np.ndarray:
    """Return how likely each row's page is on each node, float64[N, nodes], if the touches around it had it put there.

    These are ``together``, half before and half behind, and at least one on each side.
    """
    order = np.argsort(_place(touches, pattern), kind="stable")
    half = max(together // 2, 1)
    count = np.minimum(touches.count[order], 2 * half)
    end = np.cumsum(count)
    first = np.searchsorted(end, end - count - half, side="right")
    behind = np.searchsorted(end - count, end + half, side="left")
    seen = np.zeros((len(order) + 1, nodes))
    seen[1 + np.arange(len(order)), thread[order]] = count
    seen = np.cumsum(seen, axis=0)
    others = seen[behind] - seen[first]
    others[np.arange(len(order)), thread[order]] -= 1.0
    most = others == others.max(axis=1, keepdims=True)
    likely = np.zeros((len(order), nodes))
    likely[order] = most / most.sum(axis=1, keepdims=True)
    return likely


def _place(touches: Touches, pattern: Pattern) -> np.ndarray:
    """Return where each row's page is among those that its thread shares with others, by the pattern of these."""
    if pattern.each_allocation:
        return touches.within / touches.length
    if pattern.turns is not None and not pattern.in_blocks:
        return touches.page * (_turns(touches, pattern.turns) / touches.pages) % 1.0
    return touches.page.astype(np.float64)


def _turns(touches: Touches, whole: int) -> float:
    """Return how many times over threads use the pages in turn, no whole number of times: those near it are tried."""
    slots, rank = np.unique(touches.slot, return_inverse=True)
    phase = rank / len(slots)
    page = touches.page / touches.pages
    tried = whole + np.linspace(-1, 1, 65)
    fits = [
        max(abs(np.exp(2j * np.pi * (phase + sign * turns * page)) @ touches.count) for sign in (1, -1))
        for turns in tried
    ]
    return float(tried[int(np.argmax(fits))])


def _matrix(thread: Numbers, weight: np.ndarray, likely: np.ndarray) -> Matrix:
    found = np.zeros((likely.shape[1], likely.shape[1]))
    np.add.at(found, thread, weight[:, None] * likely)
    return _rounded(found)


def _rounded(matrix: np.ndarray) -> Matrix:
    return tuple(tuple(row) for row in np.round(matrix, 3).tolist())


def _local(matrix: Matrix) -> float:
    total = sum(map(sum, matrix))
    return sum(row[at] for at, row in enumerate(matrix)) / total if total > 0 else 1.0
