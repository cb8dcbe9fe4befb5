import msgspec
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Counters, Measurement, NodeCounters, Repetition
from numapredict.collect.measuring.disturbance import Disturbance, DisturbanceReason
from numapredict.collect.measuring.repetitions import (
    Repeated,
    Timed,
    disturbed_in_words,
    judged_times,
    repetition_notes,
)
from numapredict.native.errors import InvalidInputError


def run(time_s: float, *reasons: DisturbanceReason, others: float = 0.0, uncounted: str = "") -> Timed:
    found = Disturbance(others=others, frequency_MHz=0.0, reasons=reasons)
    return Timed(time_s=time_s, region_time_s=time_s / 2, disturbance=found, uncounted=uncounted)


def test_quiet_runs_have_little_to_say() -> None:
    quiet = Repeated((run(1.0, others=0.01), run(1.02), run(1.01)), ())
    assert dict(repetition_notes(quiet)) == {
        "load_of_others": "0.01 PUs at most",
        "median_within": "2.0% (90% interval)",
    }
    assert quiet.repetitions(0.25) == tuple(Repetition(t, t / 2, None, (), 0.25) for t in (1.0, 1.02, 1.01))


def test_the_time_in_regions_is_what_should_agree() -> None:
    """Models learn from it; starting and initialising, which is not placed, may take longer and vary more."""
    steady = [msgspec.structs.replace(run(time_s), region_time_s=1.0) for time_s in (3.0, 5.0, 4.0)]
    assert judged_times(steady) == [1.0, 1.0, 1.0]
    assert dict(repetition_notes(Repeated(tuple(steady), ())))["median_within"] == "0.0% (90% interval)"
    assert judged_times([*steady, msgspec.structs.replace(run(2.0), region_time_s=None)]) == [3.0, 5.0, 4.0, 2.0]


def test_outliers_are_kept_and_reported() -> None:
    kept = tuple(run(t) for t in (1.0, 1.01, 0.99, 1.02, 1.5))
    notes = dict(repetition_notes(Repeated(kept, ())))
    assert notes["outliers"] == "1 of 5, kept: 1.49 times the median"
    assert len(Repeated(kept, ()).repetitions(None)) == 5


def test_what_was_redone_and_what_stays_disturbed_is_reported_once_a_kind() -> None:
    load, more = DisturbanceReason("programs", 0.4, 1), DisturbanceReason("programs", 0.5, 1)
    moved = DisturbanceReason("pages", 3)
    notes = dict(repetition_notes(Repeated((run(1.0), run(2.0, moved)), (run(3.0, load), run(4.0, more, moved)))))
    assert notes["redone"] == "2 (3, 4 s): other programs used 0.4 of its 1 PUs; the kernel moved 3 pages between nodes"
    assert notes["disturbed"] == "1 of 2: the kernel moved 3 pages between nodes"


def test_the_counters_own_caveats_are_reported() -> None:
    counters = Counters((NodeCounters(1.0, 0.0, 1.0, 0.0),))
    base = msgspec.structs.replace(run(1.0), counters=counters, counting_notes=("without the kernel",))
    scaled = msgspec.structs.replace(base, counted_share=0.31, counting_notes=("without the kernel", "scaled"))
    notes = dict(repetition_notes(Repeated((base, scaled), ())))
    assert notes["counted_share"] == "31% of the time, scaled up"
    assert notes["counting"] == "without the kernel; scaled"
    assert "counted_share" not in dict(repetition_notes(Repeated((base,), ())))
    assert "counting" not in dict(repetition_notes(Repeated((run(1.0),), ())))


def test_failed_counters_are_reported() -> None:
    notes = dict(repetition_notes(Repeated((run(1.0), run(1.0, uncounted="it broke")), ())))
    assert notes["uncounted"] == "1 of 2: it broke"


def test_a_campaign_ends_with_what_disturbed_it() -> None:
    def of(**notes: str) -> Measurement:
        return Measurement(
            program="p",
            mapping=parse_label("2x1-contiguous-bind"),
            machine="m",
            modelled=False,
            repetitions=(Repetition(1.0),),
            provenance=tuple(notes.items()),
        )

    found = [
        of(redone="2 (1, 2 s): x"),
        of(redone="3: x", disturbed="1 of 5: x"),
        of(placement_did_not_hold="90.0% of pages"),
        of(),
    ]
    assert disturbed_in_words(found) == (
        "5 disturbed runs were redone (2 of 4 measurements)",
        "1 runs stayed disturbed: measure on an idle computer; `numapredict doctor` names other causes "
        "(1 of 4 measurements)",
        "in 1 of 4 measurements the placement did not hold: p under 2x1-contiguous-bind: 90.0% of pages",
    )
    assert disturbed_in_words([of()]) == ()
    with pytest.raises(InvalidInputError, match="begins with their number, not 'some: x': measure again"):
        disturbed_in_words([of(redone="some: x")])
    assert disturbed_in_words([msgspec.structs.replace(found[0], modelled=True)]) == ()
