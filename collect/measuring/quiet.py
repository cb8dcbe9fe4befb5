"""Whether a computer is quiet: what others take of it decides a comparison as much as the mapping does."""

from collections.abc import Sequence

from numapredict.collect.measuring.disturbance import Snapshot, disturbance, shown_in_s, snapshot, wait_for_quiet
from numapredict.collect.terminal.progress import doing

SHORT_S = 0.5
"""A shorter run takes too few of the kernel's ticks to show what others used: the computer is looked at instead.

More where there are many PUs: see ``short_s``.
"""

PATIENCE_S = 2.0
"""How long a quiet moment is waited for."""


def short_s(pus: int) -> float:
    """Return how long a run must be on so many PUs to show by itself what others used."""
    return max(SHORT_S, shown_in_s(pus))


def others_at_work(pus: Sequence[int]) -> str:
    """Wait a moment for a quiet computer; return in words what others still take of these PUs, empty for nothing."""
    with doing("waiting for a quiet computer"):
        found = wait_for_quiet(pus, PATIENCE_S)
    return "" if found is None else found.busy


def others_since(before: Snapshot, pus: Sequence[int]) -> str:
    """Return in words what others have taken of these PUs since a snapshot, empty for nothing."""
    return disturbance(before, snapshot(pus), len(pus)).busy


def busy_in_words(others: str) -> str:
    """Return what to tell where others took so much of the computer, and what to do; empty where they took nothing."""
    return others and f"this computer was busy, {others}: no gain can be told; measure again when it is quiet"
