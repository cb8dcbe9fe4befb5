"""From a profile to the answer: each variable's cost under first touch, its pattern, and what would help. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from numapredict.collect.placing.profile_file import Profile
from numapredict.collect.source.modules import Modules
from numapredict.predictor.variables.first_touch import (
    Manner,
    elsewhere_share,
    first_threads,
    manner_of,
    schedule_in,
)
from numapredict.predictor.variables.grouping import Found
from numapredict.predictor.variables.heat import MOST_VARIABLES, heat_of
from numapredict.predictor.variables.page_nodes import PageNodes
from numapredict.predictor.variables.pattern import Pattern, pattern_of
from numapredict.predictor.variables.remedy import remedy_of
from numapredict.predictor.variables.requests import requests_of
from numapredict.predictor.variables.touches import Touches, chosen, joined
from numapredict.predictor.variables.traffic import traffic_of
from numapredict.predictor.variables.variable import RegionTouches, Variable

_PARTS = 64
"""native/placement/profile/first_touches.c: the most parts of a range whose first touches are known apart."""


class _Run(NamedTuple):
    """The profiled run: the nodes, if any touch can be remote; ``each`` touch of weight 1 counts."""

    profile: Profile
    modules: Modules
    nodes: PageNodes | None
    total: float
    each: float


def judged(
    found: Sequence[Found], profile: Profile, modules: Modules, nodes: PageNodes | None
) -> list[tuple[Found, Variable]]:
    """Return the variables, the costliest first."""
    total = sum(one.touches.total for one in found)
    seen = sum(int(one.touches.count.sum()) for one in found)
    run = _Run(profile, modules, nodes, total, seen / total if total > 0 else 0.0)
    pairs = sorted(((one, _judged(one, run)) for one in found), key=lambda one: (-one[1].cost, -one[1].touch_share))
    return [
        (one, variable if at < MOST_VARIABLES else msgspec.structs.replace(variable, heat=None, source=None))
        for at, (one, variable) in enumerate(pairs)
    ]


def by_region(
    touches: Touches, profile: Profile, modules: Modules, nodes: PageNodes | None, total: float
) -> tuple[RegionTouches, ...]:
    """Return the touches of each region, those with most from elsewhere first; ``total`` is the program's weight."""
    shares = []
    for number in np.unique(touches.region).tolist():
        part = chosen(touches, touches.region == number)
        first = first_threads(part)
        code = profile.regions[number - 1] if number else None
        shares.append(
            RegionTouches(
                None if code is None else modules.place(*code),
                part.total / total,
                elsewhere_share(part, first, range(profile.slots)),
                None if nodes is None else elsewhere_share(part, nodes.homes(part, first), nodes.of_thread),
            )
        )
    return tuple(sorted(shares, key=lambda one: -one.cost))


def all_regions(
    found: Sequence[Found], profile: Profile, modules: Modules, nodes: PageNodes | None
) -> tuple[RegionTouches, ...]:
    """Return the touches of each region to all variables together."""
    touches = joined([one.touches for one in found])
    return by_region(touches, profile, modules, nodes, touches.total)


def _judged(found: Found, run: _Run) -> Variable:
    profile, modules, nodes, total, each = run
    place, touches, slots = found.first_touch, found.touches, profile.slots
    touch_share = touches.total / total
    manner = manner_of(found.ranges)
    firsts = np.concatenate([one.firsts for one in found.ranges])
    seen = firsts[firsts["slot"] >= 0]
    inside = bool(seen["pages"][seen["region"] > 0].sum() * 2 > seen["pages"].sum()) if len(seen) else None
    schedule = schedule_in(modules.directive(place)) if place is not None and inside and manner == "in turn" else ""
    pattern = pattern_of(touches)
    others, remote, threads, homes = None, None, None, None
    if not _finer_than_parts(pattern, manner, found):
        threads = first_threads(touches)
        others = elsewhere_share(touches, threads, range(slots))
    if nodes is not None and (threads is not None or nodes.seen):
        homes = nodes.homes(touches, threads if threads is not None else touches.first)
        remote = elsewhere_share(touches, homes, nodes.of_thread)
    cost = touch_share * ((others if remote is None else remote) or 0.0)
    remedy = remedy_of(pattern, manner, cost, schedule, found.only_read, is_file=found.kind == "file")
    traffic = None
    if nodes is not None and homes is not None:
        traffic = traffic_of(touches, homes, nodes, each, (remedy.action, pattern))
    slot = np.bincount(seen["slot"], seen["pages"]).argmax() if len(seen) else 0
    return Variable(
        name=found.name,
        kind=found.kind,
        size_bytes=found.size_bytes,
        allocations=found.allocations,
        block_bytes=found.block_bytes,
        allocated=found.allocated,
        through=found.through,
        by_container=found.by_container,
        touches=int(touches.count.sum()),
        touch_share=touch_share,
        first_touch=place,
        first_thread=int(slot) if manner == "one thread" else None,
        first_manner=manner,
        first_schedule=schedule,
        pattern=pattern,
        other_threads_share=others,
        remote_share=remote,
        cost=cost,
        remedy=remedy,
        allocation_stack=found.stack,
        first_touch_stack=found.first_stack,
        first_in_region=inside,
        first_touch_known=min(float(seen["pages"].sum()) / sum(one.pages for one in found.ranges), 1.0),
        only_read=found.only_read,
        regions=by_region(touches, profile, modules, nodes, total),
        requests=None if traffic is None else requests_of(traffic.nodes, traffic.as_it_is),
        traffic=traffic,
        source=modules.excerpt(place) if place is not None else None,
        heat=heat_of(touches, threads, slots),
    )


def _finer_than_parts(pattern: Pattern, manner: Manner, found: Found) -> bool:
    """Return whether threads took turns in both within a part: whether the same ones, a profile does not tell."""
    pages = max(one.pages for one in found.ranges) / _PARTS
    return manner == "in turn" and pattern.period_pages is not None and pattern.period_pages < 2 * pages
