"""The rows of a node's cores: an L3 cache's are together."""

from hypothesis import given
from hypothesis import strategies as st

from numapredict.reports.core_grid import aligned, core_grid

CACHES = st.lists(st.integers(1, 12), min_size=2, max_size=9)


def test_caches_stand_side_by_side_where_they_fit() -> None:
    grid = core_grid(12, (4, 4, 4), 8)
    assert grid.places == tuple((at // 8, at % 8) for at in range(12))
    assert (grid.frames, grid.rows) == (((0, 0, 1, 4), (0, 4, 1, 4), (1, 0, 1, 4)), 2)


def test_a_longer_cache_has_rows_of_its_own() -> None:
    grid = core_grid(9, (2, 6, 1), 4)
    assert grid.frames == ((0, 0, 1, 2), (1, 0, 2, 4), (3, 0, 1, 1))
    assert (grid.rows, grid.places[2], grid.places[6], grid.places[8]) == (4, (1, 0), (2, 0), (3, 0))


def test_without_several_caches_rows_are_filled() -> None:
    grid = core_grid(5, (), 4)
    assert (grid.places, grid.frames, grid.rows) == (((0, 0), (0, 1), (0, 2), (0, 3), (1, 0)), (), 2)
    assert core_grid(0, (), 4).rows == 0


def test_cores_without_a_cache_come_last_and_have_no_frame() -> None:
    grid = core_grid(6, (4,), 4)
    assert (grid.frames, grid.places[4:], grid.rows) == (((0, 0, 1, 4),), ((1, 0), (1, 1)), 2)


def test_rows_take_whole_caches() -> None:
    assert [aligned(across, [4]) for across in (4, 5, 11)] == [4, 8, 12]
    assert (aligned(5, [8]), aligned(11, []), aligned(6, [16])) == (8, 11, 6)


@given(CACHES, st.integers(4, 16))
def test_each_core_has_a_place_of_its_own_in_the_frame_of_its_cache(caches: list[int], across: int) -> None:
    grid = core_grid(sum(caches), caches, across)
    assert len(set(grid.places)) == len(grid.places) == sum(caches)
    places = iter(grid.places)
    for count, (row, column, rows, columns) in zip(caches, grid.frames, strict=True):
        for _ in range(count):
            down, along = next(places)
            assert row <= down < row + rows
            assert column <= along < column + columns <= across
    assert grid.rows == max(row for row, _ in grid.places) + 1
