import pytest

from numapredict.collect.placing.variables import giving_way, thread_counts


@pytest.mark.parametrize(
    ("own", "expected"), [(None, "16"), ("4", "16"), ("4,2", "16,2"), ("4,2,1", "16,2,1"), ("4,", "16"), ("", "16")]
)
def test_the_callers_numbers_for_nested_regions_stay(own: str | None, expected: str) -> None:
    assert thread_counts(16, own) == expected


def test_what_gives_way_is_said_in_one_line() -> None:
    caller = {"OMP_NUM_THREADS": "8", "OMP_PLACES": "a\nb", "KMP_AFFINITY": "x" * 99, "OMP_SCHEDULE": "static"}
    text = giving_way(caller, {"OMP_NUM_THREADS": "4", "OMP_SCHEDULE": "static"})
    assert text == f"OMP_NUM_THREADS=8 becomes 4; KMP_AFFINITY={'x' * 37}..., OMP_PLACES=a?b left out"


def test_nothing_is_said_where_nothing_changes() -> None:
    placed = {"OMP_NUM_THREADS": "4", "OMP_DYNAMIC": "false", "OMP_PROC_BIND": "false"}
    assert giving_way({"PATH": "/bin", "HOME": "/"}, placed) == ""
    assert giving_way({"OMP_NUM_THREADS": " 4", "OMP_DYNAMIC": "FALSE"}, placed) == ""
