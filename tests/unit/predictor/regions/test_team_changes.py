import numpy as np
import pytest

from numapredict.predictor.regions.team_changes import MOVED_S, NEW_THREAD_S, change_seconds, follow_counts


def test_libgomp_pays_for_new_threads_and_both_for_moved_ones() -> None:
    teams = [(0, 1, 2, 3), (0, 1), (2, 3)]
    gomp, omp = (change_seconds(teams, keeps_threads=keeps) for keeps in (False, True))
    assert gomp.diagonal().tolist() == omp.diagonal().tolist() == [0, 0, 0]
    assert (gomp[0, 1], gomp[1, 0]) == (0, 2 * NEW_THREAD_S)
    assert (omp[0, 1], omp[1, 0]) == (0, 0)
    assert gomp[1, 2] == omp[1, 2] == MOVED_S
    assert gomp[2, 0] == 2 * NEW_THREAD_S + MOVED_S


def test_each_instance_follows_another_region_unless_there_are_too_few() -> None:
    follows = follow_counts([100, 100, 50])
    assert follows.diagonal().tolist() == [0, 0, 0]
    assert follows.sum(axis=0).tolist() == pytest.approx([100, 100, 50])
    assert follow_counts([1000, 10]).tolist() == pytest.approx(np.array([[0, 10], [10, 0]]))
    assert follow_counts([1000]).tolist() == [[0]]
    assert follow_counts([]).shape == (0, 0)
