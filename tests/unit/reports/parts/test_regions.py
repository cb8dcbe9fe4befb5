"""The regions of an answer's runs, one beside the other."""

import msgspec
import pytest

from numapredict.collect.mapping import AnyMapping, parse_label
from numapredict.collect.placing.region_times import RegionTime, RegionTimes
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.source.place import Frame, Place
from numapredict.predictor.advising.region_run import RegionRun
from numapredict.reports.parts.regions import UNKNOWN, region_problems, regions_data

MAPPING = parse_label("8x1-contiguous-bind")
PLACE = Place("/bin/app", 0x40, (Frame("cool._omp_fn.0", "/src/heat.c", 40),))


def region(name: str, time_s: float, at_work: float | None = None, place: Place | None = None) -> RegionTime:
    return RegionTime(name, "/bin/app", 0x40 + ord(name[0]), 4, time_s, 8, 0, at_work, place)


def run(mapping: AnyMapping, *regions: RegionTime, wall_s: float = 10.0) -> RegionRun:
    return RegionRun(mapping, RegionTimes(regions, wall_s, complete=True))


def test_regions_of_two_runs_stand_beside_each_other_the_longest_first() -> None:
    before = run(AS_IT_IS, region("b", 2.0), region("a", 6.0, place=PLACE))
    after = run(MAPPING, region("c", 1.0, 8.0), region("a", 3.0, 1.0), wall_s=8.0)
    data = regions_data((before, after))
    assert data is not None
    assert data.runs == ("as it is now", "8x1-contiguous-bind")
    assert data.threads_of == "8x1-contiguous-bind"
    assert [row.name for row in data.rows] == ["cool, heat.c:40", "b", "c"]
    assert [row.times_s for row in data.rows] == [(6.0, 3.0), (2.0, UNKNOWN), (UNKNOWN, 1.0)]
    assert [row.share for row in data.rows] == [0.6, 0.2, UNKNOWN]
    assert [row.at_work for row in data.rows] == [1.0, UNKNOWN, 8.0]
    assert [row.limit[:24] for row in data.rows] == ["one thread does the work", "", ""]
    assert data.serial.startswith("50% of the run is outside all regions")
    assert data.rows[0].where == "app+0xa1"


def test_without_work_threads_are_those_of_the_first_run() -> None:
    data = regions_data((run(AS_IT_IS, region("a", 9.5)), run(MAPPING, region("a", 4.0))))
    assert data is not None
    assert (data.threads_of, data.serial, data.rows[0].at_work) == ("as it is now", "", UNKNOWN)


def test_a_function_without_a_line_has_its_name() -> None:
    place = Place("/bin/app", 0x40, (Frame("cool._omp_fn.0"),), "app has no debug information")
    data = regions_data((run(MAPPING, region("a", 1.0, place=place)),))
    assert data is not None
    assert (data.rows[0].name, data.doubts) == ("cool", ("app has no debug information",))
    other = msgspec.structs.replace(region("a", 1.0, place=place), offset=0x99)
    both = regions_data((run(MAPPING, region("a", 1.0, place=place), other),))
    assert both is not None
    assert [row.name for row in both.rows] == ["cool, app+0xa1", "cool, app+0x99"]


def test_where_no_regions_are_known_there_is_nothing_to_show() -> None:
    assert regions_data(()) is None
    assert regions_data((run(MAPPING),)) is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"time_s": -1.0}, "time_s"),
        ({"time_s": float("nan")}, "time_s"),
        ({"team": 0}, "team"),
        ({"count": 0}, "count"),
        ({"unfinished": 5}, "count"),
        ({"at_work": 8.5}, "at_work"),
    ],
)
def test_impossible_figures_are_named(changes: dict[str, float], field: str) -> None:
    good = region("a", 1.0, 2.0)
    assert list(region_problems((run(MAPPING, good),))) == []
    where, _ = next(region_problems((run(MAPPING, msgspec.structs.replace(good, **changes)),)))
    assert where == f"regions of run 1, a, {field}"


def test_an_impossible_time_of_a_run_is_named() -> None:
    ((where, _),) = region_problems((run(MAPPING, wall_s=-1.0),))
    assert where == "regions of run 1, wall_s"
