"""What a variable costs in time: the part of the parallel regions' time that goes once its pages are elsewhere. Pure.

HPCToolkit tells severity as the latency of remote accesses an instruction, by PEBS or IBS, and calls more than 0.1
cycles worth fixing (Liu and Mellor-Crummey, PPoPP 2014, sec. 4.2). Without such samples the time is read off twice:
with all pages where first touch puts them, and with those of one variable where its remedy would.
"""

import statistics
from collections.abc import Hashable, Mapping, Sequence

import msgspec

from numapredict.collect.source.place import Place

WORTH_TIME = 0.01
"""The least share of the time in parallel regions that is worth a change, if no round says it is not."""

_MOST_REGIONS = 8
_LEAST_REGION = 0.001  # of the time in all regions

Times = Mapping[Hashable, float]
"""The seconds in each parallel region of a run, by whatever names the region."""


class RegionCost(msgspec.Struct, frozen=True):
    """A parallel region: ``share`` of its own time, and ``of_all`` regions' time, goes; less than 0: it comes."""

    place: Place | None
    share: float
    of_all: float


class TimeCost(msgspec.Struct, frozen=True, kw_only=True):
    """The share of the time in parallel regions that goes once pages are where a remedy puts them.

    ``share`` is the median over the ``rounds``, of ``lowest`` to ``highest``; a modelled one has one round. Below 0 the
    regions took longer. ``regions`` are those with most of it, the median of each.
    """

    share: float
    lowest: float
    highest: float
    rounds: int
    regions: tuple[RegionCost, ...] = ()

    @property
    def is_worth(self) -> bool:
        """Return whether every round gained, and by as much as is worth a change."""
        return self.lowest > 0 and self.share >= WORTH_TIME

    @property
    def in_words(self) -> str:
        """Return the share as people read it, with its range where there is one: ``12% (11% to 14%)``."""
        spread = f" ({self.lowest:.1%} to {self.highest:.1%})" if self.rounds > 1 else ""
        return f"{self.share:.1%}{spread}"


def time_cost_of(before: Sequence[Times], after: Sequence[Times], places: Mapping[Hashable, Place]) -> TimeCost | None:
    """Return the cost by the region times of each round; None where no round has time in regions."""
    pairs = [(was, now) for was, now in zip(before, after, strict=True) if sum(was.values()) > 0]
    if not pairs:
        return None
    shares = [1 - sum(now.values()) / sum(was.values()) for was, now in pairs]
    found = []
    for key in dict.fromkeys(key for was, _ in pairs for key in was):
        own = [(was[key], now[key], sum(was.values())) for was, now in pairs if was.get(key, 0.0) > 0 and key in now]
        if own:
            share = statistics.median(1 - now / was for was, now, _ in own)
            of_all = statistics.median((was - now) / whole for was, now, whole in own)
            found.append(RegionCost(places.get(key), round(share, 4), round(of_all, 4)))
    found.sort(key=lambda one: -abs(one.of_all))
    return TimeCost(
        share=round(statistics.median(shares), 4),
        lowest=round(min(shares), 4),
        highest=round(max(shares), 4),
        rounds=len(pairs),
        regions=tuple(one for one in found[:_MOST_REGIONS] if abs(one.of_all) >= _LEAST_REGION),
    )
