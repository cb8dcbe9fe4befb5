"""The product's regression as an estimator: scikit-learn's own checks, and the product's own choices."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold
from sklearn.utils.estimator_checks import check_estimator

from numapredict import Dataset, GainRegressor, parse_label
from numapredict.predictor.learning.gain_model import fit_gain_model, risk_adjusted_gain


def test_scikit_learn_can_use_it() -> None:
    done = check_estimator(GainRegressor(), on_skip=None)
    assert [each["check_name"] for each in done if each["status"] == "skipped"] == ["check_array_api_input"]
    assert {each["status"] for each in done} == {"passed", "skipped"}
    assert len(done) > 40


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return Dataset.load("broadwell-2x10")


def test_it_fits_what_a_model_of_the_product_has(dataset: Dataset) -> None:
    readings, gains = dataset.readings().to_numpy(), np.log2(dataset.gains().to_numpy())
    labels = list(dataset.gains().columns)
    default = labels.index(dataset.default.label)
    ours = GainRegressor(default=default).fit(readings, gains, groups=dataset.groups)
    mappings = list(map(parse_label, labels))
    theirs = fit_gain_model(mappings, readings, np.ones(2), gains, dataset.groups, default)
    assert ours.gain_ == pytest.approx(np.array(theirs.gain))
    assert ours.slopes_ == pytest.approx(np.array(theirs.slopes))
    assert ours.deviation_ == pytest.approx(np.array(theirs.deviation))
    adjusted = risk_adjusted_gain(ours.predict(readings), np.array(theirs.deviation), theirs.risk_weight, default)
    assert (ours.choose(readings) == adjusted.argmax(axis=1)).all()


def test_choices_for_programs_held_out_gain_and_the_default_stays_where_none_is_better(dataset: Dataset) -> None:
    readings, gains = dataset.readings().to_numpy(), np.log2(dataset.gains().to_numpy())
    default = list(dataset.gains().columns).index(dataset.default.label)
    chosen = np.empty(len(gains), dtype=int)
    for seen, held_out in GroupKFold(8).split(readings, gains, dataset.groups):
        fitted = GainRegressor(default=default).fit(readings[seen], gains[seen])
        chosen[held_out] = fitted.choose(readings[held_out])
    gained = gains[np.arange(len(gains)), chosen].mean()
    assert 0.5 * gains.max(axis=1).mean() < gained < gains.max(axis=1).mean()
    timid = GainRegressor(risk_weight=100.0, default=default).fit(readings, gains)
    assert (timid.choose(readings) == default).all()


def test_what_cannot_be_fitted_is_refused() -> None:
    readings, gains = np.arange(8.0).reshape(4, 2), np.arange(12.0).reshape(4, 3)
    with pytest.raises(ValueError, match="groups has 3 values and X 4 rows"):
        GainRegressor().fit(readings, gains, groups=["a", "b", "c"])
    with pytest.raises(ValueError, match="default=3 is no column of y, which has 3"):
        GainRegressor(default=3).fit(readings, gains)
    with pytest.raises(ValueError, match="several mappings"):
        GainRegressor().fit(readings, gains[:, 0]).choose(readings)
