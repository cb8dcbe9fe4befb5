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
def test_holding_out_in_one_fit_is_refitting_without_the_group(seed: int, groups: list[int]) -> None:
    """With the centre and scale of all programs, and weights that are not made to add up to 1 again."""
    names = [str(group) for group in groups]
    if len(set(names)) < 2:
        return
    generator = np.random.default_rng(seed)
    readings, gains = generator.normal(size=(len(names), 3)), generator.normal(size=(len(names), 4))
    weights = ex.group_weights(names)
    centre, scale, _, _ = ex.regress(readings, gains, weights)
    rows = np.hstack([np.ones((len(names), 1)), (readings - centre) / scale])
    found = ex.held_out_gains(readings, gains, names)
    for name in set(names):
        inside = np.array(names) != name
        weighted = (rows[inside] * weights[inside, None]).T
        penalty = np.diag([0.0, *[ex.RIDGE] * 3])
        slopes = np.linalg.solve(weighted @ rows[inside] + penalty, weighted @ gains[inside])
        assert found[~inside] == pytest.approx(rows[~inside] @ slopes, abs=1e-6)


def test_a_single_group_expects_its_own_mean() -> None:
    gains = np.array([[0.0, 1.0], [0.0, 3.0]])
    assert ex.held_out_gains(np.array([[1.0], [2.0]]), gains, ["a", "a"]).tolist() == [[0.0, 2.0], [0.0, 2.0]]


def test_the_default_gains_nothing_and_what_was_measured_is_known() -> None:
    expected, deviation = np.array([[0.3, 2.0, 1.0]]), np.array([0.05, 0.4, 0.6])
    gain, spread = ex.with_what_is_known(expected, deviation, np.array([[8.0, 2.0]]), (0, 2), default=0)
    assert gain.tolist() == [[0.0, 2.0, 2.0]]
    assert spread.tolist() == [[0.0, 0.4, ex.MEASURED_NOISE]]
    gain, _ = ex.with_what_is_known(expected, deviation, np.array([[8.0, 2.0]]), (1, 2), default=0)
    assert gain.tolist() == [[0.0, 2.0, 1.0]]


def test_what_is_little_known_must_promise_more() -> None:
    gain, deviation = np.array([0.0, 0.5, 0.45, 0.1]), np.array([0.0, 0.8, 0.1, 0.9])
    assert int(ex.risk_adjusted_gain(gain, deviation, 0.0, 0).argmax()) == 1
    assert int(ex.risk_adjusted_gain(gain, deviation, 0.5, 0).argmax()) == 2
    doubtful = ex.risk_adjusted_gain(np.array([0.0, 0.3]), np.array([0.0, 0.8]), 0.5, 0)
    assert int(doubtful.argmax()) == 0  # the default is kept


def test_less_than_a_hundredth_is_no_reason_to_leave_the_default() -> None:
    known = np.zeros(2)
    assert int(ex.risk_adjusted_gain(np.array([0.0, np.log2(1.009)]), known, 0.0, 0).argmax()) == 0
    assert int(ex.risk_adjusted_gain(np.array([0.0, np.log2(1.011)]), known, 0.0, 0).argmax()) == 1


def test_readings_do_not_change_with_the_length_of_a_run() -> None:
    floors = np.array([1.0, 0.1])
    short = ex.readings_of(np.array([[2.0, 4.0]]), np.array([[8.0, 0.01]]), floors)
    assert short.tolist() == ex.readings_of(np.array([[20.0, 40.0]]), np.array([[8.0, 0.02]]), floors).tolist()
    assert short[0] == pytest.approx([-1.0, 3.0, np.log2(0.1)])


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
    assert ps.held_out_choices(observations, gains, (0, 2), (0.75,)).tolist() == [[0.0] * 8]


def test_the_risk_weight_is_the_least_that_lets_no_held_out_program_lose() -> None:
    # b gains as much as it loses and a little more, and c does not tell for whom: without caution b is taken.
    doubtful = few([[8.0, 4.0 if n % 2 else 14.0, 8.0] for n in range(8)])
    gains = gains_of(doubtful.time_s, 0)
    got = ps.held_out_choices(doubtful, gains, (0, 2), ps.RISK_WEIGHTS)
    assert (got[0] < 0).any()
    risk_weight = ps.choose_risk_weight(doubtful, 0, 2)
    assert not (got[ps.RISK_WEIGHTS.index(risk_weight)] < 0).any()
    assert all((got[n] < 0).any() for n, tried in enumerate(ps.RISK_WEIGHTS) if tried < risk_weight)


def test_where_no_program_loses_the_risk_weight_is_what_gains_most() -> None:
    # c tells how much b gains, with some noise: any discount only costs.
    generator = np.random.default_rng(4)
    factor = generator.uniform(1.1, 4, 12)
    telling = few([[8.0, 8.0 / f * generator.uniform(0.97, 1.03), 8.0 * f] for f in factor])
    got = ps.held_out_choices(telling, gains_of(telling.time_s, 0), (0, 2), ps.RISK_WEIGHTS).mean(axis=1)
    risk_weight = ps.choose_risk_weight(telling, 0, 2)
    assert got[ps.RISK_WEIGHTS.index(risk_weight)] == got.max()


