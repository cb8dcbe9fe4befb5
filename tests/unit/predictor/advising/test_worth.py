import pytest

from numapredict.predictor.advising.worth import Worth


@pytest.mark.parametrize(
    ("cost_s", "saving_s", "from_runs"),
    [(12.0, 0.3, 40), (12.0, 0.31, 39), (1.0, 2.0, 1), (1.0, 0.0, None), (1e9, 0.1, None)],
)
def test_a_run_pays_from_so_many_runs_of_the_program_on(cost_s: float, saving_s: float, from_runs: int | None) -> None:
    worth = Worth(cost_s, 0.0, saving_s)
    assert worth.from_runs == from_runs
    if from_runs is None:
        assert not worth.pays_in(10**9)
    else:
        assert worth.pays_in(from_runs)
        assert not worth.pays_in(from_runs - 1)
