"""Tables on terminals that are too narrow for them: never wider, and nothing is missing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.terminal.table import fitted_table

ROWS = [
    "program         chosen mapping               speedup  95%  oracle mapping",
    "line-solve-0    32x4-contiguous-first-touch     1.00  0.1  32x4-contiguous-first-touch",
    "shared-table-0                                 11.05       32x4-contiguous-balance",
]


def test_what_fits_is_left_alone() -> None:
    assert fitted_table(ROWS, 100) == ROWS
    assert fitted_table(["one long line that is no table", "and another one"], 20) == [
        "one long line that is no table",
        "and another one",
    ]


def test_parts_repeat_the_first_column_and_keep_the_alignment() -> None:
    assert fitted_table(ROWS, 60) == [
        "program         chosen mapping               speedup  95%",
        "line-solve-0    32x4-contiguous-first-touch     1.00  0.1",
        "shared-table-0                                 11.05",
        "",
        "program         oracle mapping",
        "line-solve-0    32x4-contiguous-first-touch",
        "shared-table-0  32x4-contiguous-balance",
    ]


def test_a_cell_that_no_part_can_hold_is_broken() -> None:
    assert fitted_table(ROWS, 32)[:4] == [
        "program         chosen mapping",
        "line-solve-0    32x4-contiguous-",
        "                first-touch",
        "shared-table-0",
    ]
    assert fitted_table(["name  value  more", f"{'x' * 50}  1  2"], 30)[1] == "xxxxxxxxxxxx…xxxxxxxxxxx  1  2"


words = st.text(alphabet="abc-.19", min_size=1, max_size=12)
cells = st.lists(words, min_size=0, max_size=3).map(" ".join)


@given(
    st.integers(2, 5).flatmap(lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=2, max_size=5)),
    st.integers(28, 80),  # with fewer, a column beside the first has no room for a word of 12 letters
)
def test_no_line_is_too_wide_and_no_letter_is_lost(table: list[list[str]], columns: int) -> None:
    widths = [max(len(row[number]) for row in table) for number in range(len(table[0]))]
    rows = ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    found = fitted_table(rows, columns)
    if len([width for width in widths if width]) > 1:
        assert max(map(len, found)) <= columns
    everything = "".join(found).replace(" ", "")
    for row in table:
        for cell in row[1:]:
            for letter in set(cell) - {" "}:
                assert everything.count(letter) >= cell.count(letter)


@pytest.mark.parametrize("columns", range(20, 90, 7))
def test_every_width_is_kept(columns: int) -> None:
    assert max(map(len, fitted_table(ROWS, columns))) <= columns
