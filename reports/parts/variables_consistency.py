"""Checks an answer on variables from a file, which may have the right fields but impossible values."""

import math
from collections.abc import Iterator

from numapredict.native.errors import InvalidInputError
from numapredict.predictor.variables.heat import MOST_PARTS, Heat
from numapredict.predictor.variables.requests import Requests
from numapredict.predictor.variables.time_cost import TimeCost
from numapredict.predictor.variables.traffic import Traffic
from numapredict.predictor.variables.variable import Variable, Variables

_MOST_THREADS = 4096  # native/placement/process/settings.h


def check_variables(answer: Variables) -> None:
    """Raise InvalidInputError, naming the first impossible field."""
    for field, problem in _problems(answer):
        raise InvalidInputError(f"{field}: {problem}")


def _problems(answer: Variables) -> Iterator[tuple[str, str]]:
    if not 1 <= answer.threads <= _MOST_THREADS:
        yield "threads", f"{answer.threads} is not within 1 to {_MOST_THREADS}"
    if answer.nodes is not None and (len(answer.nodes) != answer.threads or min(answer.nodes) < 0):
        yield "nodes", f"they are not a node for each of {answer.threads} threads"
    if not 0 < answer.page_bytes <= 2**30:
        yield "page_bytes", f"{answer.page_bytes} is no size of a page"
    yield from _requests_problems("requests", answer.requests)
    yield from _traffic_problems("traffic", answer.traffic)
    yield from _time_problems("answer", answer.time)
    for number, one in enumerate(answer.variables, 1):
        where = f"variable {number}"
        yield from _share_problems(where, one)
        yield from _requests_problems(f"{where}, requests", one.requests)
        yield from _traffic_problems(f"{where}, traffic", one.traffic)
        yield from _time_problems(where, one.time)
        if one.heat is not None and not _fits(one.heat, answer.threads):
            yield f"{where}, heat", f"it is no table of at most {MOST_PARTS} parts for {answer.threads} threads"


def _share_problems(where: str, one: Variable) -> Iterator[tuple[str, str]]:
    for name in ("touch_share", "other_threads_share", "remote_share", "cost"):
        share = getattr(one, name)
        if share is not None and not 0 <= share <= 1 + 1e-9:
            yield f"{where}, {name}", f"{share:g} is not within 0 to 1"


def _time_problems(where: str, cost: TimeCost | None) -> Iterator[tuple[str, str]]:
    """Yield what cannot be: times may become many times longer, but never less than none."""
    if cost is None:
        return
    shares = [
        cost.share,
        cost.lowest,
        cost.highest,
        *((cost.run.share, cost.run.low, cost.run.high) if cost.run is not None else ()),
        *(share for one in cost.regions for share in (one.share, one.of_all)),
    ]
    for share in shares:
        if not math.isfinite(share) or share > 1:
            yield f"{where}, time", f"{share:g} is no share of a time that can go"
    if cost.run is not None and not (cost.run.low <= cost.run.share <= cost.run.high and 0 < cost.run.run_s < math.inf):
        yield f"{where}, time", f"{cost.run.share:g} of {cost.run.run_s:g} s cannot go, or is not within its range"
    if not cost.lowest <= cost.share <= cost.highest or cost.rounds < 1:
        yield f"{where}, time", f"{cost.share:g} is not within its rounds' {cost.lowest:g} to {cost.highest:g}"


def _requests_problems(where: str, requests: Requests | None) -> Iterator[tuple[str, str]]:
    if requests is None:
        return
    if not requests.nodes or len(requests.nodes) != len(requests.by_node):
        yield where, f"{len(requests.by_node)} shares cannot be those of {len(requests.nodes)} nodes"
    for value in (requests.local, requests.remote, requests.imbalance, *requests.by_node):
        if not math.isfinite(value) or value < 0:
            yield where, f"{value:g} cannot have been counted"


def _fits(heat: Heat, threads: int) -> bool:
    if heat.threads_each < 1 or heat.pages_each < 1 or len(heat.touches) != -(-threads // heat.threads_each):
        return False
    columns = len(heat.first_threads)
    return (
        1 <= columns <= MOST_PARTS
        and len(heat.touches) <= MOST_PARTS
        and all(len(row) == columns and min(row) >= 0 for row in heat.touches)
        and all(thread is None or 0 <= thread < threads for thread in heat.first_threads)
    )


def _traffic_problems(where: str, traffic: Traffic | None) -> Iterator[tuple[str, str]]:
    if traffic is None:
        return
    nodes = len(traffic.nodes)
    for matrix in (traffic.as_it_is, traffic.with_remedy):
        if not nodes or len(matrix) != nodes or any(len(row) != nodes for row in matrix):
            yield where, f"it is no table of {nodes} by {nodes} nodes"
        for value in (value for row in matrix for value in row):
            if not math.isfinite(value) or value < 0:
                yield where, f"{value:g} cannot have been counted"
