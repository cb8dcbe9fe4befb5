"""What all shipped datasets have in common."""

import pytest

from numapredict.collect.data.outliers import outliers_of
from numapredict.collect.data.similar_programs import similar_programs
from numapredict.predictor.learning.datasets import open_dataset, shipped_datasets


@pytest.mark.parametrize("name", shipped_datasets())
def test_none_has_an_outlier_or_programs_of_one_code_base_in_two_groups(name: str) -> None:
    dataset = open_dataset(name)
    assert outliers_of(dataset) == ()
    assert similar_programs(dataset) == ()
