"""Lists of indices, of the kernel and for numactl."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.index_list import index_list, parse_index_list


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0-3,8", {0, 1, 2, 3, 8}), ("5\n", {5}), ("", set()), ("\n", set()), ("0, 2-3", {0, 2, 3}), ("7-7", {7})],
)
def test_lists_of_the_kernel(text: str, expected: set[int]) -> None:
    assert parse_index_list(text) == expected


@pytest.mark.parametrize("text", ["a", "1-", "-1", "1-2-3", "0x3", "1;2", "999999999", "1,,2", "٣"])
def test_other_texts_are_no_lists(text: str) -> None:
    with pytest.raises(ValueError, match="list of numbers"):
        parse_index_list(text)


@given(st.sets(st.integers(0, 500)))
def test_a_list_is_read_back(numbers: set[int]) -> None:
    assert parse_index_list(",".join(f"{number}-{number}" for number in numbers)) == numbers


@given(st.sets(st.integers(0, 500)))
def test_what_is_written_is_read_back(numbers: set[int]) -> None:
    assert parse_index_list(index_list(numbers)) == numbers


def test_runs_are_written_as_numactl_does() -> None:
    assert index_list([8, 3, 2, 1, 0, 3]) == "0-3,8"
    assert index_list([4, 2]) == "2,4"
    assert index_list([]) == ""
