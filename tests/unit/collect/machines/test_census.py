import struct
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.machines.census import MAGIC, Region, parse_census, read_census

SECOND = 10**9


def census_bytes(
    *entries: tuple[int, int, int], magic: int = MAGIC, regions: int | None = None, exited: int = 1, room: int = 8
) -> bytes:
    """Return a census file with entries (key, count, time_ns) and room for more, as the library leaves it."""
    count = len(entries) if regions is None else regions
    header = struct.pack("<8Q", magic, 1, 5 * SECOND, 6 * SECOND, 15 * SECOND, count, 0, exited)
    listed = [struct.pack("<5Q104s", key, n, time, 0x1230, 4, b"app") for key, n, time in entries]
    return header + b"".join(listed) + bytes(144 * room)


def test_a_census_keeps_every_field() -> None:
    census = parse_census(census_bytes((11, 3, 2 * SECOND), (13, 1, SECOND)))
    assert census is not None
    assert census.regions[0] == Region(key=11, count=3, time_s=2.0, offset=0x1230, team=4, module="app")
    assert [region.key for region in census.regions] == [11, 13]
    assert census.regions[0].name == "app+0x1230"
    assert (census.time_s, census.before_first_region_s, census.complete) == (10.0, 1.0, True)
    assert census.region_time_s == 3.0


def test_a_run_that_was_stopped_is_not_complete() -> None:
    census = parse_census(census_bytes((11, 3, 1), exited=0))
    assert census is not None
    assert not census.complete


def test_regions_that_never_ended_do_not_count() -> None:
    census = parse_census(census_bytes((11, 0, 0), (13, 2, 1)))
    assert census is not None
    assert [region.key for region in census.regions] == [13]
    assert parse_census(census_bytes((11, 0, 0))) is None


def test_a_file_that_is_no_census_has_none() -> None:
    whole = census_bytes((11, 3, 1), room=0)
    assert parse_census(b"") is None
    assert parse_census(whole[:63]) is None
    assert parse_census(whole[:64]) is None
    assert parse_census(whole[:-1]) is None
    assert parse_census(census_bytes((11, 3, 1), magic=0)) is None


def test_more_entries_than_the_file_has_are_not_read() -> None:
    census = parse_census(census_bytes((11, 3, 1), regions=1 << 60, room=0))
    assert census is not None
    assert len(census.regions) == 1


def test_a_missing_file_has_no_census(tmp_path: Path) -> None:
    assert read_census(tmp_path / "no") is None
    (tmp_path / "census").write_bytes(census_bytes((11, 3, 1)))
    assert read_census(tmp_path / "census") == parse_census(census_bytes((11, 3, 1)))


@given(st.binary(max_size=400), st.booleans())
def test_random_bytes_never_raise(data: bytes, marked: bool) -> None:
    found = parse_census((MAGIC.to_bytes(8, "little") if marked else b"") + data)
    assert found is None or all(region.count > 0 for region in found.regions)
