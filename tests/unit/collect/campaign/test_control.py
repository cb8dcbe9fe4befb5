import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.campaign.codelets import codelet_programs
from numapredict.collect.campaign.control import control_programs, control_times, out_of_line
from numapredict.collect.campaign.machine_choice import modelled_machine
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.collect.space import full_space
from numapredict.native.errors import InvalidInputError
from tests.samples import topology_of

SPACE = full_space(topology_of())


def nodes_of(**times_s: float) -> dict[str, dict[str, float]]:
    return {node: {"control a": time_s, "control b": 1.0} for node, time_s in times_s.items()}


def found(**times_s: float) -> dict[str, float | None]:
    return {each.node: each.ratio for each in out_of_line(nodes_of(**times_s))}


def test_equal_nodes_are_in_line() -> None:
    assert found(n1=1.0) == {}
    assert found(n1=1.0, n2=1.02) == {}
    assert found(n1=1.0, n2=1.02, n3=0.97, n4=1.05) == {}
    assert out_of_line({}) == ()


@pytest.mark.parametrize("ratio", [1.3, 0.7, 4.0])
@pytest.mark.parametrize("others", [2, 3, 4, 9])
def test_one_that_is_slower_or_faster_is_found_alone(ratio: float, others: int) -> None:
    times = {f"n{number}": 1.0 + 0.01 * (number % 3) for number in range(others)}
    (only,) = found(odd=ratio, **times).items()
    assert only == ("odd", pytest.approx(ratio, rel=0.03))


def test_one_whose_control_failed_is_found_and_says_so() -> None:
    (only,) = out_of_line(nodes_of(n1=1.0, n2=math.inf, n3=1.0))
    assert str(only) == "node n2 is out of line: control a failed"


def test_one_that_is_far_in_one_control_alone_is_found_with_that() -> None:
    times = {node: {"control a": 1.0, "control b": 2.0} for node in ("n1", "n2", "n3", "n4")}
    times["n3"] = {"control a": 1.15, "control b": 3.0}
    (only,) = out_of_line(times)
    assert str(only) == "node n3 is out of line: control b took 1.50 times the median of 3 others"


def test_where_nodes_differ_among_each_other_more_is_usual() -> None:
    assert found(n1=1.0, n2=1.2, n3=0.98, n4=1.1, n5=1.15, n6=1.3) == {}
    assert [*found(n1=1.0, n2=1.2, n3=0.98, n4=1.1, n5=1.15, n6=1.7)] == ["n6"]


def test_a_node_without_a_control_is_not_judged() -> None:
    assert [each.node for each in out_of_line(nodes_of(n1=1.0, n2=1.0, n3=2.0) | {"n4": {}})] == ["n3"]


@pytest.mark.parametrize("times_s", [{"n1": 1.0, "n2": 1.3}, {"n1": 1.0, "n2": 1.0, "n3": 1.3, "n4": 1.3}])
def test_where_no_majority_agrees_all_times_are_told(times_s: dict[str, float]) -> None:
    with pytest.raises(
        InvalidInputError, match=r"n1 control a 1 s, control b 1 s; n2 .*move the journals .*--keep-nodes"
    ):
        out_of_line(nodes_of(**times_s))


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=7))
def test_there_is_always_a_majority_or_a_refusal(times_s: list[float]) -> None:
    nodes = {f"n{number}": {"control a": time_s} for number, time_s in enumerate(times_s)}
    try:
        assert 2 * len(out_of_line(nodes)) < len(nodes)
    except InvalidInputError:
        assert len(nodes) > 1


def measurement(time_s: float, region_time_s: float | None = None, status: str = "ok") -> Measurement:
    repetitions = (Repetition(time_s, region_time_s),) if status == "ok" else ()
    return Measurement(
        program="control a",
        mapping=SPACE[0],
        machine="m",
        modelled=False,
        status="ok" if status == "ok" else "crashed",
        repetitions=repetitions,
    )


def test_a_nodes_time_is_the_median_of_its_starts_in_regions_where_they_are_timed() -> None:
    runs = [measurement(9.0, 1.0), measurement(8.0, 3.0), measurement(7.0, 2.0)]
    assert control_times(runs) == {"control a": 2.0}
    assert control_times([measurement(5.0, 0.0)]) == {"control a": 5.0}
    assert control_times([measurement(5.0, status="crashed")]) == {"control a": math.inf}
    modelled = msgspec.structs.replace(measurement(5.0), modelled=True)
    assert control_times([modelled]) == {"control a": 1.0}  # a trace's, not the node's
    assert control_times([msgspec.structs.replace(modelled, status="crashed")]) == {"control a": math.inf}


@pytest.mark.native
def test_the_control_is_of_codelets_that_there_are() -> None:
    known = {program.command for size in ("tiny", "medium") for program in codelet_programs(sizes=(size,))}
    for program in control_programs(modelled_machine("broadwell-2x10")):
        assert program.command in known
        assert program.group == "control"
