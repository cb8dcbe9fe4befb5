import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, cross_val_predict

from numapredict.collect.mapping import mapping_named
from numapredict.predictor.api.estimator import GainRegressor
from numapredict.predictor.learning.gain_model import fit_gain_model, predict_gains, readings_of

GROUPS = [name for variants, name in enumerate("abcdef", 2) for _ in range(variants)]
LABELS = ["8x1-contiguous-first-touch", "8x1-contiguous-bind@1", "16x2-scatter-interleave", "16x2-scatter-locality"]


@pytest.fixture
def times() -> np.ndarray:
    """Two probes' times of each program, in seconds."""
    return np.random.default_rng(5).uniform(1, 8, (len(GROUPS), 2))


@pytest.fixture
def gains(times: np.ndarray) -> pd.DataFrame:
    """Under the default none; the other mappings gain by the ratio of the probes' times, the last one surely."""
    ratio = np.log2(times[:, 0] / times[:, 1])
    noise = np.random.default_rng(6).normal(0, 0.02, (len(ratio), 3))
    columns = [0 * ratio, *(ratio[:, None] * (0.2, -0.3, 0.9) + noise + (0.0, 0.1, 4.0)).T]
    return pd.DataFrame(np.column_stack(columns), columns=LABELS)


@pytest.mark.thorough
@pytest.mark.parametrize("estimator", ["GainRegressor()", "GainRegressor(default=0, risk_weight=0.0)"])
def test_scikit_learn_accepts_it(estimator: str) -> None:
    """All its checks, none expected to fail; one of them needs a variable that SciPy reads when it is loaded."""
    code = (
        "from sklearn.utils.estimator_checks import check_estimator\nfrom numapredict import GainRegressor\n"
        f"print({{found['status'] for found in check_estimator({estimator}, on_skip=None)}})"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "{'passed'}\n", done.stderr


def test_it_learns_what_the_product_learns(times: np.ndarray, gains: pd.DataFrame) -> None:
    """`fit_gain_model` and `predict_gains`: the same gains of each mapping that was no probe, and deviations."""
    readings, mappings = readings_of(times, np.empty((len(times), 0)), np.empty(0)), [mapping_named(x) for x in LABELS]
    model = fit_gain_model(mappings, readings, np.empty(0), gains.to_numpy(), GROUPS, 0)
    fitted = GainRegressor().fit(readings, gains, GROUPS)
    found = fitted.predict(readings)
    for row, (first, second) in enumerate(times):
        expected = predict_gains(model, (first, second), (), (mappings[0], mappings[1]), mappings[0])
        assert found[row, [0, 2, 3]] == pytest.approx(expected.gain[[0, 2, 3]])
    assert fitted.deviation_[1:] == pytest.approx(model.deviation[1:])


def test_groups_count(times: np.ndarray, gains: pd.DataFrame) -> None:
    alone, together = GainRegressor().fit(times, gains), GainRegressor().fit(times, gains, GROUPS)
    assert (alone.deviation_ != together.deviation_).any()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GainRegressor().fit(times, gains, GROUPS[:-1])


class TestBest:
    def test_it_is_named_as_the_table_names_it(self, times: np.ndarray, gains: pd.DataFrame) -> None:
        readings = np.log2(times[:, :1] / times[:, 1:])
        assert set(GainRegressor().fit(readings, gains, GROUPS).best(readings)) == {LABELS[3]}
        assert set(GainRegressor().fit(readings, gains.to_numpy(), GROUPS).best(readings)) == {3}

    def test_the_default_stays_where_the_gain_is_doubtful(self, times: np.ndarray, gains: pd.DataFrame) -> None:
        readings = np.log2(times[:, :1] / times[:, 1:])
        few = gains[LABELS[:2]] / 100
        assert set(GainRegressor().fit(readings, few, GROUPS).best(readings)) == {LABELS[0]}
        assert LABELS[1] in GainRegressor(risk_weight=-1.0).fit(readings, few, GROUPS).best(readings)

    def test_the_default_is_the_one_that_is_named(self, times: np.ndarray, gains: pd.DataFrame) -> None:
        over = gains.sub(gains[LABELS[1]], axis=0)
        assert GainRegressor().fit(times, over).default_ == 1
        assert GainRegressor(default=LABELS[2]).fit(times, gains).default_ == 2

    def test_without_one_it_says_so(self, times: np.ndarray, gains: pd.DataFrame) -> None:
        for table in (gains[LABELS[1:]], gains.assign(more=0.0)):
            with pytest.raises(ValueError, match=r"name it by GainRegressor\(default"):
                GainRegressor().fit(times, table).best(times)
        with pytest.raises(ValueError, match="'none' is not one of the outputs"):
            GainRegressor(default="none").fit(times, gains)


def test_folds_of_groups_work_as_with_any_estimator(times: np.ndarray, gains: pd.DataFrame) -> None:
    readings = np.log2(times[:, :1] / times[:, 1:])
    held_out = cross_val_predict(GainRegressor(), readings, gains, groups=GROUPS, cv=GroupKFold(4))
    assert np.abs(held_out - gains.to_numpy()).max() < 0.2
