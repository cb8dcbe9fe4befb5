"""From two readings to the numbers that rules read."""

import msgspec
import pytest

from numapredict.collect.mapping import mapping_named, parse_label, to_label
from numapredict.collect.measurement import Counters, Measurement, NodeCounters, Repetition
from numapredict.predictor.advising.assignment import ProbeReading, reading_of
from numapredict.predictor.advising.evidence import evidence_of, reached_by
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from tests.planted import planted_dataset

DEFAULT = mapping_named("32x4-contiguous-first-touch")
HERE = ProbeReading(DEFAULT, 6.0, 3.0, 0.25, 9.0, 1.0)
THERE = ProbeReading(mapping_named("32x4-scatter-locality"), 1.5, 40.0, 0.98, 1.0, 0.3)


@pytest.mark.parametrize("readings", [(HERE, THERE), (THERE, HERE)])
def test_the_default_is_held_against_the_other_run(readings: tuple[ProbeReading, ...]) -> None:
    evidence = evidence_of(readings, DEFAULT, 50.0, (30.0, 30.0, 30.0, 30.0))
    assert evidence is not None
    assert msgspec.to_builtins(evidence, enc_hook=to_label) == {
        "nodes": 4,
        "other": "32x4-scatter-locality",
        "speedup": 4.0,
        "default_local_share": 0.25,
        "other_local_share": 0.98,
        "default_traffic_GBps": 12.0,
        "other_traffic_GBps": 41.0,
        "default_local_GBps": 3.0,
        "home_share": 1.0,
        "reached_GBps": 50.0,
        "controllers_GBps": 120.0,
    }


def test_without_the_default_among_the_runs_there_is_none() -> None:
    assert evidence_of((HERE, THERE), mapping_named("16x4-contiguous-first-touch"), None) is None
    assert evidence_of((HERE,), DEFAULT, None) is None


def test_a_run_that_differs_only_in_places_goes_before_others() -> None:
    fewer = ProbeReading(mapping_named("16x4-contiguous-first-touch"), 1.0)
    evidence = evidence_of((HERE, fewer, THERE), DEFAULT, None)
    assert evidence is not None
    assert evidence.other == THERE.mapping


@pytest.mark.parametrize(
    ("default", "other", "compared"),
    [
        (DEFAULT.label, "32x4-contiguous-mix", True),
        (DEFAULT.label, "32x4-scatter-interleave", True),
        (DEFAULT.label, "16x4-contiguous-locality", False),
        (DEFAULT.label, "32x4-contiguous-interleave@2", False),
        (DEFAULT.label, "32x4-contiguous-bind@1", False),
        (DEFAULT.label, "32x4-scatter-first-touch", False),
        ("32x4-contiguous-locality", "32x4-contiguous-mix", False),
    ],
)
def test_times_are_compared_where_only_places_differ(default: str, other: str, compared: bool) -> None:
    readings = [ProbeReading(mapping_named(default), 2.0), ProbeReading(mapping_named(other), 1.0)]
    evidence = evidence_of(readings, mapping_named(default), None)
    assert evidence is not None
    assert evidence.speedup == (2.0 if compared else None)


def test_controllers_count_where_the_default_uses_all_nodes() -> None:
    evidence = evidence_of((HERE, THERE), DEFAULT, None, (30.0,) * 8)
    assert evidence is not None
    assert evidence.controllers_GBps is None


def test_traffic_needs_both_bandwidths() -> None:
    evidence = evidence_of((msgspec.structs.replace(HERE, remote_bandwidth_GBps=None), THERE), DEFAULT, None)
    assert evidence is not None
    assert (evidence.default_traffic_GBps, evidence.other_traffic_GBps) == (None, 41.0)


def test_a_reading_tells_whose_the_local_accesses_are() -> None:
    nodes = (NodeCounters(30.0, 5.0, 3.0, 0.5), NodeCounters(10.0, 15.0, 1.0, 1.5))
    measurement = Measurement(
        program="p",
        mapping=parse_label("8x2-contiguous-first-touch"),
        machine="m",
        modelled=True,
        repetitions=(Repetition(1.0, 0.9, Counters(nodes)),),
    )
    reading = reading_of(measurement, "regions")
    assert reading is not None
    assert (reading.local_bandwidth_GBps, reading.remote_bandwidth_GBps, reading.home_share) == (4.0, 2.0, 0.75)
    idle = (NodeCounters(0.0, 0.0, 0.0, 0.0),) * 2
    quiet = msgspec.structs.replace(measurement, repetitions=(Repetition(1.0, 0.9, Counters(idle)),))
    for each in (quiet, msgspec.structs.replace(measurement, repetitions=(Repetition(1.0, 0.9),))):
        found = reading_of(each, "regions")
        assert found is not None
        assert found.home_share is None
    assert reading_of(msgspec.structs.replace(measurement, status="crashed"), "regions") is None
    assert reading_of(msgspec.structs.replace(measurement, repetitions=(Repetition(1.0),)), "regions") is None


@pytest.fixture(scope="module", params=["search", "thesis"])
def model(request: pytest.FixtureRequest) -> Model:
    return train(planted_dataset(15), TrainingOptions(n_clusters=5, method=request.param))


def test_the_greatest_bandwidth_of_the_training_programs_is_read_from_their_features(model: Model) -> None:
    second = model.probes[1].mapping
    counters = [m.counters for m in planted_dataset(15).measurements if m.mapping == second]
    largest = max(each.local_bandwidth_GBps for each in counters if each is not None)
    assert reached_by(model) == pytest.approx(largest)
