"""Whether a program has a number of threads of its own, and what is said where it only seems so."""

from collections.abc import Callable

import msgspec
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.placing.teams import Team
from numapredict.predictor.advising import own_threads
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.own_threads import own_in_words, own_team
from numapredict.predictor.learning.datasets import open_dataset
from tests.advised import answer_on

MACHINE = "sandybridge-4x8"


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """Return what a shipped dataset has of its first program."""
    whole = open_dataset(MACHINE)
    first = whole.programs[0]
    measurements = tuple(m for m in whole.measurements if m.program == first.name)
    return msgspec.structs.replace(whole, programs=(first,), measurements=measurements)


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
def test_all_mappings_compete_for_mixed_programs(dataset: Dataset, others: str, listed: str) -> None:
    program = dataset.programs[0]
    machine = with_teams(dataset, lambda asked: others.format(asked=asked))
    answer, plain = answer_on(dataset, program, machine=machine), answer_on(dataset, program)
    assert isinstance(answer, Advice)
    assert isinstance(plain, Advice)
    assert not answer.own_threads
    assert (answer.mapping, answer.runs) == (plain.mapping, plain.runs)
    assert f"some regions set their own number of threads: {listed}" in answer.warnings


def test_a_program_that_follows_has_no_such_warning(dataset: Dataset) -> None:
    answer = answer_on(dataset, dataset.programs[0], machine=with_teams(dataset, lambda asked: f"{asked}:1.000"))
    assert isinstance(answer, Advice)
    assert not [text for text in answer.warnings if "of their own" in text]


def test_all_mappings_compete_where_a_number_changes_with_what_is_asked_for(dataset: Dataset, said: list[str]) -> None:
    machine = with_teams(dataset, lambda asked: f"{max(asked // 2, 1)}:1.000")
    answer = answer_on(dataset, dataset.programs[0], machine=machine)
    assert isinstance(answer, Advice)
    assert answer.own_threads == "its number of threads depends on OMP_NUM_THREADS: all mappings are considered"
    assert "its number of threads depends on OMP_NUM_THREADS" in "".join(said)


def test_a_number_that_stays_is_advised(dataset: Dataset, said: list[str]) -> None:
    machine = with_teams(dataset, lambda asked: f"16:0.920 {asked}:0.080" if asked != 16 else "16:1.000")
    answer = answer_on(dataset, dataset.programs[0], machine=machine)
    assert isinstance(answer, Advice)
    assert isinstance(answer.mapping, Mapping)
    assert {run.mapping.threads for run in answer.runs[1:] if isinstance(run.mapping, Mapping)} == {16}
    assert "16, whatever OMP_NUM_THREADS says, in 92% of its region time (and 32 in other" in answer.own_threads
    assert answer.own_threads.endswith("only mappings of 16 are considered")
    assert "16, whatever OMP_NUM_THREADS says" in "".join(said)


@pytest.mark.parametrize(
    ("others", "here", "modelled", "words"),
    [
        ((Team(4, 0.3),), True, True, "in 70% of its region time (and 4 in other regions); only mappings of 8 are"),
        ((), False, True, "this machine has no mapping of 8: all are considered"),
        ((), True, False, "whatever OMP_NUM_THREADS says; only mappings of 8 are considered"),
    ],
)
def test_what_is_said_of_it(others: tuple[Team, ...], here: bool, modelled: bool, words: str) -> None:
    assert words in own_in_words(Team(8, 0.7), others, here, modelled)


def test_a_number_that_this_computer_has_as_well_may_be_its_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_threads, "processors_here", lambda: 8)
    assert "this computer has as many processors" in own_in_words(Team(8, 1.0), (), True, True)
    assert "this computer has" not in own_in_words(Team(8, 1.0), (), True, False)
