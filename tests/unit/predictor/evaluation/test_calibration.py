import pytest

from numapredict.predictor.evaluation.calibration import EDGES, Forecast, calibration_of


def forecast(chance: float, came: float) -> Forecast:
    return Forecast(1.5, 1.2, 2.0, chance, came)


def test_stated_chances_are_counted_against_what_came_true() -> None:
    found = calibration_of([forecast(0.75, 1.3), forecast(0.78, 0.9), forecast(0.99, 3.0), forecast(0.99, 1.2)])
    assert (found.runs, found.faster, found.within) == (4, 3, 2)
    assert found.stated == pytest.approx(0.75 + 0.78 + 0.99 + 0.99)
    assert found.brier == pytest.approx((0.25**2 + 0.78**2 + 0.01**2 + 0.01**2) / 4)
    by_low = {each.low: (each.runs, each.faster) for each in found.bins}
    assert by_low == {0.0: (0, 0), 0.1: (0, 0), 0.3: (0, 0), 0.5: (0, 0), 0.7: (2, 1), 0.9: (2, 2)}
    assert next(each.stated for each in found.bins if each.low == 0.7) == pytest.approx(0.765)


def test_a_run_as_fast_as_the_best_is_not_faster() -> None:
    assert calibration_of([forecast(0.5, 1.0)]).faster == 0


def test_every_chance_has_one_bin() -> None:
    stated = [0.05, *EDGES, 0.7000001, 0.999]
    found = calibration_of([forecast(value, 2.0) for value in stated])
    assert sum(each.runs for each in found.bins) == len(stated)


def test_without_runs_nothing_is_claimed() -> None:
    found = calibration_of([])
    assert (found.runs, found.brier) == (0, None)
