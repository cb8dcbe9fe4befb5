"""Is a source of counters right? Known bytes were moved, and this is what it counted; pure.

What users report of sources that are there but wrong: zeros, figures two or three times too large, accesses booked on
another node or as the wrong kind. Each has its words here. A constant factor can be believed, once it is known.
"""

import statistics
from collections.abc import Sequence

import msgspec

from numapredict.collect.measuring.counters.source import NodeTraffic

NOTHING = 0.02
"""Of the bytes moved: a source that counts less counts nothing."""

STRAY = 0.1
"""Of the bytes moved: what may be booked elsewhere, since the kernel and others work meanwhile."""

UNEVEN = 0.2
"""By how much the factors of nodes, and of local and remote accesses, may differ."""

FACTORS = (0.25, 4.0)
"""Beyond these something else is counted."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One load: threads on node ``threads`` read ``moved_bytes`` on node ``memory`` (logical); what was counted of it.

    ``counted`` has an entry a node. With ``writes`` each byte is moved there and back, of which a source may count
    either: then it is only asked where that is booked. What goes before the passes is taken off, so it may be below
    zero by noise.
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
    """Whether a source is believed, and the bytes that it counts for each one moved.

    ``remote_tested`` is false on a computer with one node. ``reasons`` say why it is not believed; ``controllers`` the
    factor of what its memory controllers count, None where it tells nothing about these.
    """

    believed: bool
    factor: float
    remote_tested: bool
    reasons: tuple[str, ...] = ()
    controllers: float | None = None


def judge(trials: Sequence[Trial]) -> Verdict:
    """Return the verdict on a source's trials, of which there must be at least one."""
    remote_tested = any(trial.kind == "remote" for trial in trials)
    controllers = _controllers(trials)
    if not all(node.local_bytes is not None and node.remote_bytes is not None for t in trials for node in t.counted):
        reason = "it does not tell local accesses from remote ones"
        return Verdict(
            believed=False, factor=1.0, remote_tested=remote_tested, reasons=(reason,), controllers=controllers
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
        believed=not reasons,
        factor=statistics.geometric_mean(factors) if not reasons else 1.0,
        remote_tested=remote_tested,
        reasons=tuple(reasons),
        controllers=controllers,
    )


def _booked(trial: Trial) -> float:
    """Return what was counted where the load belongs."""
    node = trial.counted[trial.threads]
    return (node.local_bytes if trial.kind == "local" else node.remote_bytes) or 0.0


def _strays(trial: Trial) -> list[str]:
    """Return what was counted where nothing was moved, the largest first."""
    found = []
    for number, node in enumerate(trial.counted):
        for kind, counted in (("local", node.local_bytes), ("remote", node.remote_bytes)):
            share = (counted or 0.0) / trial.moved_bytes
            if (number, kind) != (trial.threads, trial.kind) and share > STRAY:
                moved = f"{trial.kind} {'writes' if trial.writes else 'accesses'}"
                what = f"it books {share:.0%} of node {trial.threads}'s {moved} as {kind} ones of node {number}"
                found.append((share, what))
    return [text for _, text in sorted(found, reverse=True)]


def _controllers(trials: Sequence[Trial]) -> float | None:
    """Return the factor of the controllers' bytes, where every trial's memory node tells them and they agree."""
    counted = [(trial.counted[trial.memory].controller_bytes, trial.moved_bytes) for trial in trials]
    factors = [told / moved for told, moved in counted if told is not None]
    if len(factors) < len(trials) or min(factors) < NOTHING or max(factors) - min(factors) > UNEVEN * max(factors):
        return None
    return statistics.geometric_mean(factors)
