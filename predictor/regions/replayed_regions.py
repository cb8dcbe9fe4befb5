"""The answer on a program's regions: what each gains from other mappings, by replays during one run."""

import msgspec

from numapredict.predictor.regions.one_mapping import OneMapping
from numapredict.predictor.regions.planned_application import PlannedApplication
from numapredict.predictor.regions.replayed_region import ReplayedRegion

LEAST_SPEEDUP = 1.02
"""Smaller speedups of all regions together are not worth a word."""


class ReplayedRegions(msgspec.Struct, frozen=True):
    """The regions of one run on this computer under the mapping ``baseline``, the ones with most time first.

    A first run took ``plain_s``, 0 if it was interrupted, in which all regions took ``region_time_s``; a second one
    ``wall_s``, of which ``replay_s`` was spent on replays.
    ``one_mapping`` is what one mapping for all of them gives, the best first. ``exit_code`` is as a shell reports it,
    ``signal`` what ended the program, if one did. ``plan`` is what was written for `run --plan`, if it was asked for.
    The program ran in ``directory``. ``disturbed`` is what others took of the computer meanwhile: then no gain can be
    told, whatever the replays gave.
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
    one_mapping: tuple[OneMapping, ...] = ()
    notes: tuple[str, ...] = ()
    plan: PlannedApplication | None = None
    directory: str = ""
    disturbed: str = ""
    plain_s: float = 0.0

    @property
    def replayed_share(self) -> float:
        """Return the share of the regions' time that replays stand for, 0 to 1."""
        return sum(region.share * region.replayed for region in self.regions if region.best is not None)

    @property
    def speedup(self) -> float:
        """Return how much faster all regions would be, each under its own best mapping, without any changes between.

        A bound: pages would have to move, and threads to change, from region to region.
        """
        if self.region_time_s <= 0:
            return 1.0
        left_s = sum(r.time_s / (best.speedup or 1.0) if (best := r.best) else r.time_s for r in self.regions)
        return self.region_time_s / left_s if left_s > 0 else 1.0

    @property
    def is_worth_it(self) -> bool:
        """Return whether all regions, each under its own best mapping, would be noticeably faster."""
        return not self.disturbed and self.speedup >= LEAST_SPEEDUP

    @property
    def whole_program(self) -> OneMapping | None:
        """Return the one mapping that is advised for the whole program; None if none noticeably gains in each round.

        Nor does what a region gained in one round alone make it so: that may be chance.
        """
        for one in self.one_mapping if not self.disturbed else ():
            if one.lowest > 1 and min(one.speedup, self._sure_speedup(one.mapping)) >= LEAST_SPEEDUP:
                return one
        return None

    def _sure_speedup(self, mapping: str) -> float:
        """Return the speedup of all regions under a mapping, of gains only those that were confirmed."""
        left_s = self.region_time_s
        for region in self.regions:
            gain = next((gain for gain in region.gains[1:] if gain.mapping == mapping), None)
            left_s += region.time_s / gain.believed - region.time_s if gain else 0.0
        return self.region_time_s / left_s if left_s > 0 else 1.0
