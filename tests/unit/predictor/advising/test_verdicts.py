"""The rules by hand-made readings on either side of each threshold."""

import msgspec
import pytest

from numapredict.predictor.advising.evidence import Evidence
from numapredict.predictor.advising.verdicts import (
    Bound,
    Pages,
    bound_of,
    has_little_traffic,
    is_shared,
    pages_gain_nothing,
    pages_of,
)

# A stream on four nodes, initialised by one thread: 13 GB/s from one node of 30, four times as fast when spread.
STREAM = Evidence(
    nodes=4,
    other="32x4-scatter-locality",
    speedup=4.0,
    default_local_share=0.25,
    other_local_share=0.99,
    default_traffic_GBps=13.0,
    other_traffic_GBps=104.0,
    default_local_GBps=3.2,
    home_share=1.0,
    reached_GBps=110.0,
    controllers_GBps=120.0,
)
SAMPLED = Evidence(
    nodes=4, other="32x4-scatter-locality", speedup=4.0, default_local_share=0.25, other_local_share=0.99
)


@pytest.mark.parametrize(
    ("start", "changes", "pages"),
    [
        (STREAM, {}, "one node"),
        (STREAM, {"home_share": 0.89}, "unknown"),
        (STREAM, {"home_share": 0.9, "speedup": None}, "one node"),  # counters of each node need no comparison
        (STREAM, {"default_local_share": 0.9, "home_share": 0.27}, "own nodes"),
        (STREAM, {"default_local_share": 0.9}, "own nodes"),  # all threads on the pages' node
        (STREAM, {"default_local_share": None}, "unknown"),
        (SAMPLED, {}, "one node"),
        (SAMPLED, {"default_local_share": 0.35}, "one node"),
        (SAMPLED, {"default_local_share": 0.36}, "unknown"),
        (SAMPLED, {"nodes": 2, "default_local_share": 0.59}, "one node"),
        (SAMPLED, {"other_local_share": 0.44}, "unknown"),
        (SAMPLED, {"speedup": 1.09}, "unknown"),
        (SAMPLED, {"speedup": None}, "unknown"),
        (SAMPLED, {"other_local_share": None}, "unknown"),
    ],
)
def test_where_the_default_has_the_pages(start: Evidence, changes: dict[str, float | None], pages: Pages) -> None:
    assert pages_of(msgspec.structs.replace(start, **changes)) == pages


@pytest.mark.parametrize(
    ("changes", "binds"),
    [
        ({}, "one node's bandwidth"),
        ({"speedup": 1.5}, "one node's bandwidth"),
        ({"speedup": 1.49}, "one node's memory"),
        ({"speedup": 1.25}, "one node's memory"),
        ({"speedup": 1.24}, "unknown"),
        ({"speedup": None}, "unknown"),
        ({"home_share": 0.3}, "unknown"),
        ({"default_local_share": 1.0, "default_local_GBps": 108.0, "speedup": 1.0}, "all nodes' bandwidth"),
        ({"default_local_share": 1.0, "default_local_GBps": 107.9, "speedup": 1.0}, "unknown"),
        ({"default_local_share": 1.0, "default_local_GBps": 108.0, "controllers_GBps": None}, "unknown"),
        ({"default_traffic_GBps": 0.1, "other_traffic_GBps": 5.4, "speedup": 1.05}, "not memory"),
        ({"default_traffic_GBps": 0.1, "other_traffic_GBps": 5.6, "speedup": 1.05}, "unknown"),
        ({"default_traffic_GBps": 0.1, "other_traffic_GBps": 5.4, "speedup": 1.06}, "unknown"),
        ({"default_traffic_GBps": 0.1, "other_traffic_GBps": 5.4, "speedup": 0.94}, "unknown"),
        ({"default_traffic_GBps": None, "other_traffic_GBps": 5.4, "speedup": 1.0}, "unknown"),
    ],
)
def test_what_the_program_waits_for(changes: dict[str, float | None], binds: Bound) -> None:
    evidence = msgspec.structs.replace(STREAM, **changes)
    assert bound_of(evidence, pages_of(evidence)) == binds


def test_pages_are_shared_where_neither_probe_makes_them_local() -> None:
    shared = msgspec.structs.replace(STREAM, default_local_share=0.3, other_local_share=0.64)
    assert is_shared(shared)
    assert not is_shared(msgspec.structs.replace(shared, other_local_share=0.65))
    assert not is_shared(msgspec.structs.replace(shared, default_local_share=0.65))
    assert not is_shared(msgspec.structs.replace(shared, other_local_share=None))
    idle = msgspec.structs.replace(shared, default_traffic_GBps=0.1, other_traffic_GBps=0.1)
    assert has_little_traffic(idle)
    assert not is_shared(idle)


def test_pages_gain_nothing_only_where_the_other_probe_did_not() -> None:
    local = msgspec.structs.replace(STREAM, default_local_share=0.95, speedup=1.09)
    assert pages_gain_nothing(local, "own nodes")
    assert not pages_gain_nothing(msgspec.structs.replace(local, speedup=1.1), "own nodes")
    assert not pages_gain_nothing(msgspec.structs.replace(local, speedup=None), "own nodes")
    assert not pages_gain_nothing(local, "unknown")
    shared = msgspec.structs.replace(local, default_local_share=0.3, other_local_share=0.4)
    assert pages_gain_nothing(shared, "unknown")
    assert not pages_gain_nothing(shared, "one node")  # spreading them has not been ruled out
