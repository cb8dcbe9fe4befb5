import pytest

from numapredict.predictor.evaluation.calibration import EDGES, calibration_of
from numapredict.predictor.evaluation.folds import HeldOut
from numapredict.predictor.learning.model import ExpectedSpeedup


def held(confidence: float | None, speedup: float, mapping: str = "m") -> HeldOut:
    return HeldOut(
        program="p",
        group="p",
        mapping=mapping,
        speedup=speedup,
        expected_speedup=ExpectedSpeedup(1.5, 1.2, 2.0),
        confidence=confidence,
        oracle_mapping="m",
        oracle_speedup=4.0,
        regret=0.0,
        gain_captured=None,
        probes=("a", "b"),
        features="ratio",
        n_clusters=1,
        cluster="p",
        ambiguity=0.0,
        familiar=True,
    )


def test_stated_probabilities_are_counted_against_what_came_true() -> None:
    found = calibration_of([held(0.75, 1.3), held(0.78, 0.9), held(0.99, 3.0), held(0.99, 1.2), held(None, 1.0)])
    assert (found.programs, found.faster, found.within) == (4, 3, 2)
    assert found.stated == pytest.approx(0.75 + 0.78 + 0.99 + 0.99)
    assert found.brier == pytest.approx((0.25**2 + 0.78**2 + 0.01**2 + 0.01**2) / 4)
    by_low = {each.low: (each.programs, each.faster) for each in found.bins}
    assert by_low == {0.5: (0, 0), 0.7: (2, 1), 0.8: (0, 0), 0.9: (0, 0), 0.95: (2, 2)}
    assert next(each.stated for each in found.bins if each.low == 0.7) == pytest.approx(0.765)


def test_choices_that_had_been_probes_do_not_count() -> None:
    found = calibration_of([held(0.75, 1.3), held(0.99, 1.3, "a"), held(0.99, 1.5, "b"), held(None, 1.0, "a")])
    assert (found.programs, found.tried, found.faster, found.within) == (1, 2, 1, 1)
    assert found.stated == pytest.approx(0.75)
    assert found.brier == pytest.approx(0.25**2)
    assert sum(each.programs for each in found.bins) == 1
    only = calibration_of([held(0.99, 1.3, "a")])
    assert (only.programs, only.tried, only.brier) == (0, 1, None)


def test_every_probability_has_one_bin() -> None:
    stated = [0.1, 0.5, *EDGES, 0.7000001, 0.999]
    found = calibration_of([held(value, 2.0) for value in stated])
    assert sum(each.programs for each in found.bins) == len(stated)


def test_where_the_default_is_always_kept_nothing_is_claimed() -> None:
    found = calibration_of([held(None, 1.0)])
    assert (found.programs, found.brier) == (0, None)
