"""When a run is to be ended before it ends by itself, and how far one that was ended had come."""

import math

import msgspec

from numapredict.collect.measurement import Measurement

PROVENANCE = "region_time_when_ended_s"
"""The name of a measurement's note with the seconds that a run had spent in parallel regions when it was ended."""


class RunLimit(msgspec.Struct, frozen=True):
    """How many seconds a run may take in all."""

    whole_s: float = math.inf


UNLIMITED = RunLimit()


def region_time_when_ended(measurement: Measurement) -> float | None:
    """Return the seconds in parallel regions of a run that was ended; None where none had begun, or none is timed."""
    noted = dict(measurement.provenance).get(PROVENANCE)
    return None if noted is None else float(noted)
