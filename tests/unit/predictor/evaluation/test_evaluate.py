import functools
from pathlib import Path

import joblib
import msgspec
import numpy as np
import pytest
from joblib.memory import MemorizedFunc

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping, mapping_named, to_label
from numapredict.collect.measurement import Measurement
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.evaluation import folds, ml_baselines
from numapredict.predictor.evaluation.evaluate import Evaluation, evaluate_held_out, together
from numapredict.predictor.evaluation.search_curve import own_knowledge, searched
from numapredict.predictor.learning.features import gains_of, observe
from numapredict.predictor.learning.options import TrainingOptions
from tests.planted import planted_dataset

pytestmark = pytest.mark.usefixtures("few_trees")
DEFAULTS = TrainingOptions()
DEFAULT = mapping_named("32x4-contiguous-first-touch")


@functools.cache
def evaluated(programs: int, options: TrainingOptions = DEFAULTS) -> Evaluation:
    """Return the evaluation of so many planted programs; it is made once for all tests."""
    return evaluate_held_out(planted_dataset(programs), options)


def with_times(dataset: Dataset, program: str, keep: tuple[str, ...], seed: int) -> Dataset:
    """Return the dataset with one program's figures replaced by nonsense, except under the kept labels."""
    generator = np.random.default_rng(seed)

    def wild(m: Measurement) -> Measurement:
        if m.program != program or m.mapping in keep:
            return m
        time_s = float(np.exp(generator.normal(0, 4)))
        return msgspec.structs.replace(m, repetitions=(msgspec.structs.replace(m.repetitions[0], time_s=time_s),))

    return msgspec.structs.replace(dataset, measurements=tuple(map(wild, dataset.measurements)))


def fold_of(dataset: Dataset, group: str) -> folds.Fold:
    """Return the fold of an evaluation that holds out one group."""
    return folds.evaluate_group(observe(dataset, DEFAULT), folds.dataset_frame(dataset), DEFAULT, group)


RECIPE = tuple(map(mapping_named, ("16x4-contiguous-balance", "16x2-contiguous-locality")))


@pytest.mark.thorough
@pytest.mark.parametrize("program", ["stream-0", "line-solve-1", "fine-grain-1"])
def test_a_search_for_a_held_out_program_knows_its_runs_alone(program: str) -> None:
    dataset = planted_dataset(10)
    before = next(h for h in evaluated(10).held_out if h.program == program)
    row = [held.program for held in evaluated(10).held_out].index(program)
    observations = observe(dataset, DEFAULT)
    own = own_knowledge(observations, observations.column(DEFAULT))
    columns = searched(observations, observations.column(DEFAULT), own).columns[row]
    ran = tuple(observations.mappings[column] for column in columns)
    changed = with_times(dataset, program, (*ran, *RECIPE), seed=5)
    after = next(h for h in evaluate_held_out(changed).held_out if h.program == program)
    same = ("mapping", "after_runs", "forecasts", "cluster")
    assert [getattr(after, name) for name in same] == [getattr(before, name) for name in same]
    assert after.regret != before.regret, "the judgement itself does use the program's times"


@pytest.mark.parametrize("program", ["stream-0", "line-solve-1"])
def test_the_other_learners_choose_without_the_held_out_program(program: str) -> None:
    """Nonsense in place of its times, but for those that are read: each learner's choice stays, by what it gains."""
    dataset = planted_dataset(10)
    row = next(n for n, p in enumerate(dataset.programs) if p.name == program)
    before = chosen_by_others(dataset, row)
    probes = before.pop("probes")
    assert set(before) == {"nearest neighbours", "decision tree", "random forest", "thesis recipe"}
    for seed in range(3):
        changed = with_times(dataset, program, (*probes, *RECIPE, DEFAULT), seed=seed)
        after = chosen_by_others(changed, row)
        assert after["probes"] == probes
        assert all(set(labels) & set(after[name]) for name, labels in before.items())


def chosen_by_others(dataset: Dataset, row: int) -> dict[str, list[AnyMapping]]:
    """Return the mappings whose gain each learner got in the fold of one program, the thesis's, and our probes."""
    observations = observe(dataset, DEFAULT)
    name, mappings = observations.names[row], observations.mappings
    fold = fold_of(dataset, observations.groups[row])
    gains = gains_of(observations.time_s, observations.column(DEFAULT))[row]
    runs = [mappings[column] for column in fold.forest_runs[name]]
    assert fold.clustered[name].probes == tuple(map(observations.column, RECIPE))
    found = {"probes": runs[:2], "thesis recipe": [mappings[fold.clustered[name].column]]}
    for learner, by_program in fold.ml_baselines.items():
        found[learner] = [each for each, gain in zip(mappings, gains, strict=True) if gain == by_program[name]]
    assert runs[0] == DEFAULT
    assert {*runs[:3]} & {*found["random forest"]}
    assert sorted(map(str, runs)) == sorted(map(str, mappings))
    return found


def test_variants_of_the_held_out_program_do_not_help() -> None:
    dataset = planted_dataset(10)
    grouped = msgspec.structs.replace(
        dataset,
        programs=tuple(msgspec.structs.replace(p, group=p.name.rsplit("-", 1)[0]) for p in dataset.programs),
    )
    before = {h.program: h for h in evaluate_held_out(grouped).held_out}["stream-0"]
    changed = with_times(grouped, "stream-1", (*RECIPE, DEFAULT), seed=6)
    after = {h.program: h for h in evaluate_held_out(changed).held_out}["stream-0"]
    assert (after.mapping, after.after_runs, after.cluster) == (before.mapping, before.after_runs, before.cluster)


