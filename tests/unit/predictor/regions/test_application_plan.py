"""The plan for a whole application, from what its regions gained in replays."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numapredict.collect.capturing.gain import Gain
from numapredict.collect.capturing.order import Succession
from numapredict.collect.mapping import parse_label
from numapredict.collect.placement import resolve
from numapredict.collect.placing.fixed_teams import TeamFacts
from numapredict.predictor.regions.application_plan import Uses, plan_of_application
from numapredict.predictor.regions.chosen_plan import ApplicationPlan
from numapredict.predictor.regions.page_moves import MOVE_S
from numapredict.predictor.regions.region_order import OTHER, Order
from numapredict.predictor.regions.replayed_region import ReplayedRegion
from numapredict.predictor.regions.touch_groups import TouchGroups
from tests.shapes import shape

LARGE = 10**6
TOPOLOGY = shape([4, 4])
BASE = "8x2-contiguous-first-touch"
FREE = TeamFacts(keeps_threads=True)
LABELS = (
    "8x2-contiguous-interleave",
    "4x1-contiguous-first-touch",
    "4x1-contiguous-interleave@2",
    "4x2-scatter-interleave",
    "8x2-contiguous-bind@1",
    "1x1-contiguous-bind",
)


def gain(label: str, speedup: float, rounds: int = 3) -> Gain:
    return Gain(label, 1.0, speedup, speedup, rounds)


def region(time_s: float, *gains: Gain, count: int = 10, team: int = 8) -> ReplayedRegion:
    return ReplayedRegion(
        "solve", "/app", 16, count, time_s, 0.1, team, gains=(gain(BASE, 1.0, 5), *gains) if gains else ()
    )


def plan(
    *regions: ReplayedRegion, facts: TeamFacts = FREE, uses: Uses | None = None, order: Order = None
) -> ApplicationPlan:
    found = plan_of_application(regions, BASE, TOPOLOGY, facts, uses, order)
    assert found is not None
    return found


def test_each_region_has_its_own_team_on_pages_that_all_share() -> None:
    found = plan(
        region(6.0, gain("4x1-contiguous-first-touch", 2.0)), region(3.0, gain("8x2-contiguous-interleave", 0.5))
    )
    assert (found.mapping, found.pages) == (BASE, {})
    first, second = found.regions
    assert (first.mapping, first.team, first.slots) == ("4x1-contiguous-first-touch", (0, 1, 2, 3), (0, 1, 2, 3))
    assert (second.mapping, second.team, second.slots) == (BASE, None, ())
    assert found.speedup == pytest.approx(9 / 6, rel=1e-3)
    assert (found.one_mapping, found.one_speedup) == (BASE, 1.0)
    assert found.conflicts == ()


def test_one_mapping_that_is_best_everywhere_is_the_plan_without_any_team() -> None:
    label = "4x2-scatter-interleave"
    found = plan(region(6.0, gain(label, 2.0)), region(3.0, gain(label, 1.5)), region(1.0))
    assert (found.mapping, found.one_mapping) == (label, label)
    assert all(one.team is None for one in found.regions)
    assert found.speedup == found.one_speedup == pytest.approx(10 / 6)


def test_what_libgomp_pays_for_larger_teams_decides() -> None:
    narrow, wide = gain("4x1-contiguous-first-touch", 1.5), gain("4x1-contiguous-first-touch", 0.6)

    def teams(count: int, facts: TeamFacts) -> int:
        found = plan(region(0.3, narrow, count=count), region(0.3, wide, count=count), facts=facts)
        return sum(one.team is not None for one in found.regions)

    assert teams(100, TeamFacts()) == 1  # 100 times 4 threads of 33 us, for 0.1 s
    assert teams(10000, TeamFacts()) == 0
    assert teams(10000, FREE) == 1


def test_a_program_that_may_count_on_its_threads_keeps_them_and_may_only_move_them() -> None:
    asks = TeamFacts(asks="omp_get_max_threads", keeps_threads=True)
    half = "4x1-contiguous-first-touch"
    found = plan(region(6.0, gain(half, 2.0)), region(3.0, gain(half, 0.3)), facts=asks)
    assert (found.speedup, found.regions[0].team) == (1.0, None)
    scattered = gain("8x2-scatter-first-touch", 1.5)
    found = plan(region(6.0, scattered), region(3.0, gain("8x2-scatter-first-touch", 0.9)), facts=asks)
    assert found.regions[0].slots == (0, 4, 1, 5, 2, 6, 3, 7)
    assert found.regions[1].team is None


def test_a_region_with_its_own_number_of_threads_has_no_team() -> None:
    found = plan(region(6.0, gain("4x1-contiguous-first-touch", 2.0), team=4))
    assert all(one.team is None for one in found.regions)


def test_unsure_gains_do_not_count() -> None:
    assert gain(LABELS[0], 2.0, rounds=1).believed == 1.0
    assert gain(LABELS[0], 0.5, rounds=1).believed == 0.5
    assert plan(region(6.0, gain("8x2-contiguous-interleave", 2.0, rounds=2))).speedup == 1.0


def test_a_conflict_over_pages_is_told_and_an_array_of_its_own_solves_it() -> None:
    spread, home = "8x2-contiguous-interleave", "8x2-contiguous-bind@1"
    regions = (
        region(6.0, gain(spread, 2.0), gain(home, 0.5)),
        region(4.0, gain(spread, 0.5), gain(home, 2.0)),
    )
    found = plan(*regions)
    assert found.mapping == BASE
    one, other = found.conflicts
    assert (one.number, one.wanted, one.speedup, one.arrays, one.others) == (0, spread, 2.0, (), (1,))
    assert (other.number, other.wanted) == (1, home)
    apart = Uses(("a", "b"), (LARGE, LARGE), {0: frozenset({1}), 1: frozenset({2})})
    found = plan(*regions, uses=apart)
    assert found.conflicts == ()
    assert found.speedup == pytest.approx(2.0)
    where = {1: found.mapping, 2: found.mapping, **found.pages}
    assert {array: parse_label(label).page_policy for array, label in where.items()} == {1: "interleave", 2: "bind"}
    shared = Uses(("a", "b"), (LARGE, LARGE), {0: frozenset({1, 2}), 1: frozenset({2})})
    found = plan(*regions, uses=shared)
    assert found.moved == ()
    assert [(one.arrays, one.others) for one in found.conflicts] == [((2,), (1,)), ((2,), (0,))]
    assert [one.lost_s for one in found.conflicts] == [3.0, 2.0]


SPREAD, HOME = "8x2-contiguous-interleave", "8x2-contiguous-bind@1"
IN_PHASES = (Succession(0, (), 1000), Succession(1, (), 999), Succession(1, (0,), 1))
IN_TURN = (Succession(0, (), 1), Succession(0, (1,), 999), Succession(1, (0,), 1000))
WITH_A_NEUTRAL_ONE = (
    Succession(0, (OTHER,), 1000),
    Succession(OTHER, (0,), 1000),
    Succession(1, (OTHER, 0), 1),
    Succession(1, (OTHER,), 999),
    Succession(OTHER, (1,), 1000),
)


def opposed(order: Order, pages: int = 1000, *others: ReplayedRegion) -> ApplicationPlan:
    """Plan two regions that want one array in different places, each for 3 of its 6 seconds."""
    regions = (
        region(6.0, gain(SPREAD, 2.0), gain(HOME, 0.5), count=1000),
        region(6.0, gain(SPREAD, 0.5), gain(HOME, 2.0), count=1000),
        *others,
    )
    uses = Uses(("a",), (pages,), {0: frozenset({1}), 1: frozenset({1})})
    return plan(*regions, uses=uses, order=order)


@pytest.mark.parametrize(("order", "others"), [(IN_PHASES, ()), (WITH_A_NEUTRAL_ONE, (region(1.0, count=2000),))])
def test_an_array_moves_between_phases(order: Order, others: tuple[ReplayedRegion, ...]) -> None:
    found = opposed(order, 1000, *others)
    (moved,) = found.moved
    assert (moved.array, moved.places, moved.of, moved.times) == (1, (SPREAD, HOME), {0: 0, 1: 1}, 1)
    assert found.move_s == pytest.approx(1000 * MOVE_S)
    rest_s = sum(each.time_s for each in others)
    assert found.speedup == pytest.approx((12 + rest_s) / (6 + rest_s + found.move_s))
    assert (found.pages, found.conflicts) == ({}, ())
    assert found.move_gain_s == pytest.approx(12 - 6)  # in one place one region gains, and the other loses as much
    assert [one.mapping for one in found.regions] == [SPREAD, HOME]


def test_an_array_does_not_move_each_time() -> None:
    found = opposed(IN_TURN)
    assert (found.moved, found.move_s, found.move_gain_s) == ((), 0, 0)
    one, other = found.conflicts
    assert (one.wanted, other.wanted) == (SPREAD, HOME)
    assert one.arrays == (1,)


def test_moves_have_to_gain_over_twice_what_they_cost() -> None:
    moves = 1999  # in turn
    pays = int(6 / 2 / MOVE_S / moves)
    assert opposed(IN_TURN, pays - 1).moved[0].times == moves
    found = opposed(IN_TURN, pays + 2)
    assert found.moved == ()
    for one in found.conflicts:
        assert one.times == moves
        assert one.cost_s == pytest.approx((pays + 2) * moves * MOVE_S)
        assert one.cost_s > one.lost_s / 2


def test_where_the_order_is_not_known_regions_are_taken_to_take_turns() -> None:
    assert opposed(None).moved == ()
    (moved,) = opposed(None, 100).moved
    assert moved.times == 2000


def test_memory_that_has_no_allocation_of_its_own_does_not_move() -> None:
    regions = (region(6.0, gain(SPREAD, 2.0)), region(6.0, gain(HOME, 2.0)))
    uses = Uses(("a",), (10,), {0: frozenset({0, 1}), 1: frozenset({0, 1})})
    found = plan(*regions, uses=uses, order=IN_PHASES)
    assert found.moved == ()
    assert [one.cost_s for one in found.conflicts] in ([None], [None, None])


def test_teams_follow_each_other_as_often_as_was_counted() -> None:
    narrow, wide = gain("4x1-contiguous-first-touch", 1.5), gain("4x1-contiguous-first-touch", 0.6)
    regions = (region(0.3, narrow, count=10000), region(0.3, wide, count=10000))
    assert all(one.team is None for one in plan(*regions, facts=TeamFacts()).regions)
    found = plan(*regions, facts=TeamFacts(), order=IN_PHASES)
    assert sum(one.team is not None for one in found.regions) == 1


def test_nothing_replayed_is_no_plan() -> None:
    assert plan_of_application([region(1.0)], BASE, TOPOLOGY, FREE) is None
    assert plan_of_application([], BASE, TOPOLOGY, FREE) is None


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_plan_is_never_worse_than_the_best_mapping_for_all_and_its_teams_fit(data: st.DataObject) -> None:
    speedups = st.floats(0.3, 4)
    regions = []
    for _ in range(data.draw(st.integers(1, 4))):
        labels = data.draw(st.lists(st.sampled_from(LABELS), unique=True, max_size=4))
        gains = [gain(label, data.draw(speedups), data.draw(st.sampled_from([1, 3]))) for label in labels]
        count = data.draw(st.integers(3, 10000))
        regions.append(
            region(data.draw(st.floats(0.1, 10)), *gains, count=count, team=data.draw(st.sampled_from([8, 4])))
        )
    facts = data.draw(st.sampled_from([FREE, TeamFacts(), TeamFacts(asks="omp_get_max_threads")]))
    arrays = st.frozensets(st.integers(0, 2))
    used = {number: data.draw(arrays) for number in range(len(regions)) if data.draw(st.booleans())}
    pages = data.draw(st.tuples(st.integers(0, 10**6), st.integers(0, 100)))
    numbers = st.integers(0, 3)
    order = data.draw(st.none() | st.lists(st.builds(Succession, numbers, st.tuples(numbers), st.integers(1, 9))))
    found = plan_of_application(regions, BASE, TOPOLOGY, facts, Uses(("a", "b"), pages, used), order)
    if not any(each.gains for each in regions):
        assert found is None
        return
    assert found is not None
    assert found.speedup >= found.one_speedup * (1 - 2e-3)
    assert found.one_speedup >= 1 - 1e-9
    whole_s = sum(each.time_s for each in regions)
    assert found.move_gain_s >= 2 * found.move_s * (1 - 1e-6) - 2e-3 * whole_s
    for label in (BASE, *LABELS):  # the rule of ICS'19, worked out here
        if parse_label(label).threads < 8 and any(each.team == 4 and each.gains for each in regions):
            continue
        gains = [{one.mapping: one.believed for one in each.gains} for each in regions if each.gains]
        if all(label in each for each in gains):
            rest_s = sum(each.time_s for each in regions if not each.gains)
            replayed = [each for each in regions if each.gains]
            alone_s = rest_s + sum(each.time_s / its[label] for each, its in zip(replayed, gains, strict=True))
            assert found.speedup >= whole_s / alone_s * (1 - 2e-3)
    base = resolve(parse_label(found.mapping), TOPOLOGY)
    for one in found.regions:
        if one.team is not None:
            assert tuple(base.pus[slot] for slot in one.slots) == one.team
            assert len(one.team) == len(base.pus) or not facts.reason


def test_pages_that_follow_touches_follow_those_of_the_plan_s_own_threads() -> None:
    same, fewer = gain("8x2-contiguous-locality", 2.0), gain("4x2-contiguous-locality", 3.0)
    wide = region(6.0, gain("8x2-contiguous-locality", 1.0), gain("4x2-contiguous-locality", 0.4))
    found = plan(region(6.0, same), wide)
    assert (found.mapping, found.regions[0].team) == ("8x2-contiguous-locality", None)
    found = plan(region(6.0, fewer), wide)
    assert (found.mapping, found.regions[0].mapping, found.speedup) == (BASE, BASE, 1.0)
    apart = Uses(("a", "b"), (LARGE, LARGE), {0: frozenset({1}), 1: frozenset({2})})
    found = plan(region(6.0, same), region(4.0, gain("8x2-contiguous-interleave", 2.0)), uses=apart)
    assert found.pages == {1: "8x2-contiguous-locality", 2: "8x2-contiguous-interleave"}
    assert found.speedup == pytest.approx(2.0)


LOCAL = "8x2-contiguous-locality"


def test_pages_by_touches_are_in_one_place_only_for_regions_of_a_group() -> None:
    regions = (region(6.0, gain(LOCAL, 2.0), count=1000), region(6.0, gain(LOCAL, 2.0), count=1000))
    used = {0: frozenset({1}), 1: frozenset({1})}

    def planned(groups: TouchGroups, pages: int = 1000) -> ApplicationPlan:
        return plan(*regions, uses=Uses(("a",), (pages,), used, groups), order=IN_PHASES)

    together = planned(TouchGroups())
    assert (together.speedup, together.moved, together.one_mapping) == (pytest.approx(2.0), (), LOCAL)
    apart = TouchGroups({0: frozenset({1}), 1: frozenset({2})}, {1: frozenset({0}), 2: frozenset({1})})
    found = planned(apart)
    assert [(one.places, one.of, one.times) for one in found.moved] == [((LOCAL, LOCAL), {0: 0, 1: 1}, 1)]
    assert found.speedup == pytest.approx(2.0, rel=1e-2)
    assert (found.mapping, found.one_mapping, found.one_speedup) == (BASE, BASE, 1.0)
    large = planned(apart, 10**6)  # what a region takes where the other one wants the array was not replayed
    assert (large.moved, large.pages, large.speedup) == ((), {}, pytest.approx(1.0))
    assert [one.wanted for one in large.conflicts] == [LOCAL, LOCAL]
    unknown = planned(TouchGroups({0: frozenset({1})}, apart.owners))
    assert [one.places for one in unknown.moved] == [(LOCAL, BASE)]
    either = TouchGroups({0: frozenset({1, 2}), 1: frozenset({2})}, apart.owners)
    assert (planned(either).moved, planned(either).speedup) == ((), pytest.approx(2.0))
