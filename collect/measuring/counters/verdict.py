"""The verdict on a source of counters: its counts compared with known bytes; pure.

Users report sources that count wrongly: zeros, figures two or three times too large, accesses assigned to another node
or to the wrong kind. Each case has its message here. A constant factor is acceptable, once it is known.
"""

import statistics
from collections.abc import Sequence

import msgspec

from numapredict.collect.measuring.counters.source import NodeTraffic

NOTHING = 0.02
"""Share of the bytes moved below which a source counts as counting nothing."""

STRAY = 0.1
"""Share of the bytes moved that may be counted elsewhere, since the kernel and other programs run meanwhile."""

UNEVEN = 0.2
"""By how much the factors of nodes, and of local and remote accesses, may differ."""

FACTORS = (0.25, 4.0)
"""Factors outside this range mean that something else is counted."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One load: threads on node ``threads`` read ``moved_bytes`` on node ``memory`` (logical); and its counts.

    ``counted`` has an entry a node. With ``writes`` each byte is moved both ways, of which a source may count either
    one: then only the node is checked. Start-up is subtracted, so that noise may make a count negative.
    """

    threads: int
    memory: int
    moved_bytes: float
    counted: tuple[NodeTraffic, ...]
    writes: bool = False

    @property
    def kind(self) -> str:
        """Return whether the load's accesses are local or remote."""
        return "local" if self.threads == self.memory else "remote"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a source passed the self-test, and the bytes that it counts for each byte moved.

    ``remote_tested`` is false on a computer with one node. ``reasons`` say why it failed; ``controllers`` is
    the factor of its memory controllers' counts, None where it does not count these.
    """

    passed: bool = msgspec.field(name="believed")
    factor: float
    remote_tested: bool
    reasons: tuple[str, ...] = ()
    controllers: float | None = None


def judge(trials: Sequence[Trial]) -> Verdict:
    """Return the verdict on a source's trials, of which there must be at least one."""
    remote_tested = any(trial.kind == "remote" for trial in trials)
    controllers = _controllers(trials)
    if not all(node.local_bytes is not None and node.remote_bytes is not None for t in trials for node in t.counted):
        reason = "it does not separate local accesses from remote ones"
        return Verdict(
            passed=False, factor=1.0, remote_tested=remote_tested, reasons=(reason,), controllers=controllers
        )
    reading = [trial for trial in trials if not trial.writes]
    factors = [_booked(trial) / trial.moved_bytes for trial in reading]
    reasons = [
        f"it counts nothing of node {trial.threads}'s {trial.kind} accesses"
        for trial, factor in zip(reading, factors, strict=True)
        if factor < NOTHING
    ]
    reasons += [reason for trial in trials for reason in _strays(trial)]
    if not reasons:
        low, high = min(factors), max(factors)
        middle = statistics.median(factors)
        if high - low > UNEVEN * middle:
            reasons.append(f"it counts between {low:.2f} and {high:.2f} bytes for one moved")
        elif not FACTORS[0] <= middle <= FACTORS[1]:
            reasons.append(f"it counts {middle:.2f} bytes for one moved")
    return Verdict(
        passed=not reasons,
        factor=statistics.geometric_mean(factors) if not reasons else 1.0,
        remote_tested=remote_tested,
        reasons=tuple(reasons),
        controllers=controllers,
    )


def _booked(trial: Trial) -> float:
    """Return the bytes counted on the right node and as the right kind."""
    node = trial.counted[trial.threads]
    return (node.local_bytes if trial.kind == "local" else node.remote_bytes) or 0.0


def _strays(trial: Trial) -> list[str]:
    """Return what was counted where nothing was moved, a text each, the largest first."""
    found = []
    for number, node in enumerate(trial.counted):
        for kind, counted in (("local", node.local_bytes), ("remote", node.remote_bytes)):
            share = (counted or 0.0) / trial.moved_bytes
            if (number, kind) != (trial.threads, trial.kind) and share > STRAY:
                moved = f"{trial.kind} {'writes' if trial.writes else 'accesses'}"
                what = f"it counts {share:.0%} of node {trial.threads}'s {moved} as {kind} ones of node {number}"
                found.append((share, what))
    return [text for _, text in sorted(found, reverse=True)]


def _controllers(trials: Sequence[Trial]) -> float | None:
    """Return the factor of the controllers' bytes, where every trial's memory node has them and they agree."""
    counted = [(trial.counted[trial.memory].controller_bytes, trial.moved_bytes) for trial in trials]
    factors = [reported / moved for reported, moved in counted if reported is not None]
    if len(factors) < len(trials) or min(factors) < NOTHING or max(factors) - min(factors) > UNEVEN * max(factors):
        return None
    return statistics.geometric_mean(factors)
