"""The answer on one region of a run: what it gains from other mappings, by replays."""

import msgspec

from numapredict.collect.capturing.duration_class import DurationClass
from numapredict.collect.capturing.gain import Gain
from numapredict.collect.source.place import Place

UNLIKE = 1.5
"""A replay that takes so many times an instance's time in the run, or less by so much, says less about it."""


class ReplayedRegion(msgspec.Struct, frozen=True):
    """One outermost parallel region of the run.

    ``count`` instances took ``time_s`` together, ``share`` of the time of all regions, with ``team`` threads. Instance
    number ``instance``, from 0, was replayed under the mappings of ``gains``, the baseline first, while the program
    waited for ``replay_s``; None where none was, as ``problem`` says. ``replay_ratio`` is a replay's time under the
    baseline over the mean instance's: far from 1 where instances differ. ``emptied`` is the share of the caches that
    other regions empty between its instances, 0 to 1, by the mean ``instance_s`` of those that the replayed one stands
    for. Where its instances differ, ``classes`` has an instance of each class of durations that was replayed, the first
    one first, and the other fields are those of all together, by their shares of the time. ``undone`` is the share of
    what replays find done, as a graph's nodes that are visited, and instances do: it is known from the first replay.
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
    classes: tuple[DurationClass, ...] = ()
    undone: float = 0.0

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
