"""The plan of a characterisation: the thesis's mappings are in it, nothing twice, and not too many."""

import pytest

from numapredict.collect.campaign.characterisation.plan import plan_of, usual_thread_counts
from numapredict.collect.modelled.description import load_description, machine_names
from numapredict.collect.space import canonical, full_space
from numapredict.native.errors import UsageError
from tests.shapes import shape
from tests.unit.collect.test_space import SMALL

SANDY_BRIDGE = shape([8] * 4)


def labels(places: tuple[object, ...]) -> list[str]:
    return [place.run.label for place in places]  # type: ignore[attr-defined]


def test_the_thesis_s_mappings_are_planned() -> None:
    plan = plan_of(SANDY_BRIDGE)
    assert plan.thread_counts == (1, 2, 4, 8, 16, 32)
    asked = [place.asked.label for place in plan.grid]
    # Figures 8 and 9: 8, 16 and 32 threads on 1, 2 and 4 nodes, as far as there are cores.
    for policy in ("contiguous", "scatter"):
        for size in ("8x1", "8x2", "8x4", "16x2", "16x4", "32x4"):
            assert f"{size}-{policy}-first-touch" in asked
        assert f"16x1-{policy}-first-touch" not in asked
        # Figures 10 and 18.
        for pages in ("first-touch", "locality", "balance", "interleave"):
            assert f"32x4-{policy}-{pages}" in labels(plan.whole)
    # Figures 13, 18 and 23, and the worst case of sec. 5.1.
    assert labels(plan.one_node) == ["8x1-contiguous-bind", "8x1-contiguous-interleave@4", "8x1-contiguous-remote"]
    assert plan.default.label == "32x4-contiguous-first-touch"
    assert plan.default in plan.mappings


@pytest.mark.parametrize("name", machine_names())
def test_a_default_run_is_bounded(name: str) -> None:
    topology = load_description(name).topology
    one = plan_of(topology, smt=False)
    assert len(one.mappings) <= 60
    assert max(one.thread_counts) == topology.core_count
    plan = plan_of(topology)
    assert len(plan.mappings) <= 60 + 12 * (topology.threads_per_core > 1)
    assert len(set(plan.mappings)) == len(plan.mappings)
    assert set(plan.mappings) <= set(full_space(topology))  # so that a campaign of the full space knows all of them
    assert max(plan.thread_counts) == topology.core_count * topology.threads_per_core


@pytest.mark.parametrize("name", SMALL)
def test_any_shape_has_a_plan(name: str) -> None:
    topology = SMALL[name]
    plan = plan_of(topology)
    assert plan.grid
    assert plan.default in plan.mappings
    for place in plan.places:
        assert place.run == canonical(place.asked, topology)


def test_equal_mappings_are_run_once_and_have_every_place() -> None:
    plan = plan_of(shape([4, 4]), threads=[2])
    assert [place.asked.label for place in plan.grid] == [
        "2x1-contiguous-first-touch",
        "2x1-scatter-first-touch",
        "2x2-contiguous-first-touch",
        "2x2-scatter-first-touch",
    ]
    assert [mapping.label for mapping in plan.mappings][:2] == ["2x1-contiguous-bind", "2x2-contiguous-first-touch"]
    assert all(place.run.thread_policy == "contiguous" for place in plan.whole)
    assert len({place.run for place in plan.whole}) == len(plan.whole)


def test_one_node_has_threads_to_vary_and_nothing_else() -> None:
    plan = plan_of(shape([6]))
    assert [mapping.label for mapping in plan.mappings] == [f"{n}x1-contiguous-bind" for n in (1, 2, 4, 6)]
    assert plan.one_node == ()


def test_a_single_thread_is_shown_on_its_node_alone() -> None:
    plan = plan_of(SANDY_BRIDGE, threads=[1])
    assert labels(plan.whole) == ["1x1-contiguous-bind", "1x1-contiguous-interleave@4", "1x1-contiguous-remote"]
    assert plan.one_node == ()


def test_threads_and_page_policies_are_chosen() -> None:
    plan = plan_of(SANDY_BRIDGE, threads=[32, 8, 8], page_policies=["locality", "first-touch"])
    assert plan.thread_counts == (8, 32)
    assert {place.asked.page_policy for place in plan.grid} == {"first-touch", "locality"}
    assert usual_thread_counts(shape([6, 6])) == (1, 2, 4, 6, 12)


@pytest.mark.parametrize(
    ("threads", "policies", "message"),
    [
        ([33], [], "33 threads do not fit shape, which has 32 cores; give 1 to 32"),
        ([0], [], "0 threads do not fit"),
    ],
)
def test_what_does_not_fit_is_refused(threads: list[int], policies: list[object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan_of(SANDY_BRIDGE, threads, policies)  # type: ignore[arg-type]


def test_a_page_policy_that_no_mapping_can_have_is_refused() -> None:
    with pytest.raises(UsageError, match="has no mapping with page policy 'remote' and 1, 2 threads"):
        plan_of(shape([2]), page_policies=["remote"])


def test_pages_are_spread_over_as_many_nodes_as_have_memory() -> None:
    plan = plan_of(shape([2, 2, 2], memory=[1, 0, 1]))
    asked = [place.asked.label for place in plan.whole]
    assert "6x3-contiguous-interleave@2" in asked
    assert "6x3-scatter-balance@2" in asked


SMT = shape([10, 10], pus=2)


def test_a_machine_with_two_threads_a_core_has_tables_for_them_too() -> None:
    plan, without = plan_of(SMT), plan_of(SMT, smt=False)
    assert [place for place in plan.grid if place.asked.threads_per_core == 1] == list(without.grid)
    assert (plan.whole, plan.one_node, plan.default) == (without.whole, without.one_node, without.default)
    shared = {place.asked.label for place in plan.grid if place.asked.threads_per_core == 2}
    sizes = ("10x1", "10x2", "20x1", "20x2", "40x2")
    assert shared == {f"{size}-{policy}-first-touch-smt2" for size in sizes for policy in ("contiguous", "scatter")}
    assert set(plan.mappings) <= set(full_space(SMT))


def test_more_threads_than_cores_need_several_on_each() -> None:
    plan = plan_of(SMT, threads=[40])
    assert labels(plan.grid) == ["40x2-contiguous-first-touch-smt2", "40x2-scatter-first-touch-smt2"]
    assert {place.run.threads_per_core for place in plan.whole} == {2}
    with pytest.raises(UsageError, match="41 threads do not fit shape, which has 20 cores; give 1 to 40"):
        plan_of(SMT, threads=[41])
    with pytest.raises(UsageError, match="40 threads do not fit shape, which has 20 cores; give 1 to 20"):
        plan_of(SMT, threads=[40], smt=False)
