"""The timed runs of one measurement, kept and redone ones, and the notes on both; pure."""

import re
import statistics
from collections.abc import Sequence

import msgspec

from numapredict.collect.measurement import Counters, Measurement, Repetition
from numapredict.collect.measuring.disturbance import Disturbance, DisturbanceReason
from numapredict.collect.measuring.precision import outliers, relative_width
from numapredict.collect.placing.teams import Team
from numapredict.native.errors import InvalidInputError

REDONE, DISTURBED, MISPLACED, BUSY = "redone", "disturbed", "placement_did_not_hold", "others_at_work"
EARLY = "ended_before_window"
"""Names in a measurement's provenance: runs redone, runs that stayed disturbed, a placement that did not hold, and what
others took of the PUs in the runs that count; when a run ended before its window."""

WHOLE = 0.999
"""The share of a run from which an event counts as counted all the time."""


class Timed(msgspec.Struct, frozen=True, kw_only=True):
    """One timed run: its times in seconds, its counters or why there are none, and what disturbed it.

    ``counted_share`` is the least share of the run in which an event was counted, ``counting_notes`` the source's
    caveats. ``early`` says that it ended before its window did, and when. ``readings`` has the figure that is compared,
    where that is not the time.
    """

    time_s: float
    region_time_s: float | None
    disturbance: Disturbance
    counters: Counters | None = None
    uncounted: str = ""
    counted_share: float = 1.0
    counting_notes: tuple[str, ...] = ()
    readings: tuple[tuple[str, float], ...] = ()
    early: str = ""


def judged_times(runs: Sequence[Timed]) -> list[float]:
    """Return the times that should agree, in seconds: those in parallel regions, which models learn from.

    Those of the whole runs if one has no region time.
    """
    in_regions = [run.region_time_s for run in runs if run.region_time_s]
    return in_regions if len(in_regions) == len(runs) else [run.time_s for run in runs]


class Repeated(msgspec.Struct, frozen=True):
    """The runs of one measurement, in order: ``kept`` count, ``redone`` were disturbed and done again.

    The last of them ended with ``exit_code``; ``teams`` are those of the last one's regions.
    """

    kept: tuple[Timed, ...]
    redone: tuple[Timed, ...]
    exit_code: int = 0
    teams: tuple[Team, ...] = ()

    def repetitions(self, local_share: float | None) -> tuple[Repetition, ...]:
        """Return the kept runs, each with the local share that was seen under its mapping."""
        return tuple(
            Repetition(run.time_s, run.region_time_s, run.counters, run.readings, local_share) for run in self.kept
        )


def repetition_notes(repeated: Repeated) -> tuple[tuple[str, str], ...]:
    """Return the notes on the runs, as pairs; the load is always noted, the others only where they apply."""
    times_s = judged_times(repeated.kept)
    notes = [("load_of_others", f"{max(run.disturbance.others for run in repeated.kept):.2f} PUs at most")]
    if len(times_s) > 1:
        notes.append(("median_within", f"{relative_width(times_s):.1%} (90% interval)"))
    far = outliers(times_s)
    if far:
        median = statistics.median(times_s)
        listed = ", ".join(f"{times_s[at] / median:.2f}" for at in far)
        notes.append(("outliers", f"{len(far)} of {len(times_s)}, kept: {listed} times the median"))
    if repeated.redone:
        took = ", ".join(f"{run.time_s:.4g}" for run in repeated.redone)
        notes.append((REDONE, f"{len(repeated.redone)} ({took} s): {_reasons(repeated.redone)}"))
    disturbed = [run for run in repeated.kept if run.disturbance.reasons]
    if disturbed:
        notes.append((DISTURBED, f"{len(disturbed)} of {len(times_s)}: {_reasons(disturbed)}"))
    busy = [run.disturbance.busy for run in disturbed if run.disturbance.busy]
    if busy:
        notes.append((BUSY, busy[0]))
    notes += [(EARLY, run.early) for run in repeated.kept[-1:] if run.early]
    shares = [run.counted_share for run in repeated.kept if run.counters is not None]
    if shares and min(shares) < WHOLE:
        notes.append(("counted_share", f"{min(shares):.0%} of the time, scaled up"))
    caveats = dict.fromkeys(note for run in repeated.kept for note in run.counting_notes)
    if caveats:
        notes.append(("counting", "; ".join(caveats)))
    uncounted = [run.uncounted for run in repeated.kept if run.uncounted]
    if uncounted:
        notes.append(("uncounted", f"{len(uncounted)} of {len(times_s)}: {uncounted[0]}"))
    return tuple(notes)


def noted_runs(note: str) -> int:
    """Return how many runs a note on REDONE or DISTURBED is about.

    Journals and datasets, old ones too, keep a note as text alone; that it begins with this number is its format.
    """
    match = re.match(r"\d+", note)
    if match is None:
        raise InvalidInputError(f"a note of runs begins with their number, not {note!r}: measure again")
    return int(match[0])


def others_noted(measurement: Measurement) -> str:
    """Return what others took of the PUs while a measurement was made, empty for nothing."""
    return dict(measurement.provenance).get(BUSY, "")


def disturbed_in_words(measurements: Sequence[Measurement]) -> tuple[str, ...]:
    """Return lines on the disturbances noted in a dataset's measurements; none without disturbances."""
    lines = []
    for name, text in (
        (REDONE, "disturbed runs were redone"),
        (DISTURBED, "runs stayed disturbed: measure on an idle computer; `numapredict doctor` names other causes"),
    ):
        counts = [noted_runs(dict(m.provenance)[name]) for m in _with(measurements, name)]
        if counts:
            lines.append(f"{sum(counts)} {text} ({len(counts)} of {len(measurements)} measurements)")
    misplaced = _with(measurements, MISPLACED)
    if misplaced:
        first = misplaced[0]
        what = dict(first.provenance)[MISPLACED]
        lines.append(
            f"in {len(misplaced)} of {len(measurements)} measurements the placement did not hold: "
            f"{first.program} under {first.mapping.label}: {what}"
        )
    return tuple(lines)


def _with(measurements: Sequence[Measurement], name: str) -> list[Measurement]:
    return [m for m in measurements if not m.modelled and name in dict(m.provenance)]


def _reasons(runs: Sequence[Timed]) -> str:
    """Return the reasons of the runs' disturbances, each kind once, in the words of the first."""
    kinds: dict[str, DisturbanceReason] = {}
    for run in runs:
        for reason in run.disturbance.reasons:
            kinds.setdefault(reason.kind, reason)
    return "; ".join(reason.words for reason in kinds.values())
