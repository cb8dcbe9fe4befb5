import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.host.work_folder import ROOM_BYTES
from numapredict.collect.placing.census import (
    FILE_BYTES,
    MAGIC,
    CensusRegion,
    parse_census,
    read_census,
    region_time_so_far,
    stopped,
)

ENTRIES, TEXT_BYTES = 4096, 256 << 10  # native/regions/region_file.h

SECOND = 10**9


def census_bytes(
    *entries: tuple[int, ...],
    magic: int = MAGIC,
    regions: int | None = None,
    exited: int = 1,
    room: int = 8,
    parent: int = 0,
    rank: tuple[int, int] = (0, 0),
) -> bytes:
    """Return a census file with room for more entries, as the library leaves it; its last time is 15 s.

    An entry is (key, count, time_ns), where something runs in it the four fields of a `region_entry` up to the
    barriers, and then when they were passed, in its units.
    """
    count = len(entries) if regions is None else regions
    header = struct.pack("<9Q2IQ", magic, 1, 5 * SECOND, 6 * SECOND, 15 * SECOND, count, 0, exited, parent, *rank, 0)
    listed = [
        struct.pack("<4QII88s6Q32I", key, n, time, 0x1230, 4, 0, b"app", 0, 0, *rest, *(0,) * (36 - len(rest)))
        for key, n, time, *rest in entries
    ]
    return header + b"".join(listed) + bytes(304 * room)


def test_a_census_keeps_every_field() -> None:
    census = parse_census(census_bytes((11, 3, 2 * SECOND), (13, 1, SECOND)))
    assert census is not None
    assert census.regions[0] == CensusRegion(key=11, count=3, time_s=2.0, offset=0x1230, team=4, module="app")
    assert [region.key for region in census.regions] == [11, 13]
    assert census.regions[0].name == "app+0x1230"
    assert (census.time_s, census.before_first_region_s, census.complete) == (10.0, 1.0, True)
    assert census.region_time_s == 3.0


def test_a_forked_child_has_a_parent() -> None:
    census = parse_census(census_bytes((11, 3, 1), parent=77))
    assert census is not None
    assert (census.process, census.forked_from) == (1, 77)


def test_a_rank_has_a_number() -> None:
    census = parse_census(census_bytes((11, 3, 1), rank=(3, 4)))
    assert census is not None
    assert (census.rank, census.ranks, census.program) == (3, 4, "")


def test_a_run_that_was_stopped_is_not_complete() -> None:
    census = parse_census(census_bytes((11, 3, 1), exited=0))
    assert census is not None
    assert not census.complete


def test_an_instance_that_has_not_ended_counts_with_its_time_so_far() -> None:
    census = parse_census(census_bytes((11, 2, SECOND, 7 * SECOND, 0, 0, 12), (13, 1, SECOND), exited=0))
    assert census is not None
    running, ended = census.regions
    assert (running.count, running.time_s, running.unfinished, running.barriers) == (3, 1 + 8, 1, 12)
    assert (ended.count, ended.time_s, ended.unfinished) == (1, 1.0, 0)


def test_when_the_barriers_were_passed_is_read_up_to_the_first_that_was_not() -> None:
    census = parse_census(census_bytes((11, 1, SECOND, 0, 0, 0, 9, 1, 250_000, 240_000, 0, 7), (13, 1, SECOND)))
    assert census is not None
    assert [region.passed_s for region in census.regions] == [pytest.approx((1e-5, 2.5, 2.5)), ()]
    full = parse_census(census_bytes((11, 1, SECOND, 0, 0, 0, 1 << 40, *range(1, 33))))
    assert full is not None
    assert full.regions[0].passed_s == pytest.approx([n * 1e-5 for n in range(1, 33)])


def test_what_several_threads_run_is_added_up() -> None:
    census = parse_census(census_bytes((11, 0, 0, 14 * SECOND, 2, (8 + 10) * SECOND, 0)))
    assert census is not None
    assert [(region.count, region.unfinished, region.time_s) for region in census.regions] == [(3, 3, 1 + 7 + 5)]


def test_a_file_that_was_left_half_written_gives_no_time_that_cannot_be() -> None:
    entries = ((11, 1, 0, 0, 2, 0, 0), (13, 1, 0, 0, 1, 99 * SECOND, 0), (17, 0, 0, 99 * SECOND, 0, 0, 0))
    census = parse_census(census_bytes(*entries))
    assert census is not None
    assert [region.time_s for region in census.regions] == [20.0, 0.0, 0.0]


