"""The time of each parallel region in a run that an answer rests on, with the regions' places in the source."""

from collections.abc import Iterable

import msgspec

from numapredict.collect.mapping import AnyMapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.placing.region_times import RegionTimes, region_times_of, with_places
from numapredict.collect.source.modules import Modules


class RegionRun(msgspec.Struct, frozen=True):
    """The regions of a run under ``mapping``: the longest ones of a program with very many."""

    mapping: AnyMapping
    times: RegionTimes


def region_runs(measurements: Iterable[Measurement]) -> tuple[RegionRun, ...]:
    """Return the region times of the measurements that have a note of them, in order."""
    modules = Modules()
    noted = ((measurement.mapping, region_times_of(measurement)) for measurement in measurements)
    return tuple(RegionRun(mapping, with_places(times, modules)) for mapping, times in noted if times is not None)
