import math

import pytest

from numapredict.collect.figure import STEP, TIME, VALUE, Figure, figure_of, number_in_words
from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.native.errors import UsageError

RATE, LATENCY = Figure(metric="([0-9.]+)"), Figure(metric="([0-9.]+)", smaller=True)


def measured(*readings: tuple[str, float], time_s: float = 4.0) -> Measurement:
    return Measurement(
        program="app",
        mapping=parse_label("1x1-contiguous-bind"),
        machine="m",
        modelled=False,
        repetitions=(Repetition(time_s, readings=readings),),
    )


def test_the_time_is_compared_unless_there_is_a_metric() -> None:
    run = measured((VALUE, 8.0), (STEP, 0.1))
    assert TIME.is_time
    assert (TIME.cost(run), TIME.value(run), TIME.doubt(run), TIME.speedup(4.0, 2.0)) == (4.0, None, 0.0, 2.0)
    assert (RATE.cost(run), RATE.value(run), RATE.speedup(4.0, 8.0)) == (1 / 8, 8.0, 2.0)
    assert (LATENCY.cost(run), LATENCY.speedup(8.0, 4.0)) == (8.0, 2.0)


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_what_is_no_positive_finite_number_compares_with_nothing(value: float) -> None:
    assert math.isnan(RATE.cost(measured((VALUE, value))))
    assert math.isnan(RATE.cost(measured()))


def test_a_figure_of_few_digits_leaves_a_doubt_of_half_of_the_last_one() -> None:
    assert RATE.doubt(measured((VALUE, 10.0), (STEP, 1.0))) == pytest.approx(-math.log2(0.95))
    assert RATE.doubt(measured((VALUE, 10.0))) == 0


def test_patterns_are_checked_before_anything_runs() -> None:
    assert figure_of(None, smaller=False, seconds=None) == TIME
    assert figure_of("^x(.)$", smaller=True, seconds=None) == Figure(metric="^x(.)$", smaller=True)
    for pattern, smaller, said in (
        ("a(b", False, "--metric 'a(b' is no regular expression: missing )"),
        ("(a)" + "(" * 30_000 + ")" * 30_000, False, "is no regular expression"),
        ("\udcff?([0-9.]+)", False, "--metric '\\udcff?([0-9.]+)' is not UTF-8, "),
        ("ab", False, "--metric 'ab' has no group: put the number in one"),
        (None, True, "--metric-smaller says which metric is better: give its pattern"),
    ):
        with pytest.raises(UsageError) as error:
            figure_of(pattern, smaller=smaller, seconds=None)
        assert said in str(error.value)


def test_numbers_have_four_digits_or_all_of_a_large_one() -> None:
    assert [number_in_words(value) for value in (12.3456, 0.00012345, 1234567.8)] == ["12.35", "0.0001234", "1,234,568"]