def test_one_loser_in_a_hundred_is_borne_and_two_are_not() -> None:
    """b gains 10% for all but some, who lose 3%: more than the 2% that count as slower."""
    for losers, kept in ((0, 0.0), (1, 0.0), (3, 1.0)):
        rows = [[8.0, 8.0 / 1.1, 8.0]] * (100 - losers) + [[8.0, 8.0 * 1.03, 8.0]] * losers
        observations = few(rows)
        gains = gains_of(observations.time_s, 0)
        risk_weight = ps.choose_risk_weight(observations, 0, 2)
        got = ps.held_out_choices(observations, gains, (0, 2), (risk_weight,))[0]
        assert (got <= 0).mean() == pytest.approx(kept if losers == 3 else losers / 100), losers


def test_a_loss_of_less_than_two_in_a_hundred_counts_as_none() -> None:
    rows = [[8.0, 8.0 / 1.2, 8.0]] * 20 + [[8.0, 8.0 * 1.015, 8.0]] * 20
    observations = few(rows)
    got = ps.held_out_choices(observations, gains_of(observations.time_s, 0), (0, 2), (0.0,))[0]
    assert (got < 0).any()
    assert ps.choose_risk_weight(observations, 0, 2) == 0.0


def test_a_group_counts_once_among_the_losers() -> None:
    rows = [[8.0, 8.0 / 1.2, 8.0]] * 60 + [[8.0, 8.0 * 1.03, 8.0]] * 3
    alone = few(rows)
    assert ps.choose_risk_weight(alone, 0, 2) > 0
    programs = tuple(
        Program(name=p.name, command=("x",), group="same" if n < 50 or n >= 60 else p.name)
        for n, p in enumerate(alone.programs)
    )
    together = replace(alone, programs=programs)
    gains = gains_of(together.time_s, 0)
    lost = ps.held_out_choices(together, gains, (0, 2), (0.0,))[0] < -np.log2(1.02)
    assert (ex.group_weights(together.groups)[lost]).sum() < ps.LOSERS < lost.mean()
    assert ps.choose_risk_weight(together, 0, 2) == 0.0


def test_the_model_keeps_the_chosen_risk_weight() -> None:
    dataset = planted_dataset(15, jitter=0.3)
    model = train(dataset, OPTIONS)
    observations = observe(dataset)
    second = next(probe.mapping for probe in model.probes if probe.mapping != model.default)
    columns = (observations.column(model.default), observations.column(second))
    assert model.gain_model is not None
    assert model.gain_model.risk_weight == ps.choose_risk_weight(observations, *columns)


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
    local = observations.local_bandwidth_GBps
    assert local is not None
    columns = [observations.column(probe.mapping) for probe in model.probes]
    row = observations.names.index("stream-1")
    readings = [
        ProbeReading(model.probes[n].mapping, float(observations.time_s[row, c]), float(local[row, c]))
        for n, c in enumerate(columns)
    ]
    prediction = predict(model, readings)
    assert prediction.mapping == prediction.ranked[0].mapping
    default_s = observations.time_s[row, observations.column(model.default)]
    speedup = default_s / observations.time_s[row, observations.column(prediction.mapping)]
    assert prediction.expected_speedup.low <= speedup <= prediction.expected_speedup.high
    longer = [msgspec.structs.replace(reading, time_s=100 * reading.time_s) for reading in readings]
    assert predict(model, longer).mapping == prediction.mapping
    blind = [msgspec.structs.replace(reading, local_bandwidth_GBps=None) for reading in readings]
    alone = msgspec.structs.replace(model, fallbacks=())
    with pytest.raises(InsufficientDataError, match="local_bandwidth_GBps"):
        predict(alone, blind)


def test_one_group_alone_expects_nothing() -> None:
    """Nothing was held out, so nothing says how far an expectation would be off: the cluster chooses."""
    dataset = planted_dataset(4)
    one = msgspec.structs.replace(
        dataset, programs=tuple(msgspec.structs.replace(program, group="same") for program in dataset.programs)
    )
    assert train(one, OPTIONS).gain_model is None
    assert train(dataset, OPTIONS).gain_model is not None


@pytest.mark.thorough
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
        ({"slopes": ()}, "a value a reading"),
        ({"deviation": (0.0, 1.0)}, "must be positive"),
        ({"floors_GBps": (1.0, 1.0)}, "a value a reading"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change: dict[str, tuple[float, ...]], says: str) -> None:
    good = {
        "mappings": (mapping_named("a"), mapping_named("b")),
        "centre": (0.0,),
        "scale": (1.0,),
        "gain": (0.0, 1.0),
        "slopes": ((0.0, 1.0),),
        "deviation": (0.1, 0.2),
        "floors_GBps": (),
    }
    ex.GainModel(**good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=says):
        ex.GainModel(**{**good, **change})  # type: ignore[arg-type]


def test_without_bandwidths_times_are_enough() -> None:
    observations = replace(observe(planted_dataset(10)), local_bandwidth_GBps=None, local_share=None)
    _, readings, floors = ps.readings_at(observations, (0, 1))
    assert (readings.shape[1], len(floors)) == (1, 0)
