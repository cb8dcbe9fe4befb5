import msgspec
import numpy as np
import pytest

from numapredict.collect.dataset import Dataset
from numapredict.collect.measurement import Measurement
from numapredict.predictor.evaluate import evaluate_held_out
from numapredict.predictor.features import InsufficientDataError, observe
from numapredict.predictor.options import TrainingOptions
from tests.planted import planted_dataset

DEFAULT = "32x4-contiguous-first-touch"


def with_times(dataset: Dataset, program: str, keep: tuple[str, ...], seed: int) -> Dataset:
    """Return the dataset with one program's figures replaced by nonsense, except under the kept labels."""
    generator = np.random.default_rng(seed)

    def wild(m: Measurement) -> Measurement:
        if m.program != program or m.mapping.label in keep:
            return m
        time_s = float(np.exp(generator.normal(0, 4)))
        return msgspec.structs.replace(m, repetitions=(msgspec.structs.replace(m.repetitions[0], time_s=time_s),))

    return msgspec.structs.replace(dataset, measurements=tuple(map(wild, dataset.measurements)))


@pytest.mark.parametrize("program", ["stream-0", "line-solve-1", "fine-grain-1"])
def test_a_held_out_program_is_judged_by_its_probes_alone(program: str) -> None:
    dataset = planted_dataset(10)
    before = next(h for h in evaluate_held_out(dataset).programs if h.program == program)
    changed = with_times(dataset, program, before.probes, seed=5)
    after = next(h for h in evaluate_held_out(changed).programs if h.program == program)
    same = ("mapping", "expected_speedup", "probes", "features", "n_clusters", "ambiguity", "familiar")
    assert [getattr(after, name) for name in same] == [getattr(before, name) for name in same]
    assert after.regret != before.regret, "the judgement itself does use the program's times"


def test_variants_of_the_held_out_program_do_not_help() -> None:
    dataset = planted_dataset(10)
    grouped = msgspec.structs.replace(
        dataset,
        programs=tuple(msgspec.structs.replace(p, group=p.name.rsplit("-", 1)[0]) for p in dataset.programs),
    )
    before = {h.program: h for h in evaluate_held_out(grouped).programs}
    changed = with_times(grouped, "stream-1", before["stream-0"].probes, seed=6)
    after = {h.program: h for h in evaluate_held_out(changed).programs}
    assert after["stream-0"].mapping == before["stream-0"].mapping
    assert after["stream-0"].expected_speedup == before["stream-0"].expected_speedup


def test_definitions_hold_for_every_program() -> None:
    dataset = planted_dataset(10, jitter=0.4)
    observations = observe(dataset)
    evaluation = evaluate_held_out(dataset)
    assert evaluation.default == DEFAULT
    assert [h.program for h in evaluation.programs] == list(observations.names)
    for held, time_s in zip(evaluation.programs, observations.time_s, strict=True):
        default_s, chosen_s = time_s[observations.column(DEFAULT)], time_s[observations.column(held.mapping)]
        assert held.speedup == pytest.approx(default_s / chosen_s)
        assert held.oracle_speedup == pytest.approx(default_s / time_s.min())
        assert held.regret == pytest.approx(chosen_s / time_s.min() - 1)
        assert held.regret >= 0
        if held.gain_captured is not None:
            assert held.gain_captured == pytest.approx(np.log(held.speedup) / np.log(held.oracle_speedup))
    speedups = [h.speedup for h in evaluation.programs]
    assert evaluation.summary.speedup_geometric_mean == pytest.approx(np.exp(np.log(speedups).mean()))
    assert evaluation.summary.regret_median == pytest.approx(np.median([h.regret for h in evaluation.programs]))


def test_planted_kinds_are_predicted_nearly_as_well_as_can_be() -> None:
    evaluation = evaluate_held_out(planted_dataset(15))
    baselines = {b.name: b.summary for b in evaluation.baselines}
    assert evaluation.summary.gain_captured is not None
    assert evaluation.summary.gain_captured > 0.95
    assert evaluation.summary.speedup_geometric_mean > baselines["fixed"].speedup_geometric_mean
    assert baselines["default"].speedup_geometric_mean == 1.0
    assert evaluation.summary.speedup_geometric_mean <= baselines["oracle"].speedup_geometric_mean + 1e-12


def test_folds_in_two_processes_give_the_same() -> None:
    dataset = planted_dataset(5)
    assert evaluate_held_out(dataset, jobs=2) == evaluate_held_out(dataset, jobs=1)


def test_options_reach_the_folds() -> None:
    evaluation = evaluate_held_out(
        planted_dataset(5, counters=False), TrainingOptions(n_clusters=2, default="16x2-contiguous-locality")
    )
    assert {h.n_clusters for h in evaluation.programs} == {2}
    assert {h.features for h in evaluation.programs} == {"times"}
    assert evaluation.default == "16x2-contiguous-locality"


def test_one_group_cannot_be_held_out() -> None:
    with pytest.raises(InsufficientDataError, match="at least two"):
        evaluate_held_out(planted_dataset(1))


def test_an_evaluation_can_be_printed_as_json() -> None:
    document = msgspec.json.decode(msgspec.json.encode(evaluate_held_out(planted_dataset(5))))
    assert len(document["programs"]) == 5
    assert set(document["summary"]) >= {"speedup_geometric_mean", "regret_median", "gain_captured"}
