"""What one mapping for all regions gives."""

import pytest

from numapredict.collect.capturing.gain import Gain
from numapredict.predictor.regions.one_mapping import one_mappings
from numapredict.predictor.regions.replayed_region import ReplayedRegion

BASE = Gain("base", 1.0, 1.0, 1.0, 5)


def region(time_s: float, *gains: Gain) -> ReplayedRegion:
    return ReplayedRegion("solve", "app", 16, 10, time_s, 0.1, 8, gains=gains)


def gain(mapping: str, speedup: float | None, lowest: float | None = None) -> Gain:
    return Gain(mapping, 1.0, speedup, lowest or speedup, 3)


def test_times_add_up_and_regions_that_were_not_replayed_stay_as_they_are() -> None:
    found = one_mappings(
        [
            region(6.0, BASE, gain("half", 2.0, 1.5), gain("spread", 0.5)),
            region(3.0, BASE, gain("spread", 3.0), gain("half", 0.75, 0.5)),
            region(1.0),
        ]
    )
    assert [one.mapping for one in found] == ["half", "spread"]
    assert found[0].speedup == pytest.approx(10 / (3 + 4 + 1))
    assert found[0].lowest == pytest.approx(10 / (4 + 6 + 1))
    assert found[1].speedup == pytest.approx(10 / (12 + 1 + 1))


def test_a_mapping_counts_only_where_every_replayed_region_has_it() -> None:
    first = region(6.0, BASE, gain("half", 2.0), gain("spread", None), gain("bound", 1.5))
    assert [one.mapping for one in one_mappings([first])] == ["half", "bound"]
    assert [one.mapping for one in one_mappings([first, region(1.0, BASE, gain("bound", 1.0))])] == ["bound"]
    assert one_mappings([first, region(1.0, BASE)]) == ()
    assert one_mappings([region(1.0)]) == one_mappings([]) == ()
