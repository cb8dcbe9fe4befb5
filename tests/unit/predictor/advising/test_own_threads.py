"""Whether a program has a number of threads of its own, and what is said where it only seems so."""

from collections.abc import Callable

import msgspec
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping, applicable, parse_label
from numapredict.collect.measurement import Measurement
from numapredict.predictor.advising import own_threads
from numapredict.predictor.advising.advice import Advice, advise
from numapredict.predictor.advising.own_threads import own_team
from numapredict.predictor.advising.unknown import Unknown
from numapredict.predictor.learning.datasets import open_dataset
from numapredict.predictor.learning.model_choice import ChosenModel, named_model
from tests.planted import planted_dataset

MACHINE = "sandybridge-4x8"


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """Return what a shipped dataset has of its first program."""
    whole = open_dataset(MACHINE)
    first = whole.programs[0]
    measurements = tuple(m for m in whole.measurements if m.program == first.name)
    return msgspec.structs.replace(whole, programs=(first,), measurements=measurements)


@pytest.fixture(scope="module")
def chosen() -> ChosenModel:
    return ChosenModel(named_model(MACHINE).model, "a shipped model")


def with_teams(dataset: Dataset, teams: Callable[[int], str]) -> RecordedMachine:
    """Return a machine whose programs all have these teams, by the number of threads asked for."""

    def noted(m: Measurement) -> Measurement:
        assert isinstance(m.mapping, Mapping)
        return msgspec.structs.replace(m, provenance=(*m.provenance, ("teams", teams(m.mapping.threads))))

    return RecordedMachine(msgspec.structs.replace(dataset, measurements=tuple(map(noted, dataset.measurements))))


def test_the_number_of_threads_of_which_it_is_half_of_the_time_or_more() -> None:
    def own(teams: str) -> int:
        mapping = parse_label("32x4-contiguous-first-touch")
        m = Measurement(program="app", mapping=mapping, machine=MACHINE, modelled=True, provenance=(("teams", teams),))
        team = own_team(m)
        return team.threads if team else 0

    assert own("8:1.000") == 8
    assert own("32:1.000") == 0
    assert own("8:0.900 32:0.100") == 8
    assert own("8:0.890 32:0.110") == 0  # a tenth and more follows OMP_NUM_THREADS
    assert own("8:0.380 12:0.330 32:0.290") == 0
    assert own("8:0.500 12:0.400 4:0.100") == 8
    assert own("8:0.490 12:0.410 4:0.100") == 0  # no number has half


@pytest.mark.parametrize(
    ("others", "listed"),
    [
        ("8:0.380 12:0.330 {asked}:0.290", "8 in 38%, 12 in 33% of the region time"),
        ("8:0.400 12:0.350 20:0.250", "8 in 40%, 12 in 35%, 20 in 25% of the region time"),
        ("8:0.600 {asked}:0.400", "8 in 60% of the region time"),
        ("{asked}:0.880 12:0.120", "12 in 12% of the region time"),
    ],
)
def test_all_mappings_compete_for_mixed_programs(
    dataset: Dataset, chosen: ChosenModel, others: str, listed: str
) -> None:
    program = dataset.programs[0]
    answer = advise(program, with_teams(dataset, lambda asked: others.format(asked=asked)), chosen)
    plain = advise(program, RecordedMachine(dataset), chosen)
    assert isinstance(answer, Advice)
    assert isinstance(plain, Advice)
    assert answer.own_threads is None
    assert (answer.default, answer.mapping) == (chosen.model.default, plain.mapping)
    assert answer.probes == plain.probes
    assert f"some regions set their own number of threads: {listed}" in answer.warnings


def test_a_program_that_follows_has_no_such_warning(dataset: Dataset, chosen: ChosenModel) -> None:
    answer = advise(dataset.programs[0], with_teams(dataset, lambda asked: f"{asked}:1.000"), chosen)
    assert isinstance(answer, Advice)
    assert not [text for text in answer.warnings if "of their own" in text]


def test_a_number_that_changes_with_what_is_asked_for_is_unknown(
    dataset: Dataset, chosen: ChosenModel, said: list[str]
) -> None:
    machine = with_teams(dataset, lambda asked: f"{max(asked // 2, 1)}:1.000")
    answer = advise(dataset.programs[0], machine, chosen)
    assert isinstance(answer, Unknown)
    asked = applicable(chosen.model.probes[0].mapping).threads
    half, quarter = asked // 2, asked // 4
    assert answer.reason == (
        f"its number of threads depends on OMP_NUM_THREADS: {half} of {asked}, {quarter} of {half}"
    )
    assert any("OMP_NUM_THREADS" in text for text in answer.to_try)
    assert "whatever OMP_NUM_THREADS says" not in "".join(said)


def test_a_number_that_stays_is_advised(dataset: Dataset, chosen: ChosenModel, said: list[str]) -> None:
    machine = with_teams(dataset, lambda asked: f"16:0.920 {asked}:0.080" if asked != 16 else "16:1.000")
    answer = advise(dataset.programs[0], machine, chosen)
    assert isinstance(answer, Advice)
    assert answer.own_threads is not None
    assert answer.own_threads.competing == 16
    assert "16 threads, whatever OMP_NUM_THREADS says" in "".join(said)


def test_mappings_that_are_the_same_with_fewer_threads_are_learned_from_once() -> None:
    """With one thread a node, contiguous and scattered threads are the same ones; with eight they are not."""
    dataset = planted_dataset(1)
    assert dataset.topology is not None

    def of_threads(competing: int) -> set[str]:
        part = own_threads._of_threads(dataset, 32, competing, dataset.topology)
        return {m.mapping.label for m in part.measurements if "-balance" in m.mapping.label}

    assert of_threads(32) == {"32x4-contiguous-balance", "32x4-scatter-balance"}
    assert of_threads(4) == {"4x4-contiguous-balance"}
