import pytest

from numapredict.collect.limits import Limits
from numapredict.collect.placement import resolve
from numapredict.collect.placing.tools.emission import expresses
from numapredict.collect.space import full_space
from numapredict.native.errors import UsageError
from tests.samples import topology_of
from tests.shapes import shape

FOUR = topology_of((4, 4, 4, 4))
SPACE = full_space(FOUR)


def within(limits: Limits) -> set[str]:
    return {mapping.label for mapping in SPACE if limits.allow(mapping)}


def test_without_a_limit_every_mapping_is_allowed() -> None:
    assert within(Limits()) == {mapping.label for mapping in SPACE}


def test_each_limit_keeps_what_it_names() -> None:
    assert {mapping.threads for mapping in SPACE if Limits(threads=(2, 8)).allow(mapping)} == {2, 8}
    assert {mapping.threads for mapping in SPACE if Limits(most_threads=3).allow(mapping)} == {1, 2}
    on_two = [mapping for mapping in SPACE if Limits(nodes=(2,)).allow(mapping)]
    assert on_two
    for mapping in on_two:
        placement = resolve(mapping, FOUR)
        assert len({slot.node for slot in placement.slots} | set(placement.page_nodes)) == 2
    assert within(Limits(page_policies=("interleave",))) == {
        mapping.label for mapping in SPACE if mapping.page_policy == "interleave"
    }


def test_first_touch_on_one_node_is_a_label_that_ends_in_bind() -> None:
    assert "4x1-contiguous-bind" in within(Limits(page_policies=("first-touch",)))
    assert "4x2-contiguous-bind@1" not in within(Limits(page_policies=("first-touch",)))


def test_without_smt_each_core_has_one_thread() -> None:
    two = shape((2, 2), pus=2)
    allowed = [mapping for mapping in full_space(two) if Limits(smt=False).allow(mapping)]
    assert allowed == list(full_space(two, smt=False))


def test_without_the_library_numactl_can_apply_what_is_left() -> None:
    numactl_s = {mapping.label for mapping in SPACE if expresses("numactl", resolve(mapping, FOUR))}
    assert within(Limits(library=False)) == numactl_s < within(Limits())


@pytest.mark.parametrize(
    ("limits", "line"),
    [
        (Limits(threads=(3,)), "--threads 3: the mappings of four have 1, 2, 4, 8, 16 threads"),
        (Limits(nodes=(3, 5)), "--nodes 3 --nodes 5: the mappings of four have 1, 2, 4 nodes"),
        (Limits(nodes=(1,), page_policies=("interleave",)), "no mapping of four is within all of these limits"),
    ],
)
def test_limits_that_leave_nothing_are_refused_with_what_there_is(limits: Limits, line: str) -> None:
    with pytest.raises(UsageError) as error:
        limits.counted_of(SPACE, "four")
    assert line in str(error.value)
