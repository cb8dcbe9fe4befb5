import pytest

from numapredict.collect.terminal.estimated_time import TimeEstimate, in_words


def test_nothing_is_known_before_the_first_run() -> None:
    assert TimeEstimate().left_s({"a": 3}) is None


def test_a_programs_own_mean_counts_and_the_average_for_strangers() -> None:
    time_estimate = TimeEstimate()
    for took_s in (1.0, 3.0):
        time_estimate.add("a", took_s)
    time_estimate.add("b", 11.0)
    assert time_estimate.left_s({"a": 2}) == 4.0
    assert time_estimate.left_s({"a": 1, "b": 1, "c": 2}) == 2.0 + 11.0 + 2 * 5.0
    assert time_estimate.left_s({}) == 0.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "0 s"),
        (45.4, "45 s"),
        (89.0, "89 s"),
        (90.0, "2 min"),
        (3600.0, "60 min"),
        (12000.0, "3 h 20 min"),
        (345600.0, "4 days"),
    ],
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