def test_who_stops_a_process_says_when() -> None:
    data = census_bytes((11, 0, 0, 7 * SECOND, 0, 0, 0), exited=0)
    census = parse_census(stopped(data, 27 * SECOND))
    assert census is not None
    assert (census.time_s, census.region_time_s, census.complete) == (22.0, 20.0, False)
    ended = census_bytes((11, 1, SECOND))
    assert stopped(ended, 27 * SECOND) == ended
    assert stopped(b"", 27 * SECOND) == b""


def listed(*works: tuple[int, int], used: int | None = None) -> bytes:
    """Return what follows the entries of a whole file: no paths, and the work of instances (entry, ns), half by one."""
    count = len(works) if used is None else used
    each = b"".join(struct.pack("<III", *work, work[1] // 2) for work in works)
    return bytes(TEXT_BYTES) + struct.pack("<Q", count) + each


def test_the_work_of_first_instances_is_read_in_their_order() -> None:
    whole = census_bytes((11, 0, 0), (13, 3, SECOND), (17, 1, SECOND), room=ENTRIES - 3)
    census = parse_census(whole + listed((1, 500), (2, 4_000_000_000), (1, 700), (0, 9), (1, 600)))
    assert census is not None
    assert [region.work_s for region in census.regions] == [pytest.approx((5e-7, 7e-7, 6e-7)), pytest.approx((4.0,))]
    longest = [region.longest_s for region in census.regions]
    assert longest == [pytest.approx((2.5e-7, 3.5e-7, 3e-7)), pytest.approx((2.0,))]
    short = parse_census(whole + listed((1, 500), used=1 << 60))
    assert short is not None
    assert [region.work_s for region in short.regions] == [pytest.approx((5e-7,)), ()]
    none = parse_census(whole)
    assert none is not None
    assert [region.work_s for region in none.regions] == [(), ()]


def test_work_has_no_order_where_several_threads_start_a_region() -> None:
    running = census_bytes((11, 2, SECOND, 0, 1, 12 * SECOND, 0), (13, 2, SECOND), room=ENTRIES - 2)
    census = parse_census(running + listed((0, 500), (1, 500)))
    assert census is not None
    assert [region.work_s for region in census.regions] == [(), pytest.approx((5e-7,))]


def test_regions_that_never_began_do_not_count() -> None:
    census = parse_census(census_bytes((11, 0, 0), (13, 2, 1)))
    assert census is not None
    assert [region.key for region in census.regions] == [13]
    assert parse_census(census_bytes((11, 0, 0))) is None


def test_a_file_that_is_no_census_has_none() -> None:
    whole = census_bytes((11, 3, 1), room=0)
    assert parse_census(b"") is None
    assert parse_census(whole[:87]) is None
    assert parse_census(whole[:88]) is None
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


def test_there_is_room_for_a_census_where_room_was_asked_for() -> None:
    assert FILE_BYTES < ROOM_BYTES


@given(st.binary(max_size=400), st.booleans())
def test_random_bytes_never_raise(data: bytes, marked: bool) -> None:
    found = parse_census((MAGIC.to_bytes(8, "little") if marked else b"") + data)
    assert found is None or all(region.count > 0 for region in found.regions)


def test_the_time_in_regions_is_read_while_they_run(tmp_path: Path) -> None:
    file = tmp_path / "census"
    assert region_time_so_far(file, 12 * SECOND) is None
    file.write_bytes(b"")
    assert region_time_so_far(file, 12 * SECOND) is None
    file.write_bytes(census_bytes((11, 2, SECOND, 7 * SECOND), (13, 1, SECOND), exited=0))
    assert region_time_so_far(file, 8 * SECOND) == 1 + 1 + (8 - 7)
    assert region_time_so_far(file, 9 * SECOND) == 1 + 1 + (9 - 7)
    assert region_time_so_far(file, 12 * SECOND) == 7.0
    file.write_bytes(census_bytes((11, 2, 20 * SECOND), exited=0))
    assert region_time_so_far(file, 12 * SECOND) == 12 - 5  # side by side, and no longer than the program ran
    file.write_bytes(census_bytes((11, 2, SECOND, 7 * SECOND), regions=1 << 60))
    assert region_time_so_far(file, 12 * SECOND) is not None
