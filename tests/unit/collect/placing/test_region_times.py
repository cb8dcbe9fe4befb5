"""Region times as a measurement's note."""

import msgspec

from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.placing.region_times import (
    MOST_NOTED,
    PROVENANCE,
    RegionTime,
    RegionTimes,
    region_times_note,
    region_times_of,
    with_places,
    without_work,
)
from numapredict.collect.source.modules import Modules


def noted(times: RegionTimes | None) -> Measurement:
    mapping = parse_label("2x1-contiguous-first-touch")
    return Measurement(
        program="app", mapping=mapping, machine="here", modelled=False, provenance=region_times_note(times)
    )


def test_a_note_is_read_as_it_was_written_the_longest_regions_first() -> None:
    short = RegionTime("short", "/bin/app", 0x40, 3, 0.1 + 0.2, 4, 1, 1.5)
    long = RegionTime("long", "/bin/app", 0x80, 1, 2.0, 4)
    times = RegionTimes((short, long), 3.0, complete=False)
    assert region_times_of(noted(times)) == msgspec.structs.replace(times, regions=(long, short))
    assert region_times_of(noted(None)) is None
    assert noted(None).provenance == ()


def test_the_shortest_of_very_many_regions_are_one() -> None:
    regions = tuple(RegionTime(f"r{n}", "/bin/app", n, 2, float(n), 2 + n) for n in range(MOST_NOTED + 5))
    times = RegionTimes(regions, 1e6, complete=True)
    found = region_times_of(noted(times))
    assert found is not None
    assert [region.name for region in found.regions[:: MOST_NOTED - 1]] == [f"r{MOST_NOTED + 4}", "r5"]
    assert found.regions[-1] == RegionTime("5 shorter regions", "", 0, 10, 10.0, 6)
    assert found.region_time_s == times.region_time_s
    assert with_places(found, Modules()).regions[-1] == found.regions[-1]


def test_a_note_that_makes_no_sense_is_none() -> None:
    for text in ("", "{}", "[", '{"regions": [{"name": 1}], "wall_s": 1, "complete": true}'):
        assert region_times_of(msgspec.structs.replace(noted(None), provenance=((PROVENANCE, text),))) is None


def test_a_name_that_is_no_text_is_spelt() -> None:
    times = RegionTimes((RegionTime("a\udce9", "/bin/\udce9", 0, 1, 1.0, 2),), 1.0, complete=True)
    found = noted(times)
    assert PROVENANCE in dict(found.provenance)
    assert msgspec.json.decode(msgspec.json.encode(found, enc_hook=str))["provenance"]
    region = region_times_of(found)
    assert region is not None
    assert (region.regions[0].name, region.regions[0].module) == ("a\\xe9", "/bin/\\xe9")


def test_threads_at_work_can_be_left_out() -> None:
    times = RegionTimes((RegionTime("a", "/bin/app", 0, 1, 1.0, 2, 0, 1.5),), 1.0, complete=True)
    assert [region.at_work for region in without_work(times).regions] == [None]
