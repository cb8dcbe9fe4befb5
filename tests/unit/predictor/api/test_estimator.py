import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, cross_val_predict

from numapredict.predictor.api.dataset import Dataset
from numapredict.predictor.api.estimator import GainRegressor
from numapredict.predictor.searching.known_gains import known_gains
from numapredict.predictor.searching.next_run import next_run, weights_after

GROUPS = [name for variants, name in enumerate("abcdef", 2) for _ in range(variants)]
LABELS = ["8x1-contiguous-first-touch", "8x1-contiguous-bind@1", "16x2-scatter-interleave", "16x2-scatter-locality"]


@pytest.fixture
def gains() -> pd.DataFrame:
    """Under the default none; the second mapping says how much the others gain."""
    random = np.random.default_rng(6)
    told = random.uniform(-1, 1, len(GROUPS))
    others = told[:, None] * (0.5, 0.9) + random.normal(0, 0.02, (len(told), 2))
    return pd.DataFrame(np.column_stack([0 * told, told, others]), columns=LABELS)


@pytest.mark.thorough
@pytest.mark.parametrize("estimator", ["GainRegressor()", "GainRegressor(deviation=1.0)"])
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


def test_it_believes_and_chooses_what_a_search_does(gains: pd.DataFrame) -> None:
    runs = gains[LABELS[:2]]
    fitted, known = GainRegressor().fit(runs, gains, GROUPS), known_gains(gains.to_numpy(), GROUPS)
    expected, following = fitted.predict(runs), fitted.following(runs)
    for row, told in enumerate(runs.to_numpy().tolist()):
        weights = weights_after(known, [0, 1], told)
        assert expected[row] == pytest.approx(weights @ known.gains)
        found = next_run(known, [0, 1], told)
        assert found is not None
        assert following[row] == found.column


def test_groups_count(gains: pd.DataFrame) -> None:
    runs = gains[LABELS[:2]]
    alone, together = GainRegressor().fit(runs, gains), GainRegressor().fit(runs, gains, GROUPS)
    assert (alone.weights_ != together.weights_).any()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GainRegressor().fit(runs, gains, GROUPS[:-1])


class TestBest:
    def test_it_is_the_best_run_by_its_name(self, gains: pd.DataFrame) -> None:
        runs = gains[LABELS[:2]]
        wanted = np.where(gains[LABELS[1]] > 0, LABELS[1], LABELS[0])
        assert GainRegressor().fit(runs, gains, GROUPS).best(runs).tolist() == wanted.tolist()
        numbers = GainRegressor().fit(runs, gains.to_numpy(), GROUPS).best(runs)
        assert numbers.tolist() == (gains[LABELS[1]] > 0).astype(int).tolist()

    def test_features_that_are_no_runs_choose_nothing(self, gains: pd.DataFrame) -> None:
        fitted = GainRegressor().fit(2 * gains[LABELS[:2]], gains)
        for method in (fitted.choose, fitted.following):
            with pytest.raises(ValueError, match=r"fit with Dataset\.readings"):
                method(gains[LABELS[:2]])

    def test_where_all_have_run_none_follows(self, gains: pd.DataFrame) -> None:
        with pytest.raises(ValueError, match="all mappings have run"):
            GainRegressor().fit(gains, gains).following(gains)


def test_folds_of_groups_work_as_with_any_estimator(gains: pd.DataFrame) -> None:
    held_out = cross_val_predict(GainRegressor(), gains[LABELS[:2]], gains, groups=GROUPS, cv=GroupKFold(4))
    off = np.abs(held_out - gains.to_numpy())[:, 2:].mean()
    assert off < np.abs(gains.to_numpy() - gains.to_numpy().mean(axis=0))[:, 2:].mean()


def test_a_datasets_readings_are_gains_in_its_probes() -> None:
    dataset = Dataset.load("broadwell-2x10")
    readings, gains = dataset.readings(), np.log2(dataset.gains())
    labels = [mapping.label for mapping in dataset.probes]
    assert list(readings.columns) == labels
    assert readings.equals(gains[labels])
    assert list(dataset.readings(labels[1]).columns) == labels[1:]
