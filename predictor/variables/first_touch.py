"""Who touched the pages of a variable first, as far as a profile tells, and what is remote under first touch. Pure.

A profile has the first touch of each range: the thread and the instruction. For its other pages this supposes what a
loop of that kind does: a serial one touches all pages from that thread, a parallel one from equal blocks of threads
(OpenMP 5.2 sec. 11.5.3: `static`, what gcc and clang do where nothing is said).
"""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from numapredict.predictor.variables.touches import Numbers, Touches

Manner = Literal["one thread", "equal blocks", "in turn", "supposed"]
"""How the pages were touched first: by one thread, in blocks or in turn by all; or not known, and one is supposed."""

_SCHEDULE = re.compile(r"\bschedule\s*\(\s*(?:\w+\s*:\s*)?(\w+)\s*(?:,\s*([^)]+?)\s*)?\)", re.IGNORECASE)


class FirstTouches(msgspec.Struct, frozen=True):
    """The first touch of a variable: of each of its ranges the thread, and how the rest of its pages followed."""

    threads: tuple[int, ...]
    manner: Manner


def manner_of(threads: Sequence[int], in_region: bool | None, schedule: str) -> Manner:
    """Return how pages were touched first: by the threads of the ranges, and the loop that did it.

    ``in_region`` says whether that is in a parallel region, None where it is not known, as in memset.
    """
    known = [thread for thread in threads if thread >= 0]
    if not known or (in_region is None and max(known) == 0):
        return "supposed"
    if not in_region and 2 * known.count(0) > len(known):  # a range that was freed may have that of another
        return "one thread"
    return "in turn" if is_in_turn(schedule) else "equal blocks"


def schedule_in(pragma: str) -> str:
    """Return the schedule that a directive asks for, such as ``static,1``; empty where it says nothing."""
    match = _SCHEDULE.search(pragma)
    if match is None:
        return ""
    return match[1].lower() + (f",{match[2]}" if match[2] else "")


def is_in_turn(schedule: str) -> bool:
    """Return whether a schedule deals parts of a loop in turn or as threads come, rather than in equal blocks."""
    return schedule not in ("", "static", "auto")


def first_threads(touches: Touches, first: FirstTouches, slots: int) -> Numbers:
    """Return the thread that touched each row's page first, int64[N]; -1 where all threads are as likely."""
    own = np.maximum(np.array(first.threads, dtype=np.int64), 0)
    each_its_own = len(own) > 1 and min(first.threads) >= 0 and len(set(first.threads)) == len(own)
    if first.manner in ("one thread", "supposed") or len(own) >= 2 * slots or each_its_own:
        return own[touches.range]  # with so many ranges, each is touched by about one thread
    if first.manner == "in turn":
        return np.full(len(touches.page), -1, dtype=np.int64)
    return touches.within * slots // touches.length


def elsewhere_share(touches: Touches, first: Numbers, node_of: Sequence[int]) -> float:
    """Return the share, 0 to 1, of touches by threads of another node than the one that touched the page first.

    ``node_of`` has each thread's node. With each thread its own node, this is the share by other threads.
    """
    if touches.total <= 0:
        return 0.0
    nodes = np.array(node_of, dtype=np.int64)
    beside = np.bincount(nodes)[nodes] / len(nodes)  # threads on the same node: the chance that any of all is there
    remote = np.where(first < 0, 1 - beside[touches.slot], nodes[np.maximum(first, 0)] != nodes[touches.slot])
    return float((touches.weight * remote).sum() / touches.total)
