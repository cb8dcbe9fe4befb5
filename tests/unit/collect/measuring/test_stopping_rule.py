import pytest

from numapredict.collect.measuring.stopping_rule import StoppingRule, stopping_rule_of

STEADY, WIDE = [1.0, 1.001, 1.002, 1.0, 0.999], [1.0, 1.2, 0.9, 1.1, 1.3]


def test_steady_times_are_enough_when_there_are_as_many_as_asked_for() -> None:
    stopping_rule = stopping_rule_of(5)
    assert not stopping_rule.enough(STEADY[:4])
    assert stopping_rule.enough(STEADY)


def test_scattered_times_are_repeated_up_to_a_bound() -> None:
    stopping_rule = stopping_rule_of(5)
    assert not stopping_rule.enough(WIDE)
    assert not stopping_rule.enough([*WIDE, *WIDE[:4]])
    assert stopping_rule.enough([*WIDE, *WIDE])


def test_long_runs_are_not_repeated_beyond_what_was_asked_for() -> None:
    stopping_rule = StoppingRule(least=5, most=10, limit_s=100)
    assert not stopping_rule.enough([14 * time for time in WIDE])
    assert stopping_rule.enough([15.5 * time for time in WIDE])  # 85 s so far, and one more would take 17
    assert not stopping_rule.enough([1000.0] * 4)


def test_other_times_of_the_same_runs_may_decide() -> None:
    stopping_rule = stopping_rule_of(5)
    assert stopping_rule.enough(WIDE, STEADY)
    assert not stopping_rule.enough(STEADY, WIDE)
    assert StoppingRule(least=5, most=10, limit_s=2).enough(STEADY, WIDE)  # the whole runs bound the time


def test_one_run_may_do() -> None:
    assert StoppingRule(least=1, most=1, redo=0).enough([1.0])
    assert not StoppingRule(least=1, most=2).enough([1.0])  # of one run nothing is known but its time


@pytest.mark.parametrize(
    "wrong",
    [{"least": 0}, {"least": 5, "most": 4}, {"width": 0.0}, {"limit_s": 0.0}, {"redo": -1}, {"patience_s": -1.0}],
)
def test_bounds_that_cannot_be_kept_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"must be positive|at least one run"):
        StoppingRule(**wrong)  # type: ignore[arg-type]
