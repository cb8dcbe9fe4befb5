import numpy as np
import pytest

from numapredict.collect.fidelity.determinism import loss_between, typical_difference


def test_the_typical_difference_is_that_of_the_middle_pair() -> None:
    # Pairs: 1 to 2 (100%), 1 to 3 (200%), 2 to 3 (50%).
    assert typical_difference(np.array([1.0, 2.0, 3.0])) == pytest.approx(1.0)


def test_the_loss_is_that_of_the_worst_trace_to_choose_by() -> None:
    same = np.array([[1.0, 2.0, 3.0], [1.1, 2.2, 3.3]])
    assert loss_between(same) == 0
    # By the second trace the first mapping is best; the first trace takes 1.5 under it, 1.2 under its own best.
    assert loss_between(np.array([[1.5, 1.2, 3.0], [1.0, 1.01, 3.0]])) == pytest.approx(1.5 / 1.2 - 1)
