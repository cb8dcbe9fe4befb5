"""What is expected of every mapping: by hand, against plain refits, and on made-up programs."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numapredict.collect.mapping import from_label, mapping_named, to_label
from numapredict.collect.program import Program
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.advising.predict import ProbeReading, predict
from numapredict.predictor.evaluation.evaluate import evaluate_held_out
from numapredict.predictor.evaluation.folds import predict_row
from numapredict.predictor.learning import gain_model as ex
from numapredict.predictor.learning import probe_search as ps
from numapredict.predictor.learning.features import Observations, gains_of, observe
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train, train_on
from tests.planted import planted_dataset

OPTIONS = TrainingOptions(method="expectation", feature_kinds=("ratio",))


def test_groups_weigh_the_same() -> None:
    assert ex.group_weights(["a", "b", "a", "a"]).tolist() == pytest.approx([1 / 6, 1 / 2, 1 / 6, 1 / 6])


@given(st.integers(0, 10_000), st.lists(st.integers(0, 4), min_size=6, max_size=14))
@settings(max_examples=50)
def test_a_line_with_a_ridge_is_fitted_without_the_group(seed: int, groups: list[int]) -> None:
    names = [str(group) for group in groups]
    if len(set(names)) < 2:
        return
    generator = np.random.default_rng(seed)
    measured, gains = generator.normal(size=len(names)), generator.normal(size=(len(names), 4))
    found = ex.held_out_gains(measured, gains, names)
    for name in set(names):
        inside = np.array(names) != name
        weights = ex.group_weights([each for each in names if each != name])
        deviation = max(np.sqrt(np.cov(measured[inside], aweights=weights, ddof=0)), ex.MIN_DEVIATION)
        standard = (measured - weights @ measured[inside]) / deviation
        rows = np.column_stack([np.ones(len(names)), standard])
        weighted = (rows[inside] * weights[:, None]).T
        line = np.linalg.solve(weighted @ rows[inside] + np.diag([0.0, ex.RIDGE]), weighted @ gains[inside])
        assert found[~inside] == pytest.approx(rows[~inside] @ line, abs=1e-6)


def test_a_single_group_expects_its_own_mean() -> None:
    gains = np.array([[0.0, 1.0], [0.0, 3.0]])
    assert ex.held_out_gains(np.array([1.0, 2.0]), gains, ["a", "a"]).tolist() == [[0.0, 2.0], [0.0, 2.0]]


def test_the_default_gains_nothing_and_what_was_measured_is_known() -> None:
    found = ex.with_what_is_known(np.array([0.3, 2.0, 1.0]), np.array([0.05, 0.3, 0.6]), (0, 2), 1.5, 0.07)
    assert found.gain.tolist() == [0.0, 2.0, 1.5]
    assert found.deviation == pytest.approx([0.0, np.hypot(0.3, 2.0 * ex.RELATIVE), 0.07])


def test_a_gain_is_predicted_by_the_measured_one() -> None:
    """Under c, programs gain twice what they gain under b; d is as far off for all of them."""
    gains = np.array([[0.0, g, 2 * g, 1.0 if n % 2 else 0.4] for n, g in enumerate(np.linspace(-1, 2, 24))])
    mappings = tuple(map(mapping_named, "abcd"))
    model = ex.fit_gain_model(mappings, (0, 1), gains, [str(n) for n in range(24)], None)
    found = ex.predict_gains(model, mappings[:2], 1.0)
    assert found.gain.tolist()[:2] == [0.0, 1.0]
    assert found.gain[2:] == pytest.approx([2.0, 0.7], abs=0.1)
    assert model.deviation[3] == pytest.approx(np.hypot(0.3, ex.NOISE), rel=0.15)
    noisy = ex.predict_gains(model, mappings[:2], 1.0, 0.5)
    assert noisy.gain.tolist() == found.gain.tolist()
    assert noisy.deviation[1] == 0.5
    assert noisy.deviation[2] > found.deviation[2] + 0.4, "it changes by twice what was measured"
    assert noisy.deviation[3] < found.deviation[3] + 0.1


def test_what_is_little_known_must_promise_more() -> None:
    gain = np.array([0.0, 0.5, 0.45, 0.1])
    assert int(ex.risk_adjusted_gain(gain, np.full(4, 0.1), 0).argmax()) == 1
    assert int(ex.risk_adjusted_gain(gain, np.array([0.0, 0.8, 0.1, 0.9]), 0).argmax()) == 2
    doubtful = ex.risk_adjusted_gain(np.array([0.0, 0.3]), np.array([0.0, 0.8]), 0)
    assert int(doubtful.argmax()) == 0  # the default is kept


def test_less_than_a_hundredth_is_no_reason_to_leave_the_default() -> None:
    measured = np.full(2, ex.MEASURED_NOISE)
    assert int(ex.risk_adjusted_gain(np.array([0.0, np.log2(1.009)]), measured, 0).argmax()) == 0
    assert int(ex.risk_adjusted_gain(np.array([0.0, np.log2(1.011)]), measured, 0).argmax()) == 1


def few(times: list[list[float]]) -> Observations:
    programs = tuple(Program(name=f"p{n}", command=("x",)) for n in range(len(times)))
    return Observations(programs, tuple(map(mapping_named, "abcd"[: len(times[0])])), np.array(times))


def test_the_second_probe_is_what_gives_most_where_each_takes_the_better() -> None:
    """b gains a little for all; c gains much for half of the programs and loses much for others, d gains for one."""
    rows = [[8.0, 7.0, 2.0 if n % 2 else 64.0, 0.01 if n == 3 else 8.0] for n in range(12)]
    observations = few(rows)
    pair = ps.search_probes(observations, default=0)
    assert (pair.first, pair.second) == (0, 2)
    assert ps.search_probes(observations, 0, (0, 1, 3)).second == 1  # what d does for one program is no evidence
    gained = np.maximum(gains_of(observations.time_s, 0), 0)[:, 2]
    assert pair.score == pytest.approx(gained.mean() - ps.DOUBT * gained.std() / np.sqrt(12))


def test_of_equally_good_second_probes_the_first_in_the_order_of_columns_is_taken() -> None:
    assert ps.search_probes(few([[8.0, 9.0, 4.0, 4.0]] * 6), default=0).second == 2


def test_variants_of_a_program_are_one_voice_in_the_choice_of_the_probe() -> None:
    rows = [[8.0, 4.0, 8.0]] * 6 + [[8.0, 8.0, 2.0], [8.0, 8.0, 2.1], [8.0, 8.0, 2.2]]
    alone = few(rows)
    assert ps.search_probes(alone, 0).second == 1
    programs = tuple(
        Program(name=p.name, command=("x",), group="same" if n < 6 else p.name) for n, p in enumerate(alone.programs)
    )
    assert ps.search_probes(replace(alone, programs=programs), 0).second == 2


def test_a_gamble_is_left_alone() -> None:
    """Under b half of the programs gain much and half lose as much, less a little, and c does not tell which."""
    observations = few([[8.0, 2.0 if n % 2 else 30.0, 8.0] for n in range(8)])
    gains = gains_of(observations.time_s, 0)
    assert gains[:, 1].mean() > 0.02
    found = ex.predict_gains(ps.learn_gain_model(observations, (0, 2)), observations.mappings[::2], 0.0)
    assert int(ex.risk_adjusted_gain(found.gain, found.deviation, 0).argmax()) == 0


@pytest.mark.parametrize("counters", [True, False])
def test_what_is_advised_is_what_the_model_predicts(counters: bool) -> None:
    dataset = planted_dataset(20, jitter=0.3, counters=counters)
    observations = observe(dataset)
    known, new = observations.rows(range(15)), observations.rows(range(15, 20))
    model = train_on(known, dataset, OPTIONS)
    predicted = [predict_row(model, new, row).mapping for row in range(5)]
    columns = ps.advised_columns(known, new, observations.column(model.default))
    assert [observations.mappings[column] for column in columns] == predicted
    assert len(set(predicted)) > 1


def test_the_search_needs_another_mapping_than_the_default() -> None:
    with pytest.raises(InsufficientDataError, match="two probes"):
        ps.search_probes(few([[1.0, 2.0]]), 1, (1,))


def test_a_model_of_expectations_is_read_back_and_predicts() -> None:
    dataset = planted_dataset(15)
    model = train(dataset, OPTIONS)
    assert (
        msgspec.json.decode(msgspec.json.encode(model, enc_hook=to_label), type=type(model), dec_hook=from_label)
        == model
    )
    observations = observe(dataset)
    columns = [observations.column(probe.mapping) for probe in model.probes]
    row = observations.names.index("stream-1")
    readings = [
        ProbeReading(model.probes[n].mapping, float(observations.time_s[row, c])) for n, c in enumerate(columns)
    ]
    prediction = predict(model, readings)
    assert prediction.mapping == prediction.ranked[0].mapping
    default_s = observations.time_s[row, observations.column(model.default)]
    speedup = default_s / observations.time_s[row, observations.column(prediction.mapping)]
    assert prediction.expected_speedup.low <= speedup <= prediction.expected_speedup.high
    longer = [msgspec.structs.replace(reading, time_s=100 * reading.time_s) for reading in readings]
    assert predict(model, longer).mapping == prediction.mapping


def test_one_group_alone_expects_nothing() -> None:
    """Nothing was held out, so nothing says how far an expectation would be off: the cluster chooses."""
    dataset = planted_dataset(4)
    one = msgspec.structs.replace(
        dataset, programs=tuple(msgspec.structs.replace(program, group="same") for program in dataset.programs)
    )
    assert train(one, OPTIONS).gain_model is None
    assert train(dataset, OPTIONS).gain_model is not None


@pytest.mark.slow
@pytest.mark.usefixtures("few_trees")
@pytest.mark.parametrize("counters", [True, False])
def test_held_out_programs_get_most_of_their_gain(counters: bool) -> None:
    evaluation = evaluate_held_out(planted_dataset(15, counters=counters), OPTIONS)
    captured = evaluation.gain_captured
    assert captured is not None
    assert captured > 0.8


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"gain": (0.0,)}, "a value a mapping"),
        ({"slope": ()}, "a value a mapping"),
        ({"deviation": (0.0, 1.0)}, "must be positive"),
        ({"noise": 0.0}, "must be positive"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change: dict[str, object], says: str) -> None:
    good = {
        "mappings": (mapping_named("a"), mapping_named("b")),
        "centre": 0.0,
        "gain": (0.0, 1.0),
        "slope": (0.0, 1.0),
        "deviation": (0.1, 0.2),
    }
    ex.GainModel(**good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=says):
        ex.GainModel(**{**good, **change})  # type: ignore[arg-type]
