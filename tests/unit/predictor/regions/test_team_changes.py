from numapredict.predictor.regions.team_changes import MOVED_S, NEW_THREAD_S, change_seconds


def test_libgomp_pays_for_new_threads_and_both_for_moved_ones() -> None:
    teams = [(0, 1, 2, 3), (0, 1), (2, 3)]
    gomp, omp = (change_seconds(teams, keeps_threads=keeps) for keeps in (False, True))
    assert gomp.diagonal().tolist() == omp.diagonal().tolist() == [0, 0, 0]
    assert (gomp[0, 1], gomp[1, 0]) == (0, 2 * NEW_THREAD_S)
    assert (omp[0, 1], omp[1, 0]) == (0, 0)
    assert gomp[1, 2] == omp[1, 2] == MOVED_S
    assert gomp[2, 0] == 2 * NEW_THREAD_S + MOVED_S
