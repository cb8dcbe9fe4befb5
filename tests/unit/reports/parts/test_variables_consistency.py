from collections.abc import Callable

import msgspec
import pytest

from numapredict.native.errors import InvalidInputError
from numapredict.predictor.variables.heat import Heat
from numapredict.predictor.variables.time_cost import RunSaving, TimeCost
from numapredict.predictor.variables.variable import Variable, Variables
from numapredict.reports.parts.answer_file import read_answer
from numapredict.reports.parts.variables_consistency import check_variables
from tests.judged import judged_answer

ANSWER = judged_answer()
replace = msgspec.structs.replace


def of_first(**fields: object) -> Variables:
    return replace(ANSWER, variables=(replace(ANSWER.variables[0], **fields),))


def of_heat(**fields: object) -> Variables:
    heat = ANSWER.variables[0].heat
    assert isinstance(heat, Heat)
    return of_first(heat=replace(heat, **fields))


def of_requests(**fields: object) -> Variables:
    assert ANSWER.requests is not None
    return replace(ANSWER, requests=replace(ANSWER.requests, **fields))


def timed(share: float, lowest: float, highest: float) -> TimeCost:
    return TimeCost(share=share, lowest=lowest, highest=highest, rounds=3)


def of_traffic(**fields: object) -> Variables:
    assert ANSWER.traffic is not None
    return of_first(traffic=replace(ANSWER.traffic, **fields))


IMPOSSIBLE: dict[str, Callable[[], Variables]] = {
    "threads: 0 is not": lambda: replace(ANSWER, threads=0),
    "threads: 5000 is not": lambda: replace(ANSWER, threads=5000),
    "nodes: they are not": lambda: replace(ANSWER, nodes=(0, 1)),
    "page_bytes: 0 is no size": lambda: replace(ANSWER, page_bytes=0),
    "requests: 1 shares cannot": lambda: of_requests(by_node=(1.0,)),
    "requests: -1 cannot": lambda: of_requests(local=-1.0),
    "variable 1, cost: 1.5": lambda: of_first(cost=1.5),
    "variable 1, remote_share: -0.1": lambda: of_first(remote_share=-0.1),
    "variable 1, time: 1.5 is no share": lambda: of_first(time=timed(0.5, 0.1, 1.5)),
    "answer, time: 0.5 is not within its rounds'": lambda: replace(ANSWER, time=timed(0.5, 0.6, 0.7)),
    "variable 1, time: 0.9 of 2 s": lambda: of_first(
        time=replace(timed(0.5, 0.1, 0.6), run=RunSaving(2.0, 0.9, 0.1, 0.8))
    ),
    "variable 1, traffic: it is no table of 2": lambda: of_traffic(with_remedy=((1.0,), (1.0,))),
    "variable 1, traffic: -1 cannot": lambda: of_traffic(as_it_is=((1.0, -1.0), (1.0, 1.0))),
    "variable 1, heat: it is": lambda: of_heat(touches=((1, 2),) * 4),
    "variable 1, heat: it is no": lambda: of_heat(threads_each=0),
    "variable 1, heat: it is no table": lambda: of_heat(first_threads=(0, 1, 2, 9)),
    "variable 1, heat: it is no table of": lambda: of_heat(touches=((-1, 0, 0, 0),) * 4),
}


def test_an_answer_passes_and_is_read_from_its_file() -> None:
    check_variables(ANSWER)
    assert read_answer(msgspec.json.encode(ANSWER), "a file") == ANSWER
    assert isinstance(ANSWER.variables[0], Variable)


@pytest.mark.parametrize("said", IMPOSSIBLE)
def test_impossible_values_are_refused_in_one_line(said: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        read_answer(msgspec.json.encode(IMPOSSIBLE[said]()), "a file")
    text = str(refused.value)
    assert text.startswith(f"a file: {said}")
    assert "\n" not in text
