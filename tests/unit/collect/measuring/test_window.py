import pytest

from numapredict.collect.figure import STEP, VALUE
from numapredict.collect.measuring.window import Completed, rate_of


def test_a_rate_is_of_all_regions_and_its_step_is_one_instance_of_the_longest() -> None:
    readings, why = rate_of(Completed(processes=2, completed=300, steps=100), 2.0, 2.0, early=False)
    assert (dict(readings), why) == ({VALUE: 150.0, STEP: 1.5}, "")


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (Completed(), "it completed no parallel region in 2 s; "),
        (Completed(processes=1, completed=9), "it completed no parallel region in 2 s; "),  # but short ones
        (Completed(processes=64, completed=9, steps=9), "64 of its processes or more have parallel regions"),
    ],
)
def test_what_has_no_rate_says_what_to_do(done: Completed, said: str) -> None:
    readings, why = rate_of(done, 2.5, 2.0, early=False)
    assert readings == ()
    assert why.startswith(said)
    assert "; name a number that it prints by --metric" in why


def test_a_program_that_ended_before_its_window_without_a_region_is_told_to_stay_in_the_foreground() -> None:
    assert rate_of(Completed(), 0.0049, 30.0, early=True) == (
        (),
        "it ended after 0.0049 s, before its window, and completed no parallel region: keep it in the foreground (no "
        "daemon), or name a number that it prints by --metric",
    )
    assert dict(rate_of(Completed(completed=4, steps=2), 2.0, 30.0, early=True)[0])[VALUE] == 2