def test_definitions_hold_for_every_program() -> None:
    dataset = planted_dataset(10, jitter=0.4)
    observations = observe(dataset)
    evaluation = evaluate_held_out(dataset)
    assert evaluation.default == DEFAULT
    assert [h.program for h in evaluation.held_out] == list(observations.names)
    for held, time_s in zip(evaluation.held_out, observations.time_s, strict=True):
        default_s, chosen_s = time_s[observations.column(DEFAULT)], time_s[observations.column(held.mapping)]
        assert held.speedup == pytest.approx(default_s / chosen_s)
        assert held.oracle_speedup == pytest.approx(default_s / time_s.min())
        assert held.regret == pytest.approx(chosen_s / time_s.min() - 1)
        assert held.regret >= 0
        if held.gain_captured is not None:
            assert held.gain_captured == pytest.approx(np.log(held.speedup) / np.log(held.oracle_speedup))
    speedups = [h.speedup for h in evaluation.held_out]
    assert evaluation.speedup.geometric == pytest.approx(np.exp(np.log(speedups).mean()))
    assert evaluation.regret.median == pytest.approx(np.median([h.regret for h in evaluation.held_out]))


@pytest.mark.thorough
def test_planted_kinds_are_predicted_nearly_as_well_as_can_be() -> None:
    evaluation = evaluated(15)
    baselines = evaluation.baselines
    assert evaluation.gain_captured is not None
    assert evaluation.gain_captured > 0.95
    assert evaluation.speedup.geometric > baselines["fixed"].speedup.geometric
    assert baselines["default"].speedup.geometric == 1.0
    assert evaluation.speedup.geometric <= baselines["oracle"].speedup.geometric + 1e-12


def test_folds_in_two_processes_give_the_same(few_trees: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ml_baselines, "TREES", few_trees)  # as in the other processes
    dataset = planted_dataset(3)
    assert evaluate_held_out(dataset, jobs=2) == evaluate_held_out(dataset)


def test_speedups_are_over_the_default_of_the_options() -> None:
    evaluation = evaluate_held_out(
        planted_dataset(5, counters=False),
        TrainingOptions(n_clusters=2, default=mapping_named("16x2-contiguous-locality")),
    )
    assert evaluation.options.n_clusters == 2
    assert evaluation.default == mapping_named("16x2-contiguous-locality")


def test_by_the_thesis_s_method_its_choice_is_judged() -> None:
    ours, thesis = evaluated(10), evaluated(10, TrainingOptions(method="thesis"))
    assert thesis.speedup == ours.baselines["thesis recipe"].speedup
    assert thesis.by_runs == ours.by_runs
    assert "search of 2 runs" in ours.baselines
    assert "search of 2 runs" not in thesis.baselines


def test_one_group_cannot_be_held_out() -> None:
    with pytest.raises(InsufficientDataError, match="at least two"):
        evaluate_held_out(planted_dataset(1))


def test_an_evaluation_can_be_printed_as_json() -> None:
    document = msgspec.json.decode(msgspec.json.encode(together([evaluated(5)]), enc_hook=to_label))
    wanted = {"programs", "gain_captured", "speedup", "oracle_speedup", "regret", "slower_than_default"}
    for score in (document, *document["baselines"].values(), *document["datasets"]):
        assert set(score) >= wanted
        assert score["programs"] == 5
        assert set(score["speedup"]) == set(score["oracle_speedup"]) == {"geometric", "arithmetic"}
        assert set(score["regret"]) == {"median", "p95", "max"}
    assert len(document["datasets"][0]["held_out"]) == 5


def test_one_dataset_together_is_that_dataset() -> None:
    evaluation = evaluated(5)
    whole = together([evaluation])
    for one, all_ in ((evaluation, whole), (evaluation.baselines["fixed"], whole.baselines["fixed"])):
        assert all_.programs == one.programs == 5
        assert all_.gain_captured == pytest.approx(one.gain_captured)
        assert all_.speedup.arithmetic == pytest.approx(one.speedup.arithmetic)
        assert all_.regret.p95 == pytest.approx(one.regret.p95)
        assert all_.slower_than_default == one.slower_than_default


def test_datasets_together_weigh_by_their_programs() -> None:
    one, two = evaluated(5), evaluate_held_out(planted_dataset(10, seed=3, counters=False))
    whole = together([one, two])
    assert whole.programs == 15
    logs = [np.log(held.speedup) for e in (one, two) for held in e.held_out]
    assert whole.speedup.geometric == pytest.approx(np.exp(np.mean(logs)))
    assert set(whole.baselines) == set(one.baselines) & set(two.baselines)


def test_finished_folds_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset, memory = planted_dataset(5), joblib.Memory(tmp_path, verbose=0)
    monkeypatch.setattr(MemorizedFunc._persist_input, "__defaults__", (-1.0,))  # any disk is too slow: it would warn
    first = evaluate_held_out(dataset, memory=memory)

    def fail(*_given: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(folds, "train_on", fail)
    assert evaluate_held_out(dataset, memory=memory) == first
    with pytest.raises(AssertionError, match="trained again"):
        evaluate_held_out(planted_dataset(5, seed=2), memory=memory)
