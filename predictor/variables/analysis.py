"""From a profile to the answer: each variable's cost under first touch, its pattern, and what would help. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from numapredict.collect.source.modules import Modules
from numapredict.predictor.variables.first_touch import (
    FirstTouches,
    elsewhere_share,
    first_threads,
    manner_of,
    schedule_in,
)
from numapredict.predictor.variables.grouping import Found
from numapredict.predictor.variables.heat import MOST_VARIABLES, heat_of
from numapredict.predictor.variables.pattern import Pattern, pattern_of
from numapredict.predictor.variables.remedy import remedy_of
from numapredict.predictor.variables.requests import requests_of
from numapredict.predictor.variables.variable import Variable


def judged(found: Sequence[Found], modules: Modules, slots: int, nodes: Sequence[int] | None) -> tuple[Variable, ...]:
    """Return the variables, the costliest first; ``nodes`` has the node of each of the ``slots`` threads."""
    total = sum(one.touches.total for one in found)
    seen = sum(int(one.touches.count.sum()) for one in found)
    threads = Threads(slots, nodes, seen / total if total > 0 else 0.0)
    variables = (_judged(one, modules, threads, one.touches.total / total) for one in found)
    ordered = sorted(variables, key=lambda one: (-one.cost, -one.touch_share))
    return tuple(
        one if at < MOST_VARIABLES else msgspec.structs.replace(one, heat=None, source=None)
        for at, one in enumerate(ordered)
    )


class Threads(NamedTuple):
    """The ``slots`` of threads with the node of each, if any touch can be remote; ``each`` touch of weight 1."""

    slots: int
    nodes: Sequence[int] | None
    each: float


def _judged(found: Found, modules: Modules, run: Threads, touch_share: float) -> Variable:
    slots, nodes = run.slots, run.nodes
    place, touches = found.first_touch, found.touches
    in_region: bool | None = place is not None and place.in_region
    if place is not None and place.in_c_library and not found.by_container:
        in_region = None
    schedule = schedule_in(modules.directive(place)) if place is not None and in_region else ""
    first = FirstTouches(found.first_threads, manner_of(found.first_threads, in_region, schedule))
    pattern = pattern_of(touches)
    others, remote, threads, requests = None, None, None, None
    if not _both_in_turn(pattern, first):
        threads = first_threads(touches, first, slots)
        others = elsewhere_share(touches, threads, range(slots))
        if nodes is not None:
            remote = elsewhere_share(touches, threads, nodes)
            requests = requests_of(touches, threads, nodes, run.each)
    cost = touch_share * ((others if remote is None else remote) or 0.0)
    known = [thread for thread in found.first_threads if thread >= 0]
    return Variable(
        name=found.name,
        kind=found.kind,
        size_bytes=found.size_bytes,
        allocations=found.allocations,
        allocated=found.allocated,
        through=found.through,
        by_container=found.by_container,
        touches=int(touches.count.sum()),
        touch_share=touch_share,
        first_touch=place,
        first_thread=known[0] if known and len(set(known)) == 1 else None,
        first_manner=first.manner,
        first_schedule=schedule,
        pattern=pattern,
        other_threads_share=others,
        remote_share=remote,
        cost=cost,
        remedy=remedy_of(pattern, first, cost, schedule),
        requests=requests,
        source=modules.excerpt(place) if place is not None else None,
        heat=heat_of(touches, threads, slots),
    )


def _both_in_turn(pattern: Pattern, first: FirstTouches) -> bool:
    """Return whether threads took turns in both: whether the same ones, a profile does not tell."""
    return pattern.kind == "strided" and first.manner == "in turn"
