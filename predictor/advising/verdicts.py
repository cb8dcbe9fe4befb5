"""What two runs show of a program: where the default has its pages, and what it waits for.

A rule derives from readings a claim that a dataset can contradict. ``explanation_check.py`` tests each rule on programs
whose nature is known; ``numapredict report explanations`` prints how often it was right. The thresholds are round
numbers, chosen on all four shipped datasets.
The data do not support, and no rule claims, that fewer threads would do as well, that remote latency or synchronisation
binds a program, where pages are by times alone, or that the greatest bandwidth of the training programs is the memory's
limit (on lpdquad it is that of the cores).
"""

from typing import Literal

from numapredict.predictor.advising.evidence import Evidence

Pages = Literal["one node", "own nodes", "unknown"]
"""Where the default has the pages: on one node, or each where it is used."""

Bound = Literal["one node's bandwidth", "one node's memory", "all nodes' bandwidth", "not memory", "unknown"]
"""What a program waits for under the default; ``not memory`` is compute, caches or synchronisation."""

LOCAL = 0.9
"""The least share of local accesses of local pages, and the least share of one node in these for pages on that node."""

SHARED = 0.65
"""The share of local accesses below which, under both runs, pages are called shared."""

NEAR = 0.1
"""How far a sampled share of local accesses may exceed that of pages on one node and still indicate it."""

RISE = 0.2
"""By how much the other run's share must be higher for that."""

FASTER = 1.1
"""The least speedup of the other run that is evidence for or against a placement of pages."""

WAITS = 1.25
"""The least speedup by spreading pages from which one node's memory is what the program waits for."""

SATURATED = 1.5
"""The least speedup by spreading pages from which one node's bandwidth is."""

SAME = 1.05
"""The largest factor between their times at which they are called the same."""

LITTLE = 0.05
"""Memory traffic below this part of the most that any training program had is called little."""

FULL = 0.9
"""The part of all controllers' bandwidth from which they are called busy."""


def pages_of(evidence: Evidence) -> Pages:
    """Return where the default has the pages, by counters of each node or else by the shares of local accesses."""
    here, there, gain = evidence.default_local_share, evidence.other_local_share, evidence.speedup
    if here is None:
        return "unknown"
    if here >= LOCAL:
        return "own nodes"
    if evidence.home_share is not None:
        return "one node" if evidence.home_share >= LOCAL else "unknown"
    if there is None or gain is None or gain < FASTER:
        return "unknown"
    return "one node" if here <= 1 / evidence.nodes + NEAR and there >= here + RISE else "unknown"


def bound_of(evidence: Evidence, pages: Pages) -> Bound:
    """Return what the program waits for under the default, ``unknown`` if the readings do not show it."""
    gain = evidence.speedup
    if gain is not None and has_little_traffic(evidence) and 1 / SAME <= gain <= SAME:
        return "not memory"
    if pages == "one node" and gain is not None and gain >= WAITS:
        return "one node's bandwidth" if gain >= SATURATED else "one node's memory"
    local, limit = evidence.default_local_GBps, evidence.controllers_GBps
    if pages == "own nodes" and local is not None and limit is not None and local >= FULL * limit:
        return "all nodes' bandwidth"
    return "unknown"


def has_little_traffic(evidence: Evidence) -> bool:
    """Return whether there is hardly any memory traffic in either run."""
    read = (evidence.default_traffic_GBps, evidence.other_traffic_GBps)
    known = [value for value in read if value is not None]
    return len(known) == 2 and evidence.reached_GBps is not None and max(known) < LITTLE * evidence.reached_GBps


def is_shared(evidence: Evidence) -> bool:
    """Return whether threads of several nodes use the same pages, so that no placement makes them local."""
    shares = (evidence.default_local_share, evidence.other_local_share)
    known = [share for share in shares if share is not None]
    return len(known) == 2 and max(known) < SHARED and not has_little_traffic(evidence)


def pages_gain_nothing(evidence: Evidence, pages: Pages) -> bool:
    """Return whether no page policy is expected to gain a tenth: pages are local, or shared and not on one node."""
    if evidence.speedup is None or evidence.speedup >= FASTER:
        return False
    return pages == "own nodes" or (pages == "unknown" and is_shared(evidence))
