"""The judges of explanations: exact on hand-made runs, and on the shipped datasets better than a guess by far."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.collect.data.dataset import Dataset, write_dataset
from numapredict.collect.mapping import mapping_named
from numapredict.collect.modelled.description import load_description
from numapredict.collect.program import Program
from numapredict.native.errors import InsufficientDataError, NoModelError
from numapredict.predictor.evaluation.explanation_check import CLAIMS, RuleScore, check_datasets, check_explanations
from numapredict.predictor.evaluation.ground_truth import GroundTruth
from numapredict.predictor.learning.datasets import open_dataset, shipped_datasets
from numapredict.predictor.learning.features import Observations
from numapredict.predictor.learning.model_choice import choose_model
from tests.planted import planted_dataset

DEFAULT = mapping_named("8x4-contiguous-first-touch")
OTHERS = (
    "4x4-contiguous-first-touch",
    "8x4-contiguous-interleave",
    "8x4-scatter-locality",
    "8x2-contiguous-locality",
    "8x4-contiguous-interleave@2",
)
MAPPINGS = (DEFAULT, *map(mapping_named, OTHERS))


@pytest.fixture(scope="module")
def observations() -> Observations:
    return Observations(
        programs=tuple(Program(name=name, command=("p",)) for name in ("p.serial", "p.parallel", "q.serial")),
        mappings=MAPPINGS,
        time_s=np.array([[8.0, 10.0, 5.0, 2.0, 1.0, 0.5], [4.0, 8, 5, 4, 9, 9], [1.0, 1, 1, 1, 1, 1]]),
        local_share=np.array([[0.5, 0.5, 0.4, 0.8, 1.0, 0.9], [1.0, 1, 0.5, 1, 1, 1], [0.0, 0, 0, 0, 0, 0]]),
    )


def test_ground_truth_is_read_from_the_other_runs(observations: Observations) -> None:
    serial = GroundTruth(observations, 0, DEFAULT)
    assert serial.serial
    assert serial.gain_of_pages == 4.0  # 8x on fewer nodes and 16x with pages on fewer are no placement on all
    assert serial.range_of_pages == 4.0
    assert serial.most_local == 0.8
    assert serial.half == 1.25
    assert serial.interleaved == 1.6
    assert serial.initialised_in_parallel == 2.0
    parallel = GroundTruth(observations, 1, DEFAULT)
    assert not parallel.serial
    assert parallel.initialised_in_parallel == 1.0


def test_what_was_not_measured_is_not_judged(observations: Observations) -> None:
    assert GroundTruth(observations, 2, DEFAULT).initialised_in_parallel is None
    few = GroundTruth(observations.columns([0, 3, 4]), 0, DEFAULT)
    assert (few.half, few.interleaved) == (None, None)
    bare = Observations(observations.programs, MAPPINGS, observations.time_s)
    assert GroundTruth(bare, 0, DEFAULT).most_local is None


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return open_dataset("sandybridge-4x8")


@pytest.fixture(scope="module")
def scores(dataset: Dataset) -> tuple[RuleScore, ...]:
    assert dataset.topology is not None
    chosen = choose_model(dataset.machine, dataset.topology, dataset.machine)
    assert chosen is not None
    return check_explanations(dataset, chosen.model, load_description(dataset.machine).controller_read_GBps)


def test_scores_count_what_was_said_and_what_was_right(scores: tuple[RuleScore, ...]) -> None:
    assert [score.rule for score in scores] == [*CLAIMS, *CLAIMS]
    for score in scores:
        assert score.right <= score.said <= score.cases
        assert bool(score.wrong) == (score.right < score.said)
    known = {(score.reads, score.rule): score for score in scores}
    initialised = known["bandwidth", "one node"]
    assert (initialised.holds, initialised.cases) == (64, 128)  # every codelet once with either initialisation
    assert known["share", "all nodes' bandwidth"].said == known["share", "not memory"].said == 0
    assert known["share", "one node"].said < known["bandwidth", "one node"].said  # shares alone say less


def test_limits_of_controllers_are_needed_for_the_rule_on_them(dataset: Dataset) -> None:
    assert dataset.topology is not None
    chosen = choose_model(dataset.machine, dataset.topology, dataset.machine)
    assert chosen is not None
    without = check_explanations(dataset, chosen.model)
    assert sum(score.said for score in without if score.rule == "all nodes' bandwidth") == 0


@pytest.mark.thorough
def test_a_rule_that_is_said_is_borne_out_on_every_shipped_dataset() -> None:
    scores = check_datasets(shipped_datasets())
    for rule in CLAIMS:
        for reads in ("bandwidth", "share"):
            of = [score for score in scores if (score.rule, score.reads) == (rule, reads)]
            said, right = sum(score.said for score in of), sum(score.right for score in of)
            guess = sum(score.holds for score in of) / max(sum(score.cases for score in of), 1)
            assert not said or right / said > max(0.9, guess + 0.3), (rule, reads, right, said)
            assert all(score.right >= 0.75 * score.said for score in of), rule


def test_programs_that_are_no_codelets_are_refused() -> None:
    planted = planted_dataset(10)
    assert planted.topology is not None
    chosen = choose_model("sandybridge-4x8", planted.topology, "sandybridge-4x8")
    assert chosen is not None
    with pytest.raises(InsufficientDataError, match="collect codelets"):
        check_explanations(planted, chosen.model)


def test_a_dataset_without_the_probes_is_refused(dataset: Dataset) -> None:
    assert dataset.topology is not None
    chosen = choose_model(dataset.machine, dataset.topology, dataset.machine)
    assert chosen is not None
    for mapping in (chosen.model.default, *(probe.mapping for probe in chosen.model.probes)):
        others = tuple(m for m in dataset.measurements if m.mapping != mapping)
        with pytest.raises(InsufficientDataError, match=mapping.label):
            check_explanations(msgspec.structs.replace(dataset, measurements=others), chosen.model)


def test_a_dataset_without_a_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path))
    write_dataset(planted_dataset(5), tmp_path / "planted")
    with pytest.raises(NoModelError, match="no model for planted-4x8: numapredict train --dataset"):
        check_datasets([str(tmp_path / "planted")])
