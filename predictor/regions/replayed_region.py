"""The answer on one region of a run: what it gains from other mappings, by replays."""

import msgspec

from numapredict.collect.capturing.gain import Gain
from numapredict.collect.capturing.replayed_class import ReplayedClass
from numapredict.collect.source.place import Place

UNLIKE = 1.5
"""A replay that takes so many times an instance's time in the run, or less by so much, says less about it."""


class ReplayedRegion(msgspec.Struct, frozen=True):
    """One outermost parallel region of the run.

    ``count`` instances took ``time_s`` together in the first run, ``share`` of the time of all regions, with ``team``
    threads. ``classes`` has each class of instances that are alike, those with most time first: where one was replayed,
    under the mappings of its gains, it stands for its class. Together these are ``replayed`` of the region's time, 0 to
    1; the rest counts as it is, and where it is more than a tenth ``problem`` says why. ``gains`` are those of the
    whole region, the baseline first, none where nothing was replayed, and the program waited for ``replay_s``.
    ``instance`` is the number, from 0, of the replayed one of the first such class. ``replay_ratio`` is a replay's time
    under the baseline over that of the instances it stands for. ``emptied`` is the share of the caches that other
    regions empty between its instances, 0 to 1, by their mean, and ``undone`` that of what replays find done, as a
    graph's nodes that are visited, and instances do. ``instance_s`` is the mean of all instances.
    """

    name: str
    module: str
    offset: int
    count: int
    time_s: float
    share: float
    team: int
    place: Place | None = None
    instance: int | None = None
    replay_s: float = 0.0
    gains: tuple[Gain, ...] = ()
    replay_ratio: float | None = None
    problem: str = ""
    emptied: float = 0.0
    instance_s: float | None = None
    classes: tuple[ReplayedClass, ...] = ()
    undone: float = 0.0
    replayed: float = 1.0

    @property
    def is_unlike(self) -> bool:
        """Return whether the replayed instance took much more or less time than the run's do."""
        return self.replay_ratio is not None and not 1 / UNLIKE <= self.replay_ratio <= UNLIKE

    @property
    def best(self) -> Gain | None:
        """Return the largest gain that is sure, else the baseline; None where nothing was replayed."""
        known = [gain for gain in self.gains if gain.speedup is not None]
        sure = [gain for gain in known[1:] if gain.is_sure]
        return max(sure, key=lambda gain: gain.speedup or 0.0) if sure else known[0] if known else None
