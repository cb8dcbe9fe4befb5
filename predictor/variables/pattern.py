"""How the threads share a variable: by which thread touches which of its pages. Pure.

Blocked: the threads' order follows the pages' (rank correlation). Strided: it does so many times over, as rows dealt in
turn or columns do; found as the frequency at which the threads' order turns with the page (discrete Fourier transform).
Irregular: neighbouring pages have the same thread more often than at random, in no order. Else it is shared.
"""

import math
from typing import Literal

import msgspec
import numpy as np

from numapredict.predictor.variables.touches import Touches

Kind = Literal["one thread", "blocked", "strided", "irregular", "shared", "unknown"]

_FEW = 8  # touches: below, nothing can be said
_ALONE = 0.9  # of the touches: one thread uses it
_TAKES_PART = 0.2  # of an equal share: a thread that uses it
_IN_ORDER = 0.7  # rank correlation: equal blocks of two threads give 0.87, of many 1; no order 1 / sqrt(touches)
_TURNING = 0.55  # of the amplitude that exact turns would give
_CHANCE = 1e-3  # that touches in no order show such turns
_TOGETHER = 0.3  # of neighbouring pages, beyond chance: the same thread
_FEW_TURNS = 8  # such as those of a few arrays one after the other
_MOST_PAGES = 1 << 22


class Pattern(msgspec.Struct, frozen=True):
    """How threads share a variable.

    ``threads`` use it; ``thread`` is the one of "one thread". ``period_pages``: of "strided", after how many pages the
    threads' ``turns`` begin again. ``each_allocation``: blocked in each of several allocations, not over all of them.
    """

    kind: Kind
    threads: int
    thread: int | None = None
    period_pages: float | None = None
    turns: int | None = None
    each_allocation: bool = False

    @property
    def in_blocks(self) -> bool:
        """Return whether each thread uses blocks of it: of the whole, or of a few arrays one after the other."""
        return self.kind == "blocked" or (self.turns is not None and self.turns <= _FEW_TURNS)


def pattern_of(touches: Touches) -> Pattern:
    """Return the pattern of a variable's touches; "unknown" where they are too few."""
    seen = int(touches.count.sum())
    if seen < _FEW:
        return Pattern("unknown", len(set(touches.slot.tolist())))
    shares = np.bincount(touches.slot, touches.count) / seen
    users = np.flatnonzero(shares >= _TAKES_PART / int(np.count_nonzero(shares)))
    if shares.max() >= _ALONE or len(users) < 2:
        return Pattern("one thread", 1, thread=int(shares.argmax()))
    used = np.isin(touches.slot, users)
    page, length = touches.page[used], touches.length[used]
    rank = np.searchsorted(users, touches.slot[used])
    if in_order(page, rank):
        return Pattern("blocked", len(users))
    if touches.range.size and touches.range.max() > 0 and in_order(touches.within[used] / length, rank):
        return Pattern("blocked", len(users), each_allocation=True)
    turns = _turns(page, rank, len(users), touches.pages)
    if turns is not None:
        return Pattern("strided", len(users), period_pages=touches.pages / turns, turns=turns)
    return Pattern("irregular" if _in_parts(page, rank, len(users)) else "shared", len(users))


def in_order(page: np.ndarray, rank: np.ndarray) -> bool:
    """Return whether the order of ranks, such as threads, follows that of pages, either way round."""
    if np.ptp(page) == 0 or np.ptp(rank) == 0:
        return False
    places = np.argsort(np.argsort(page, kind="stable"), kind="stable")
    return abs(float(np.corrcoef(places, rank)[0, 1])) >= _IN_ORDER


def _turns(page: np.ndarray, rank: np.ndarray, users: int, pages: int) -> int | None:
    """Return how many times over the threads' order follows the pages', None where it does not."""
    scale = -(-pages // _MOST_PAGES)
    size = -(-pages // scale)
    turns = np.zeros(size, dtype=np.complex128)
    np.add.at(turns, page // scale, np.exp(2j * math.pi * rank / users))
    heights = np.abs(np.fft.fft(turns)) / len(page)
    heights[[0, 1, -1]] = 0.0  # less than two turns
    if size < 4:
        return None
    peak = int(heights.argmax())
    exact = math.sin(math.pi / users) / (math.pi / users)
    height = float(heights[peak])
    if height < _TURNING * exact or size * math.exp(-len(page) * height * height) > _CHANCE:
        return None
    return min(peak, size - peak)


def _in_parts(page: np.ndarray, rank: np.ndarray, users: int) -> bool:
    """Return whether neighbouring pages have the same thread more often than pages anywhere."""
    order = np.argsort(page, kind="stable")
    together = rank[order]
    shares = np.bincount(together, minlength=users) / len(together)
    chance = float((shares * shares).sum())
    same = float((together[1:] == together[:-1]).mean())
    error = math.sqrt(chance * (1 - chance) / (len(together) - 1))
    return same - chance > max(_TOGETHER * (1 - chance), 3 * error)
