"""Region times in words: a line a region, and a remark on what no placement shortens."""

import pytest

from numapredict.collect.placing.region_times import RegionTime, RegionTimes
from numapredict.collect.placing.region_times_text import left_out_in_words, regions_in_words
from numapredict.collect.source.place import Frame, Place


def region(
    name: str, time_s: float, at_work: float | None, team: int = 8, place: Place | None = None, unfinished: int = 0
) -> RegionTime:
    return RegionTime(name, "/bin/app", 0x40, 4, time_s, team, unfinished, at_work, place)


def words(*regions: RegionTime, wall_s: float = 10.0) -> list[str]:
    return list(regions_in_words([RegionTimes(regions, wall_s, complete=True)]))


def test_no_region_is_said() -> None:
    assert list(regions_in_words(())) == ["regions: no OpenMP parallel region began"]


def test_a_region_has_a_line_with_its_source() -> None:
    place = Place("/bin/app", 0x40, (Frame("cool._omp_fn.0", "/src/heat.c", 40),))
    lines = words(region("a", 4.0, 7.9, place=place), region("app+0x40", 6.0, None, unfinished=1))
    assert lines[0] == "regions: 10.000000 s of 10.000000 s in 2 parallel regions"
    assert lines[1].split() == ["instances", "total", "s", "each", "us", "threads", "at", "work", "region"]
    assert lines[2].split()[:5] == ["4", "6.000000", "1500000.00", "8", "?"]
    assert lines[2].endswith("app+0x40: 1 had not ended")
    assert lines[3].endswith("  7.9  cool, heat.c:40 (app+0x40)")
    assert len(lines) == 4


@pytest.mark.parametrize(
    ("at_work", "said"),
    [(1.05, "one thread does the work"), (4.0, "waits for the thread with most work"), (6.5, ""), (None, "")],
)
def test_work_that_threads_do_not_share_is_a_remark_where_it_takes_a_tenth_of_the_run(
    at_work: float | None, said: str
) -> None:
    long, short = words(region("a", 9.5, at_work)), words(region("a", 9.5, 8.0), region("b", 0.4, at_work))
    assert len(short) == 4
    if said:
        assert len(long) == 4
        assert "95% of the run" in long[3]
        assert said in long[3]
    else:
        assert len(long) == 3


def test_a_team_of_one_is_no_fault() -> None:
    assert len(words(region("a", 9.5, 1.0, team=1))) == 3


def test_time_outside_regions_is_a_remark() -> None:
    assert "40% of the run is outside all regions" in words(region("a", 6.0, 8.0))[-1]
    assert len(words(region("a", 9.1, 8.0))) == 3


def test_a_forked_child_is_said_to_be_one_and_may_wait_for_work() -> None:
    parent = RegionTimes((region("a", 6.0, 8.0),), 6.0, complete=True, process=5)
    child = RegionTimes((region("a", 1.0, 8.0),), 9.0, complete=False, process=6, forked_from=5)
    lines = list(regions_in_words([parent, child]))
    assert lines[0] == "regions: 2 processes, 1 of them forked, had parallel regions, in order of the first one"
    assert lines[4].endswith("in 1 parallel region, until the program was ended: child 6, forked by 5")
    assert not any("outside all regions" in line for line in lines)
    (said,) = left_out_in_words([parent] * 64)
    assert "at most 64 processes" in said
    assert list(left_out_in_words([parent] * 63)) == []


def test_what_is_missing_for_lines_is_said_once() -> None:
    doubt = Place("/bin/app", 0x40, (), "app has no debug information: build with -g")
    lines = words(region("a", 5.0, 8.0, place=doubt), region("b", 5.0, 8.0, place=doubt))
    assert lines[-1] == "regions: app has no debug information: build with -g"
    assert len(lines) == 5
