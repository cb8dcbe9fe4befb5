"""Who touched the pages of a variable first, as the profile saw it, and what is remote under first touch. Pure."""

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np

from numapredict.collect.placing.profile_file import ProfiledRange
from numapredict.predictor.variables.pattern import in_order
from numapredict.predictor.variables.touches import Numbers, Touches

Manner = Literal["one thread", "equal blocks", "in turn", "supposed"]
"""How the pages were touched first: by one thread, in blocks or in another order by several; or not known, and thread 0
is assumed."""

_ALONE = 0.97
"""Of the pages: one thread touched them first."""

_SCHEDULE = re.compile(r"\bschedule\s*\(\s*(?:\w+\s*:\s*)?(\w+)\s*(?:,\s*([^)]+?)\s*)?\)", re.IGNORECASE)


def manner_of(ranges: Sequence[ProfiledRange]) -> Manner:
    """Return how the pages of a variable's ranges were touched first."""
    before = np.concatenate(([0], np.cumsum([one.pages for one in ranges])))[:-1]
    page = np.concatenate([one.firsts["page"] + start for one, start in zip(ranges, before, strict=True)])
    slot = np.concatenate([one.firsts["slot"] for one in ranges]).astype(np.int64)
    pages = np.concatenate([one.firsts["pages"] for one in ranges]).astype(np.float64)
    page, slot, pages = page[slot >= 0].astype(np.int64), slot[slot >= 0], pages[slot >= 0]
    if not len(slot):
        return "supposed"
    shares = np.bincount(slot, pages) / pages.sum()
    if shares.max() >= _ALONE:
        return "one thread"
    return "equal blocks" if in_order(page, slot) else "in turn"


def schedule_in(pragma: str) -> str:
    """Return the schedule that a directive asks for, such as ``static,1``; empty where it says nothing."""
    match = _SCHEDULE.search(pragma)
    if match is None:
        return ""
    return match[1].lower() + (f",{match[2]}" if match[2] else "")


def first_threads(touches: Touches) -> Numbers:
    """Return the thread that touched each row's page first, int64[N]; thread 0 where none is known of any row."""
    return touches.first if (touches.first >= 0).any() else np.zeros(len(touches.first), dtype=np.int64)


def elsewhere_share(touches: Touches, home: Numbers, node_of: Sequence[int]) -> float:
    """Return the share, 0 to 1, of touches by threads of another node than the one that has the page.

    ``home`` has each row's node, ``node_of`` each thread's. With the threads for nodes, this is the share by others
    than touched the page first. Rows whose node is not known, -1, are left out.
    """
    known = home >= 0
    weight = touches.weight[known]
    if weight.sum() <= 0:
        return 0.0
    nodes = np.array(node_of, dtype=np.int64)
    return float((weight * (home[known] != nodes[touches.slot[known]])).sum() / weight.sum())
