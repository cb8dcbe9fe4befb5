"""The table of a dataset's programs: best mapping, speedup, and the probes' readings."""

import msgspec

from numapredict.collect.mapping import AnyMapping
from numapredict.predictor.learning.features import Observations
from numapredict.predictor.learning.options import Clock
from numapredict.reports.program_order import Order


class ProbeCell(msgspec.Struct, frozen=True):
    """One probe's readings of one program; None without counters."""

    time_s: float
    local_bandwidth_GBps: float | None


class ProgramRow(msgspec.Struct, frozen=True, kw_only=True):
    """One program; ``place`` is its row in the heatmap, from 0."""

    place: int
    name: str
    group: str
    summary: str
    default_s: float
    best: str
    best_s: float
    speedup: float
    probes: tuple[ProbeCell, ...]


class ProgramsData(msgspec.Struct, frozen=True, kw_only=True):
    """The programs in the heatmap's order, and those left out because of missing measurements.

    ``probes`` are the labels of the probes of the machine's model, empty without a model.
    """

    default: str
    clock: Clock
    probes: tuple[str, ...]
    rows: tuple[ProgramRow, ...]
    dropped_programs: tuple[str, ...]
    dropped_mappings: tuple[str, ...]


def programs_data(
    observations: Observations, default: int, order: Order, probes: tuple[AnyMapping, ...]
) -> ProgramsData:
    """Return the table; probes that were not measured of all programs are left out."""
    known = tuple(probe for probe in probes if probe in observations.mappings)
    columns = list(map(observations.column, known))
    best = observations.time_s.argmin(axis=1)
    bandwidth = observations.local_bandwidth_GBps
    rows = []
    for place, row in enumerate(order.leaves):
        program, times = observations.programs[row], observations.time_s[row]
        rows.append(
            ProgramRow(
                place=place,
                name=program.name,
                group=program.group,
                summary=program.summary,
                default_s=float(times[default]),
                best=observations.mappings[best[row]].label,
                best_s=float(times[best[row]]),
                speedup=float(times[default] / times[best[row]]),
                probes=tuple(
                    ProbeCell(float(times[column]), None if bandwidth is None else float(bandwidth[row, column]))
                    for column in columns
                ),
            )
        )
    return ProgramsData(
        default=observations.mappings[default].label,
        clock=observations.clock,
        probes=tuple(probe.label for probe in known),
        rows=tuple(rows),
        dropped_programs=observations.dropped_programs,
        dropped_mappings=tuple(mapping.label for mapping in observations.dropped_mappings),
    )
