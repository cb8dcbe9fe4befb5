"""Searches that compare a metric: which runs are made, what is claimed, and where the time says otherwise."""

import math
import random

import pytest

from numapredict.collect.figure import Figure
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.native.errors import UsageError
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.advice_text import advice_in_words
from numapredict.predictor.advising.brief_text import advice_in_brief
from numapredict.predictor.advising.search_options import SearchOptions, comparing
from numapredict.reports.parts.advice_consistency import check_advice
from tests.searches import DEFAULT, HALF, LOCAL, ONE, SPREAD, Printing, answered, times

RATE, LATENCY = Figure(metric="r([0-9.]+)"), Figure(metric="l([0-9.]+)", smaller=True)
ALL = (AS_IT_IS, DEFAULT, LOCAL, SPREAD, HALF, ONE)


def rates(**others: list[float]) -> dict[AnyMapping, list[float]]:
    named = {"as_it_is": AS_IT_IS, "local": LOCAL, "spread": SPREAD, "half": HALF, "one": ONE}
    return {mapping: [10.0] for mapping in ALL} | {named[name]: each for name, each in others.items()}


def asked(computer: Printing, figure: Figure = RATE, runs: int = 3) -> Advice:
    found = answered(computer, runs, figure=figure)
    check_advice(found, None)
    return found


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_metric_decides_with_its_own_interval_and_no_run_is_cut_by_its_time() -> None:
    computer = Printing(times(8.0, local=20.0, spread=4.0), rates(local=[12.0, 12.0, 12.5, 12.0], spread=[9.0]))
    found = asked(computer)
    assert (found.mapping, found.keep) == (LOCAL, False)
    assert [run.figure for run in found.runs] == [10.0, 12.0, 9.0]
    assert [run.outcome for run in found.runs] == ["done"] * 3
    assert set(computer.limits_s) == {math.inf}
    assert (found.low, found.high) == pytest.approx((1.2, 1.25))
    assert found.confirmation is not None
    assert found.confirmation.mapping_figures == (12.0, 12.5, 12.0)
    assert found.confirmation.time_speedup == pytest.approx(0.4)
    text = flat(advice_in_words(found))
    assert "1.22x by the metric, from 10 to 12.16 (0.40x by run time), over the program as it is now" in text
    assert "run 2 32x4-contiguous-locality: metric 12 in 20.00 s, 1.20x" in text
    slower, reverse = found.warnings
    assert slower == f"the metric is better under {LOCAL}, but the whole run is slower (0.40x by run time)"
    assert reverse.startswith(f"by run time {SPREAD} was 2.00x, but its metric is worse (0.90x)")
    assert slower in flat(advice_in_brief(found))


def test_a_smaller_metric_is_better_where_that_is_said() -> None:
    found = asked(Printing(times(8.0, local=8.0), rates(local=[8.0], spread=[12.5])), LATENCY)
    assert (found.mapping, found.speedup) == (LOCAL, pytest.approx(1.25))
    assert found.warnings == ()


def test_a_faster_run_whose_metric_is_not_better_is_not_advised_and_told() -> None:
    found = asked(Printing(times(8.0, local=4.0), rates(local=[10.5, 9.0, 9.0, 9.0], spread=[9.0])))
    assert found.keep
    assert f"the whole run is faster under {LOCAL} (2.00x by run time), but its metric is not better" in found.warnings
    assert "was the best by it, but run again it gave 0.90x" in flat(advice_in_brief(found))
    assert "no mapping that ran was significantly better by the metric" in flat(advice_in_brief(found))


def test_a_metric_that_is_noise_is_no_gain() -> None:
    """Of normal noise of 5%, in which the runs of a search find something to confirm."""
    draw = random.Random(1)  # noqa: S311 - noise, not a secret
    claimed = 0
    for _ in range(200):
        noise = {mapping: [draw.gauss(10.0, 0.5) for _ in range(8)] for mapping in ALL}
        claimed += not asked(Printing(dict.fromkeys(ALL, 8.0), noise)).keep
    assert claimed <= 4


def test_a_difference_of_the_last_digit_alone_is_no_gain_and_the_answer_says_so() -> None:
    found = asked(Printing(times(8.0, local=8.0), rates(local=[11.0]), step=1.0))
    assert found.keep
    assert "the metric has few digits: gains below 11% cannot be told by it; print more of them" in found.warnings
    assert not asked(Printing(times(8.0, local=8.0), rates(local=[12.0]), step=1.0)).keep
    assert not asked(Printing(times(8.0, local=8.0), rates(local=[11.0]), step=0.1)).keep


def test_a_further_run_is_told_by_what_it_adds_and_not_by_seconds_that_it_saves() -> None:
    found = asked(Printing(times(8.0, local=8.0), rates(local=[12.0])), runs=2)
    assert found.next is not None
    assert (found.next.saving_s, found.next.worth_from_runs) == (0.0, None)
    text = flat(advice_in_words(found))
    assert "a further run" in text
    assert " run, which pays off" not in text
    assert "--for" not in text


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (SearchOptions(expected_runs=3), "--for"),
        (SearchOptions(cut=False), "--no-cut"),
        (SearchOptions(method="thesis"), "--method thesis"),
    ],
)
def test_options_that_are_about_times_are_refused(options: SearchOptions, name: str) -> None:
    assert comparing(options, Figure()) == options
    with pytest.raises(UsageError, match=f"^{name} is for searches that compare run times"):
        comparing(options, RATE)
