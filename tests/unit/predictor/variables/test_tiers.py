"""Near and far memory: what is touched most for its size is near, as far as there is room."""

import itertools
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.source.modules import Modules
from numapredict.collect.topology import Bandwidths, Topology
from numapredict.native.errors import UsageError
from numapredict.predictor.variables.analysis import judged
from numapredict.predictor.variables.grouping import Found
from numapredict.predictor.variables.tiers import ROOM, near_ones, tiered_plans, tiers_of
from numapredict.predictor.variables.touches import touches_of
from tests.shapes import shape
from tests.unit.predictor.variables.test_variable_plan import PAGES, profile

APART = [[10, 20, 14, 24], [20, 10, 24, 14], [14, 24, 10, 28], [24, 14, 28, 10]]
BYTES = PAGES * 4096


def machine(near_pages: int, own_GBps: float | None = None) -> Topology:
    """Return two nodes with cores, and two of memory alone, which deliver 20 GB/s."""
    room = round(near_pages * 4096 / ROOM / 2)
    own, alone = (room, 1 << 30) if own_GBps is None or own_GBps > 20 else (1 << 30, room)
    topology = shape([2, 2, 0, 0], memory=[own, own, alone, alone], distances=APART)
    if own_GBps is None:
        return topology
    table = tuple(tuple(own_GBps if column < 2 else 20.0 for column in range(4)) for _ in range(4))
    return msgspec.structs.replace(topology, bandwidths=Bandwidths(table, table))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=6), st.integers(0, 30))
def test_no_swap_of_equal_sizes_brings_more_touches_near(variables: list[tuple[int, int]], room: int) -> None:
    touches, sizes = zip(*variables, strict=True)
    near = near_ones(touches, sizes, room)
    used = sum(size for size, is_near in zip(sizes, near, strict=True) if is_near)
    assert used <= room
    for one, other in itertools.permutations(range(len(sizes)), 2):
        if near[one] and not near[other] and sizes[other] <= sizes[one]:
            assert touches[one] * sizes[other] >= touches[other] * sizes[one]
    for number, is_near in enumerate(near):
        assert is_near or used + sizes[number] > room


@pytest.mark.parametrize(("own_GBps", "is_near"), [(None, False), (30.0, False), (10.0, True)])
def test_near_is_what_delivers_more(own_GBps: float | None, is_near: bool) -> None:
    tiers = tiers_of(machine(PAGES, own_GBps), (0, 0, 1, 1))
    assert (tiers.own, tiers.other, tiers.is_near) == ((10, 11), (12, 13), is_near)
    assert tiers.near_bytes == pytest.approx(BYTES, abs=2)


def test_a_machine_without_nodes_of_memory_alone_has_no_tiers() -> None:
    with pytest.raises(UsageError, match="nodes of memory alone"):
        tiers_of(shape([2, 2]), (0, 1))


@pytest.mark.parametrize(
    ("own_GBps", "how", "moved"), [(30.0, "in far memory", ["cold", "large"]), (10.0, "in near memory", ["hot"])]
)
def test_what_leaves_its_threads_nodes_goes_beside_them(own_GBps: float, how: str, moved: list[str]) -> None:
    placement = resolve(parse_label("4x2-contiguous-first-touch"), machine(PAGES, own_GBps))
    sampled = profile([[0, 1, 2, 3]] * 3)
    found = [
        Found("allocated", name, "", BYTES * size, None, None, (known,), touches_of(sampled, [known], 0.1))
        for name, size, known in zip(("cold", "hot", "large"), (2, 1, 8), sampled.ranges, strict=True)
    ]
    judges = judged(found, sampled, Modules(), None)
    plans = tiered_plans(judges, sampled, placement)
    assert sorted(variable.name for variable, _ in plans) == moved
    assert {variable.how for variable, _ in plans} == {how}
    for variable, plan in plans:
        nodes = [node for each in plan.ranges for _, count, node in each.runs for _ in range(count)]
        assert (len(nodes), set(nodes)) == (variable.pages, {12, 13})
        assert nodes == [12, 12, 13, 13] * (PAGES // 4)  # each page beside the node of the thread that uses it


def test_files_and_parts_of_ranges_stay() -> None:
    placement = resolve(parse_label("4x2-contiguous-first-touch"), machine(PAGES, 10.0))
    sampled = profile([[0, 1, 2, 3]] * 2)
    file, part = (
        Found(
            kind, "one", "", BYTES // 4, None, None, (replace(known, pages=pages),), touches_of(sampled, [known], 0.1)
        )
        for kind, pages, known in zip(("file", "static"), (PAGES, PAGES - 1), sampled.ranges, strict=True)
    )
    assert tiered_plans(judged([file, part], sampled, Modules(), None), sampled, placement) == []
