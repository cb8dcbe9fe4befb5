from numapredict.predictor.variables.time_cost import TimeCost
from numapredict.predictor.variables.timing import by_time
from tests.judged import judged_answer

WRONG = judged_answer().variables[0]


def cost(share: float) -> TimeCost:
    return TimeCost(share=share, lowest=share, highest=share, rounds=1)


def test_what_costs_time_keeps_its_remedy() -> None:
    timed = by_time(WRONG, cost(0.25))
    assert (timed.time, timed.remedy) == (cost(0.25), WRONG.remedy)
    assert WRONG.remedy.action != "nothing"


def test_what_costs_touches_but_no_time_is_not_worth_fixing() -> None:
    stays = WRONG.traffic
    assert stays is not None
    timed = by_time(WRONG, cost(-0.02))
    assert timed.time == cost(-0.02)
    assert timed.remedy.action == "nothing"
    assert timed.remedy.text.startswith("not worth fixing: -2.0% (")
    assert timed.traffic is not None
    assert timed.traffic.with_remedy == timed.traffic.as_it_is == stays.as_it_is != stays.with_remedy


def test_a_variable_that_was_not_timed_is_judged_as_before() -> None:
    assert by_time(WRONG, None) is WRONG
