"""The touches of a variable: which thread touched which of its pages, and how many touches each sample stands for.

The profile picks pages evenly, protects each for a moment and notes who touches it first. A page's rate by itself, one
touch over a random time, has no mean; so the touches and the times of neighbouring pages are added before they are
divided. Of a page that nobody touched the time is supposed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numapredict.collect.placing.profile_file import Profile, ProfiledRange

_TOGETHER = 16  # touches of neighbouring pages whose times are added: the rate is then known to a quarter

Numbers = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Touches:
    """The sampled touches of one variable, one row a page and thread.

    ``page`` counts the pages of all its ranges one after the other, ``within`` those of the row's own range, which is
    number ``range`` and has ``length`` pages. ``slot`` is the thread, ``count`` the touches seen, ``weight`` how
    many of the program's they stand for, in a unit that is the same for all variables. ``pages`` is the number of all.
    """

    pages: int
    page: Numbers
    within: Numbers
    range: Numbers
    length: Numbers
    slot: Numbers
    count: Numbers
    weight: Weights

    @property
    def total(self) -> float:
        """Return the weight of all."""
        return float(self.weight.sum())


def wait_s(profile: Profile) -> float:
    """Return how long a page that nobody touches is protected, in seconds, which profiles do not have.

    That is two periods of the profile's thread (native/placement/profile/profile.c): a twentieth of the time so far, as
    it is in the middle of the run, from 2 to 50 ms. A touched page may show that it was more.
    """
    samples = profile.samples
    touched = samples[samples["touches"] > 0]
    longest_s = float((touched["touches"] / touched["rate"] / touched["armed"]).max()) if len(touched) else 0.0
    return max(longest_s, 2 * min(max(profile.time_s / 2 / 20, 0.002), 0.05))


def touches_of(profile: Profile, ranges: Sequence[ProfiledRange], untouched_s: float) -> Touches:
    """Return the touches of the ranges of a variable; ``untouched_s`` is the profile's ``wait_s``."""
    samples = np.concatenate([profile.samples[one.first : one.first + one.count] for one in ranges])
    counts = [one.count for one in ranges]
    lengths = np.array([one.pages for one in ranges], dtype=np.int64)
    number = np.repeat(np.arange(len(ranges)), counts)
    within = samples["page"].astype(np.int64)
    page = within + np.repeat(np.concatenate(([0], np.cumsum(lengths)))[:-1], counts)
    touched = samples["touches"] > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        time_s = np.where(touched, samples["touches"] / samples["rate"], samples["armed"] * untouched_s)
    first = np.diff(page, prepend=-1) != 0  # a page's armed count and time are the same in all its rows
    armed, time_s = np.where(first, samples["armed"], 0), np.where(first, time_s, 0.0)
    seen = np.cumsum(samples["touches"])
    group = (seen - samples["touches"]) // _TOGETHER
    group = np.maximum.accumulate(np.where(first, group, 0))  # a page's rows stay together
    size = int(group[-1]) + 1 if len(group) else 0
    waits, watched = (np.bincount(group, values, size) for values in (time_s, armed))
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(waits > 0, watched / waits, 0.0)  # of the watched pages: rate times pages, by touch
    return Touches(
        pages=int(lengths.sum()),
        page=page[touched],
        within=within[touched],
        range=number[touched],
        length=lengths[number[touched]],
        slot=samples["slot"][touched].astype(np.int64),
        count=samples["touches"][touched].astype(np.int64),
        weight=(each[group] * samples["touches"])[touched],
    )


def part_of(touches: Touches, first: int, pages: int) -> Touches:
    """Return the touches of some pages of a variable that has one range."""
    chosen = (touches.page >= first) & (touches.page < first + pages)
    rows = {name: getattr(touches, name)[chosen] for name in ("range", "slot", "count", "weight")}
    return Touches(
        pages=pages,
        page=touches.page[chosen] - first,
        within=touches.within[chosen] - first,
        length=np.full(int(chosen.sum()), pages),
        **rows,
    )
