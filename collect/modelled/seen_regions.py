"""Which regions a trace saw, and measurements' times over the regions seen by all of them.

Traces of different thread counts end at different places, and see different regions. Measured on a program of five
regions, hiding every choice of up to three from traces with 8, 16 and 32 threads: comparing the times as they are is
off by 0.62 to 0.72 in log2 (median), filling in missing regions by their native times by 0.85 to 0.97, and comparing
the regions that all saw by 0.13 to 0.14.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from numapredict.collect.measurement import Measurement, Repetition

PROVENANCE = "regions_seen"
"""The name of a measurement's note with its regions: key, seconds and share of the native region time of each."""

COMPARED = "regions_compared"
"""The name of the note of a measurement that was restricted to the regions that all saw."""

SHARE = "region_time_seen"
WHOLE_CENSUS, CUT_CENSUS = ("census", "of the whole program"), ("census", "stopped by its time budget")
"""Notes of a modelled measurement: the native run, which counts the regions, ended or was stopped."""

_LEAST_SHARE = 0.3  # a trace that saw less shows too little, and would leave no regions to compare


class SeenRegion(msgspec.Struct, frozen=True):
    """One region in a trace: its modelled time, and the share, 0 to 1, of all regions' native time that was seen of it.

    ``whole`` is false where the trace represents only a part of it.
    """

    key: int
    time_s: float
    share: float
    whole: bool


def regions_note(
    times_s: Mapping[int, float], native_s: Mapping[int, float], seen: Mapping[int, float]
) -> tuple[tuple[str, str], ...]:
    """Return the note of the modelled times of a trace's regions, none for a program of a single region.

    ``seen``: the share, 0 to 1, of a region, by its key, that was traced.
    """
    all_s = sum(native_s.values())
    if len(native_s) < 2 or all_s <= 0:
        return ()
    regions = (
        SeenRegion(key, time_s, native_s.get(key, 0.0) / all_s * seen.get(key, 0.0), seen.get(key, 0.0) >= 1)
        for key, time_s in times_s.items()
    )
    return ((PROVENANCE, _written(regions)),)


def _written(regions: Iterable[SeenRegion]) -> str:
    return " ".join(f"{r.key:x}={r.time_s:.9g}/{r.share:.6f}{'' if r.whole else '~'}" for r in regions)


def regions_of(measurement: Measurement) -> tuple[SeenRegion, ...]:
    """Return the regions that a modelled measurement saw, none where it has no note of them."""
    found = []
    for text in dict(measurement.provenance).get(PROVENANCE, "").split():
        key, _, rest = text.partition("=")
        time_s, _, share = rest.partition("/")
        found.append(SeenRegion(int(key, 16), float(time_s), float(share.rstrip("~")), not share.endswith("~")))
    return tuple(found)


def in_common(measurements: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """Return measurements of one program without the times of regions that only some of them saw whole.

    They are unchanged where all saw the same. One that saw next to nothing is unchanged and does not affect the others.
    """
    seen = [_whole_in(m) for m in measurements]
    known = [keys for keys in seen if keys]
    common = frozenset.intersection(*known) if known else frozenset()
    if not common:
        return tuple(measurements)
    gone = frozenset.union(*known) - common
    return tuple(_without(m, gone) if gone and keys else m for m, keys in zip(measurements, seen, strict=True))


def compared_in_words(measurements: Sequence[Measurement]) -> tuple[str, ...]:
    """Return a line for each program whose traces saw different regions."""
    shares: dict[str, float] = {}
    for m in measurements:
        if COMPARED in dict(m.provenance):
            shares[m.program] = min(shares.get(m.program, 1.0), float(dict(m.provenance)[SHARE]))
    return tuple(
        f"the traces of {program} saw different regions: compared are those that all saw, with {share:.0%} of its "
        "native region time"
        for program, share in shares.items()
    )


def _whole_in(measurement: Measurement) -> frozenset[int]:
    """Return the regions that a measurement saw whole, none where it saw next to nothing."""
    if measurement.status != "ok" or float(dict(measurement.provenance).get(SHARE, "0")) < _LEAST_SHARE:
        return frozenset()
    return frozenset(region.key for region in regions_of(measurement) if region.whole)


def _without(measurement: Measurement, gone: frozenset[int]) -> Measurement:
    """Return a measurement without the times of some regions; the bandwidths stay the same."""
    regions = regions_of(measurement)
    gone_s = sum(region.time_s for region in regions if region.key in gone)
    notes = dict(measurement.provenance)
    share = float(notes[SHARE]) - sum(region.share for region in regions if region.key in gone)
    notes |= {
        SHARE: f"{max(share, 0.0):.3f}",
        PROVENANCE: _written(region for region in regions if region.key not in gone),
        COMPARED: "those that all traces of the program saw",
    }
    return msgspec.structs.replace(
        measurement,
        repetitions=tuple(_shorter(repetition, gone_s) for repetition in measurement.repetitions),
        provenance=tuple(notes.items()),
    )


def _shorter(repetition: Repetition, gone_s: float) -> Repetition:
    region_time_s = repetition.region_time_s
    return msgspec.structs.replace(
        repetition,
        time_s=repetition.time_s - gone_s,
        region_time_s=None if region_time_s is None else region_time_s - gone_s,
    )
