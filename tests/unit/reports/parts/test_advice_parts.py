import msgspec
import pytest

from numapredict.collect.mapping import AnyMapping
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.predictor.advising.advice import Advice
from numapredict.reports.parts.about import advice_about
from numapredict.reports.parts.advice_parts import (
    ConfirmingData,
    FurtherData,
    answer_data,
    confirming_data,
    further_data,
)
from numapredict.reports.parts.alternatives import alternatives_data
from tests.searches import DEFAULT, LOCAL, SPREAD, Computer, Noisy, answered, times


def confirmed(found: Advice) -> ConfirmingData:
    assert found.confirmation is not None
    return confirming_data(found, found.confirmation)


def further(found: Advice) -> FurtherData:
    data = further_data(found)
    assert data is not None
    return data


def test_a_winner_is_said_with_its_interval() -> None:
    found = answered(Noisy(times(8.0), {LOCAL: [3.0, 4.0, 4.0, 4.0], AS_IT_IS: [8.0, 8.0, 8.8, 8.4]}))
    data = answer_data(found)
    assert data.words == (
        "32 threads on 4 nodes, consecutive threads together; each page on the node whose threads use it most"
    )
    assert (data.why_kept, data.over, data.over_default) == ((), "the program as it is now", None)
    assert data.interval == "2.00x to 2.20x in 3 further runs of each, in turn"
    rounds = confirmed(found)
    assert (rounds.over, rounds.mapping) == ("the program as it is now", LOCAL.label)
    assert [tuple(each) for each in rounds.rounds] == [
        ("8.00\u00a0s", "4.00\u00a0s", pytest.approx(2.0)),
        ("8.80\u00a0s", "4.00\u00a0s", pytest.approx(2.2)),
        ("8.40\u00a0s", "4.00\u00a0s", pytest.approx(2.1)),
    ]
    assert rounds.result == "2.10x on average (geometric mean): significantly faster"


def test_a_kept_program_is_said_with_what_the_fastest_gave() -> None:
    found = answered(Noisy(times(8.0), {LOCAL: [6.0, 8.1, 7.9, 8.0]}))
    data = answer_data(found)
    assert data.why_kept[0] == "no mapping that ran was significantly faster"
    assert data.why_kept[1].startswith("32x4-contiguous-locality was the fastest, but run again it gave 1.00x (")
    assert confirmed(found).result.endswith("not significantly faster: keep what you have")


def test_rounds_end_with_the_run_that_failed() -> None:
    data = confirmed(answered(Noisy(times(8.0), {LOCAL: [4.0, 4.0, -1.0]})))
    assert [each.speedup for each in data.rounds] == [2.0]
    data = confirmed(answered(Noisy(times(8.0), {LOCAL: [4.0, -1.0]})))
    assert [tuple(each) for each in data.rounds] == [("8.00\u00a0s", "no time", None)]
    assert data.result == "the run under 32x4-contiguous-locality failed: it crashed"


def test_the_default_is_named_where_it_is_neither_the_baseline_nor_the_advice() -> None:
    found = answered(Computer(times(8.0, local=4.0)))
    assert answer_data(msgspec.structs.replace(found, speedup_over_default=1.5)).over_default == 1.5
    assert answer_data(msgspec.structs.replace(found, speedup_over_default=1.0, mapping=DEFAULT)).over_default is None
    assert answer_data(answered(Computer(times(8.0, local=4.0)), baseline=DEFAULT)).over_default is None


def test_a_further_run_is_said_with_its_cost_and_what_it_should_save() -> None:
    found = answered(Computer(times(8.0)), runs=2)
    assert found.next is not None
    data, facts = further(found), dict(further(found).facts)
    speed = found.next.speedup
    assert data.mapping == found.next.mapping.label
    more = f"{found.next.expected_speedup - 1:.1%} on average"
    assert facts["It should speed up the best so far by"].startswith(more)
    said = f"{speed.median:.2f}x, {speed.low:.2f}x to {speed.high:.2f}x (90% interval)"
    assert facts["The run itself, over the best so far"] == said
    assert facts["Chance that it is faster"] == f"{found.next.chance:.0%}"
    assert facts["It costs at most"].endswith(" to confirm its gain")
    assert facts["Worth it"] == f"from {found.next.worth_from_runs} runs of the program on"
    assert "The program will run" not in facts
    assert (data.decided_by, data.expected_by) == ("--runs 3 makes it", "expected by what 4 programs on planted gained")


def test_what_a_program_that_will_run_seldom_does_not_pay_for_is_said() -> None:
    found = answered(Computer(times(8.0)), expected_runs=1)
    data = further(found)
    assert dict(data.facts)["The program will run"] == "1 time, by --for"
    assert data.decided_by == "not made, since the program will run less often"
    assert ("The program will run", "1 time, by --for") in advice_about(found).facts


def test_nothing_is_left_to_run() -> None:
    found = answered(Computer(times(8.0)))
    assert further_data(msgspec.structs.replace(found, next=None)) is None


def test_a_tools_mapping_has_the_speedup_of_its_run() -> None:
    found = answered(Computer(times(8.0, local=4.0, spread=4.05)))
    by_tool = {each.tool: each for each in alternatives_data(found).alternatives}
    assert by_tool["numactl"].near == SPREAD
    assert by_tool["numactl"].speed == "1.98x over the program as it is now, in its run"
    kept = answered(Computer(times(8.0)), baseline=DEFAULT)
    assert {each.near for each in alternatives_data(kept).alternatives} == {None}


def test_local_accesses_before_and_after_are_told_where_both_were_read() -> None:
    found = answered(Computer(times(8.0, local=4.0)), baseline=DEFAULT)
    shares = {DEFAULT: 0.25, found.mapping: 0.9}

    def read(*mappings: AnyMapping) -> Advice:
        runs = tuple(
            msgspec.structs.replace(run, local_share=shares[run.mapping] if run.mapping in mappings else None)
            for run in found.runs
        )
        return msgspec.structs.replace(found, runs=runs)

    assert answer_data(read(DEFAULT, found.mapping)).local == ((DEFAULT.label, 0.25), (found.mapping.label, 0.9))
    assert answer_data(read(DEFAULT)).local == ()
    assert answer_data(msgspec.structs.replace(read(DEFAULT, found.mapping), keep=True)).local == ()
