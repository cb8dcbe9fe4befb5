"""The answer on a program's regions: what each gains from other mappings, by replays during one run."""

import msgspec

from numapredict.collect.source.place import Place
from numapredict.predictor.regions.choice import Gain

UNLIKE = 1.5
"""A replay that takes so many times an instance's time in the run, or less by so much, says less about it."""


class ReplayedRegion(msgspec.Struct, frozen=True):
    """One outermost parallel region of the run.

    ``count`` instances took ``time_s`` together, ``share`` of the time of all regions, with ``team`` threads. Instance
    number ``instance``, from 0, was replayed under the mappings of ``gains``, the baseline first, while the program
    waited for ``replay_s``; None where none was, as ``problem`` says. ``replay_ratio`` is a replay's time under the
    baseline over the mean instance's: far from 1 where instances differ, or where other regions empty the caches.
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


class ReplayedRegions(msgspec.Struct, frozen=True):
    """The regions of one run on this computer under the mapping ``baseline``, the ones with most time first.

    ``wall_s`` is the run's time, of which ``replay_s`` was spent on replays; ``region_time_s`` is that of all regions.
    ``exit_code`` is as a shell reports it, ``signal`` what ended the program, if one did.
    """

    command: tuple[str, ...]
    machine: str
    baseline: str
    exit_code: int
    signal: str | None
    wall_s: float
    replay_s: float
    region_time_s: float
    regions: tuple[ReplayedRegion, ...]
    notes: tuple[str, ...] = ()

    @property
    def replayed_share(self) -> float:
        """Return the share of the regions' time that is of regions that were replayed, 0 to 1."""
        return sum(region.share for region in self.regions if region.best is not None)

    @property
    def speedup(self) -> float:
        """Return how much faster all regions would be, each under its own best mapping, without any changes between.

        A bound: pages would have to move, and threads to change, from region to region.
        """
        if self.region_time_s <= 0:
            return 1.0
        left_s = sum(r.time_s / (best.speedup or 1.0) if (best := r.best) else r.time_s for r in self.regions)
        return self.region_time_s / left_s if left_s > 0 else 1.0
