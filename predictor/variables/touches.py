"""The touches of a variable: which thread touched which of its pages, and how many touches each sample stands for.

The profile picks pages evenly, protects each for a moment and notes who touches it first. A page's rate by itself, one
touch over a random time, has no mean; so the touches and the times of neighbouring pages are added before they are
divided. Of a page that nobody touched the time is assumed. That shares out a variable's touches among its pages; how
many there are in all, against other variables, tell their waits (visits.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from numapredict.collect.placing.profile_file import Profile, ProfiledRange
from numapredict.predictor.variables.visits import visits, waits_of

_TOGETHER = 16  # touches of neighbouring pages whose times are added: the rate is then known to a quarter

Numbers = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Touches:
    """The sampled touches of one variable, one row a page and thread.

    ``page`` counts the pages of all its ranges one after the other, ``within`` those of the row's own range, which is
    number ``range`` and has ``length`` pages. ``slot`` is the thread, ``region`` the number of the profile's region,
    ``first`` the thread that touched the page's part first, ``page_node`` the OS number of the node that had the page,
    -1 where they are not known. ``count`` is the touches seen, ``weight`` how many of the program's they stand for, in
    a unit that is the same for all variables. ``pages`` is the number of all.
    """

    pages: int
    page: Numbers
    within: Numbers
    range: Numbers
    length: Numbers
    slot: Numbers
    region: Numbers
    first: Numbers
    page_node: Numbers
    count: Numbers
    weight: Weights

    @property
    def total(self) -> float:
        """Return the weight of all."""
        return float(self.weight.sum())


_COLUMNS = tuple(one.name for one in fields(Touches) if one.name != "pages")


def wait_s(profile: Profile) -> float:
    """Return how long a page that nobody touches is protected, in seconds, which profiles do not have.

    That is the window of the profile's thread (native/placement/profile/profile.c): a tenth of the time so far, as it
    is in the middle of the run, from 4 to 100 ms. A touched page may show that it was more.
    """
    samples = profile.samples
    touched = samples[samples["touches"] > 0]
    longest_s = float((touched["touches"] / touched["rate"] / touched["armed"]).max()) if len(touched) else 0.0
    return max(longest_s, min(max(profile.time_s / 2 / 10, 0.004), 0.1))


def touches_of(
    profile: Profile, ranges: Sequence[ProfiledRange], untouched_s: float, noticed_s: float = 0.0
) -> Touches:
    """Return the touches of the ranges of a variable.

    ``untouched_s`` is the profile's ``wait_s``, ``noticed_s`` the ``latency_s`` of all its waits.
    """
    samples = np.concatenate([profile.samples[one.first : one.first + one.count] for one in ranges])
    like = max(ranges, key=lambda one: len(one.firsts))
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
    stands_for = np.repeat([one.stands_for for one in ranges], counts)
    weight = (each[group] * samples["touches"] * stands_for)[touched]
    known = waits_of(ranges)
    if known.any() and weight.any():
        weight *= visits(known, noticed_s) / weight.sum()
    return Touches(
        pages=int(lengths.sum()),
        page=page[touched],
        within=within[touched],
        range=number[touched],
        length=lengths[number[touched]],
        slot=samples["slot"][touched].astype(np.int64),
        region=samples["region"][touched].astype(np.int64),
        first=np.concatenate([_first(one, like, profile) for one in ranges])[touched],
        page_node=samples["page_node"][touched].astype(np.int64) - 1,
        count=samples["touches"][touched].astype(np.int64),
        weight=weight,
    )


def _first(known: ProfiledRange, like: ProfiledRange, profile: Profile) -> Numbers:
    """Return the thread that touched first the part that holds the page of each of a range's samples; -1: not known.

    A range of which nothing is known is taken to be touched as ``like``, another of its variable.
    """
    page = profile.samples["page"][known.first : known.first + known.count].astype(np.int64)
    if not len(known.firsts):
        page = page * like.pages // known.pages
        known = like
    if not len(known.firsts):
        return np.full(len(page), -1, dtype=np.int64)
    part = np.maximum(np.searchsorted(known.firsts["page"], page, side="right") - 1, 0)
    found = known.firsts[part]
    inside = (page >= found["page"]) & (page - found["page"] < found["pages"])
    slots: Numbers = np.where(inside, found["slot"], -1).astype(np.int64)
    return slots


def chosen(touches: Touches, rows: npt.NDArray[np.bool_]) -> Touches:
    """Return some rows of a variable's touches."""
    return replace(touches, **{name: getattr(touches, name)[rows] for name in _COLUMNS})


def joined(parts: Sequence[Touches]) -> Touches:
    """Return the rows of several variables' touches; their pages are not told apart."""
    columns = {name: np.concatenate([getattr(one, name) for one in parts]) for name in _COLUMNS}
    return Touches(sum(one.pages for one in parts), **columns)


def part_of(touches: Touches, first: int, pages: int) -> Touches:
    """Return the touches of some pages of a variable that has one range."""
    inside = (touches.page >= first) & (touches.page < first + pages)
    same = ("range", "slot", "region", "first", "page_node", "count", "weight")
    rows = {name: getattr(touches, name)[inside] for name in same}
    return Touches(
        pages=pages,
        page=touches.page[inside] - first,
        within=touches.within[inside] - first,
        length=np.full(int(inside.sum()), pages),
        **rows,
    )
