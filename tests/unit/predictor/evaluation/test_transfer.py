import msgspec
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.predictor.evaluation.evaluate import evaluate_held_out, together
from numapredict.predictor.evaluation.evaluation_text import evaluations_in_words
from numapredict.predictor.evaluation.transfer import evaluate_transfer, same_shape
from numapredict.predictor.learning.learning import options_of
from tests.planted import four_by_eight, planted_dataset
from tests.shapes import shape

pytestmark = pytest.mark.usefixtures("few_trees")
OPTIONS = options_of(None, None)


def of_machine(dataset: Dataset, machine: str) -> Dataset:
    return msgspec.structs.replace(
        dataset,
        machine=machine,
        measurements=tuple(msgspec.structs.replace(m, machine=machine) for m in dataset.measurements),
    )


@pytest.mark.thorough
def test_a_model_of_one_machine_serves_its_twin() -> None:
    one, twin = planted_dataset(15, seed=1), of_machine(planted_dataset(10, seed=2), "twin")
    there, back = evaluate_transfer([one, twin], [OPTIONS, OPTIONS])
    assert (there.trained_on, there.machine, there.programs) == ("planted-4x8", "twin", 10)
    assert (back.trained_on, back.machine, back.programs) == ("twin", "planted-4x8", 15)
    assert there.gain_captured is not None
    assert there.gain_captured > 0.7
    held_out = evaluate_held_out(planted_dataset(5))
    text = evaluations_in_words(together([held_out, msgspec.structs.replace(held_out, machine="twin")], (there, back)))
    assert "planted-4x8 -> twin" in text


def test_what_both_machines_ran_is_held_out() -> None:
    """The twin's only good teacher for its stream is the same stream elsewhere, which must not teach it."""
    one, twin = planted_dataset(10, seed=1), of_machine(planted_dataset(10, seed=1), "twin")
    across = evaluate_transfer([one, twin], [OPTIONS, OPTIONS])[0]
    held_out = evaluate_held_out(one, OPTIONS)
    assert across.speedup.geometric == pytest.approx(held_out.speedup.geometric)


def test_a_program_is_held_out_with_its_group_there_whatever_the_group_is_called_here() -> None:
    one, twin = planted_dataset(10, seed=1), of_machine(planted_dataset(10, seed=1), "twin")
    renamed = msgspec.structs.replace(
        one, programs=tuple(msgspec.structs.replace(p, group=f"other {p.group}") for p in one.programs)
    )
    assert (
        evaluate_transfer([renamed, twin], [OPTIONS, OPTIONS])[0]
        == evaluate_transfer([one, twin], [OPTIONS, OPTIONS])[0]
    )


def test_machines_of_another_shape_are_not_compared() -> None:
    assert same_shape(four_by_eight(), four_by_eight())
    assert not same_shape(four_by_eight(), shape((16, 16)))
    assert not same_shape(four_by_eight(), None)
    assert not same_shape(None, None)
    assert evaluate_transfer([planted_dataset(5)], [OPTIONS]) == ()


def test_a_twin_without_counters_is_asked_by_times_alone() -> None:
    one, twin = planted_dataset(10, seed=1), of_machine(planted_dataset(10, seed=2, counters=False), "twin")
    there, back = evaluate_transfer([one, twin], [OPTIONS, OPTIONS])
    assert there.programs == back.programs == 10


def test_times_of_whole_runs_and_of_regions_are_not_mixed() -> None:
    one, twin = planted_dataset(5, seed=1), of_machine(planted_dataset(5, seed=2), "twin")
    timed = tuple(
        msgspec.structs.replace(
            m, repetitions=(msgspec.structs.replace(m.repetitions[0], region_time_s=m.repetitions[0].time_s / 2),)
        )
        for m in twin.measurements
    )
    assert evaluate_transfer([one, msgspec.structs.replace(twin, measurements=timed)], [OPTIONS, OPTIONS]) == ()
