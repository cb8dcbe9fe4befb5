"""What a variable costs in time: the part of the run's and its regions' time that goes with its pages elsewhere. Pure.

HPCToolkit tells severity as the latency of remote accesses an instruction, by PEBS or IBS, and calls more than 0.1
cycles worth fixing (Liu and Mellor-Crummey, PPoPP 2014, sec. 4.2). Without such samples the time is read off twice:
with all pages where first touch puts them, and with those of one variable where its remedy would.
"""

import math
import statistics
from collections.abc import Hashable, Mapping, Sequence

import msgspec
from scipy.special import stdtrit

from numapredict.collect.source.place import Place

WORTH_TIME = 0.01
"""The least share of the time that is worth a change, if no round says it is not."""

MODEL_OFF = 1.2
"""Within this factor are four of five modelled speedups of a timed guest's (models/machines/FIDELITY.md)."""

_LEVEL = 0.95  # on each side: nine of ten
_MOST_REGIONS = 8
_LEAST_REGION = 0.001  # of the time in all regions

Times = Mapping[Hashable, float]
"""The seconds in each parallel region of a run, by whatever names the region."""


class RegionCost(msgspec.Struct, frozen=True):
    """A parallel region: ``share`` of its own time, and ``of_all`` regions' time, goes; less than 0: it comes."""

    place: Place | None
    share: float
    of_all: float


class RunSaving(msgspec.Struct, frozen=True):
    """What goes of a whole run's time, which is ``run_s`` as it is: ``share``, the geometric mean over the rounds.

    Of nine in ten further pairs of runs it should be ``low`` to ``high``, by Student's t, with the serial part as it
    was timed, or as long as before: under a plan one thread still initialises the pages, remote ones then, too.
    """

    run_s: float
    share: float
    low: float
    high: float


class TimeCost(msgspec.Struct, frozen=True, kw_only=True):
    """The share of the time in parallel regions that goes once pages are where a remedy puts them.

    ``share`` is the median over the ``rounds``, of ``lowest`` to ``highest``; a modelled one has one round. Below 0 the
    regions took longer. ``regions`` are those with most of it, the median of each. ``run`` is what goes of the whole
    run, None where that is not known, as of a modelled one.
    """

    share: float
    lowest: float
    highest: float
    rounds: int
    regions: tuple[RegionCost, ...] = ()
    run: RunSaving | None = None

    @property
    def saved(self) -> float:
        """Return the share that leads: that of the whole run, where it is known."""
        return self.share if self.run is None else self.run.share

    @property
    def is_sure(self) -> bool:
        """Return whether every round gained, and a further pair of runs should; of a modelled one whether it gains."""
        return self.lowest > 0 and (self.run is None or self.run.low > 0)

    @property
    def is_worth(self) -> bool:
        """Return whether the gain is sure, and as much as is worth a change."""
        return self.is_sure and self.saved >= WORTH_TIME

    @property
    def in_words(self) -> str:
        """Return what is saved as people read it, always with its range: ``12.0% (11.0% to 14.0%) of the run's time``.

        The whole run's where it is known; of modelled regions, within what models are off.
        """
        run = self.run
        if run is None:
            return self.regions_in_words
        saved_s = f"{run.share * run.run_s:.3g} s of {run.run_s:.3g} s"
        return f"{run.share:.1%} ({run.low:.1%} to {run.high:.1%}) of the run's time, {saved_s}"

    @property
    def regions_in_words(self) -> str:
        """Return the share of the time in parallel regions with its range."""
        low, high = self.lowest, self.highest
        if self.rounds == 1:
            low, high = (1 - (1 - self.share) * off for off in (MODEL_OFF, 1 / MODEL_OFF))
        return f"{self.share:.1%} ({low:.1%} to {high:.1%}) of the time in parallel regions"


def run_saving(before_s: Sequence[float], after_s: Sequence[float], regions_s: Sequence[float]) -> RunSaving | None:
    """Return what goes of the run time, round by round, of which ``regions_s`` in parallel regions.

    None of fewer than two rounds, which tell no range.
    """
    if len(before_s) < 2:
        return None
    share, low, high = _mean_and_range(before_s, after_s)
    alone_s = [was - gone for was, gone in zip(before_s, regions_s, strict=True)]
    if min(alone_s) > 0:  # regions side by side may take more time than the run
        _, other_low, other_high = _mean_and_range(before_s, alone_s)
        low, high = min(low, other_low), max(high, other_high)
    return RunSaving(statistics.median(before_s), round(share, 4), round(low, 4), round(high, 4))


def _mean_and_range(before_s: Sequence[float], after_s: Sequence[float]) -> tuple[float, float, float]:
    """Return the share that goes in the mean, and the range of that of a further round."""
    logs = [math.log(now / was) for was, now in zip(before_s, after_s, strict=True)]
    off = float(stdtrit(len(logs) - 1, _LEVEL)) * statistics.stdev(logs) * math.sqrt(1 + 1 / len(logs))
    middle = statistics.fmean(logs)
    return 1 - math.exp(middle), 1 - math.exp(middle + off), 1 - math.exp(middle - off)


def time_cost_of(
    before: Sequence[Times], after: Sequence[Times], places: Mapping[Hashable, Place], run: RunSaving | None = None
) -> TimeCost | None:
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
        run=run,
    )
