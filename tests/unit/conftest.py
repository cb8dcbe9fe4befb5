"""What unit tests share."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def few_trees() -> Iterator[int]:
    """Evaluate with a random forest of few trees, which takes a quarter of the time; give their usual number."""
    from numapredict.predictor.evaluation import ml_baselines

    usual = ml_baselines.TREES
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ml_baselines, "TREES", 3)
        yield usual
