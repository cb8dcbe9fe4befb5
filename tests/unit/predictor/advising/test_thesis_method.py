"""Runs of which the mapping of the program's cluster may be advised, and no other."""

import math
from functools import partial
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.limits import Limits
from numapredict.collect.mapping import AnyMapping, Mapping, applicable, to_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.run_limit import RunLimit
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.program import program_of
from numapredict.native.errors import InsufficientDataError, NoModelError, UnsupportedMappingError
from numapredict.predictor.advising.advice_text import advice_in_words, kept_in_words
from numapredict.predictor.advising.brief_text import advice_in_brief
from numapredict.predictor.advising.kept_runs import KeptRuns
from numapredict.predictor.advising.search import Runner, search
from numapredict.predictor.advising.search_options import SearchOptions
from numapredict.predictor.advising.search_run import Made
from numapredict.predictor.advising.search_state import Search
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from tests.advised import prior_of_dataset
from tests.planted import planted_dataset
from tests.searches import DEFAULT, LOCAL, PRIOR, SPREAD, Computer, answered, times

THESIS = SearchOptions(method="thesis")


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return planted_dataset(15)


@pytest.fixture(scope="module")
def model(dataset: Dataset) -> Model:
    """Return what is learned from all programs but the first five."""
    known = {program.name for program in dataset.programs[5:]}
    others = [each for each in dataset.measurements if each.program in known]
    return train(
        msgspec.structs.replace(dataset, programs=dataset.programs[5:], measurements=tuple(others)),
        TrainingOptions(method="thesis"),
    )


class Recorded:
    """The first program of the dataset, on its machine; runs under ``failing`` crash, under ``refused`` are refused."""

    def __init__(self, dataset: Dataset) -> None:
        self.machine, self.program = RecordedMachine(dataset), dataset.programs[1]
        self.prior, self.ran = prior_of_dataset(dataset), list[Mapping]()
        self.failing: set[Mapping] = set()
        self.refused: set[Mapping] = set()
        self.teams = ""

    def run(self, mapping: Mapping, limit: RunLimit) -> Measurement:
        assert math.isinf(limit.whole_s), "probes are whole runs"
        if mapping in self.refused:
            raise UnsupportedMappingError(f"{mapping} needs numactl")
        self.ran.append(mapping)
        found = self.machine.run(self.program, mapping)
        if mapping in self.failing:
            return msgspec.structs.replace(found, status="crashed", message="it crashed", repetitions=())
        return (
            msgspec.structs.replace(found, provenance=(*found.provenance, ("teams", self.teams)))
            if self.teams
            else found
        )

    def searched(self, model: Model, options: SearchOptions = THESIS) -> Search:
        baseline = applicable(self.prior.mappings[self.prior.default])
        runner = Runner("app", baseline, partial(self.machine.run, self.program, baseline), self.run, traced=True)
        return search(runner, self.prior, self.machine.topology, options, model)


def test_the_probes_run_and_then_the_best_mapping_of_the_cluster_which_alone_may_be_advised(
    dataset: Dataset, model: Model
) -> None:
    recorded = Recorded(dataset)
    found = recorded.searched(model)
    probes = [applicable(probe.mapping) for probe in model.probes]
    ran = [made.measurement.mapping for made in found.made]
    assert [mapping for mapping in probes if mapping not in ran] == []
    assert found.only is not None
    chosen = found.prior.mappings[found.only]
    assert ran[-1] == chosen or chosen in probes
    assert len(ran) == len(set(ran)) <= 4
    assert found.computed == {}
    ranked = {applicable(each.mapping) for cluster in model.clusters for each in cluster.ranked[:1]}
    assert chosen in ranked
    best = found.best()
    assert best == 0 or ran[best] == chosen


def test_a_probe_that_fails_is_an_error_and_one_that_cannot_run_another(dataset: Dataset, model: Model) -> None:
    probe = next(applicable(each.mapping) for each in model.probes if each.mapping != model.default)
    recorded = Recorded(dataset)
    recorded.failing = {probe}
    with pytest.raises(InsufficientDataError, match="without its time there is no cluster"):
        recorded.searched(model)
    recorded = Recorded(dataset)
    recorded.refused = {probe}
    with pytest.raises(NoModelError, match=f"the model's probe {probe} cannot be run here"):
        recorded.searched(model)
    assert probe not in recorded.ran
    other = "interleave" if probe.page_policy != "interleave" else "bind"
    limited = SearchOptions(method="thesis", limits=Limits(page_policies=(other,)))
    with pytest.raises(NoModelError, match=f"the model's probe {probe} cannot be run here"):
        recorded.searched(model, limited)


def test_limits_bind_the_mapping_that_is_advised_and_not_the_probes(dataset: Dataset, model: Model) -> None:
    free = Recorded(dataset).searched(model)
    assert free.only is not None
    threads = free.prior.mappings[free.only].threads
    other = next(count for count in (8, 16, 32) if count != threads)
    limited = Recorded(dataset).searched(model, SearchOptions(method="thesis", limits=Limits(threads=(other,))))
    assert limited.only is not None
    assert limited.prior.mappings[limited.only].threads == other
    assert {to_label(made.measurement.mapping) for made in limited.made} >= {
        to_label(applicable(probe.mapping)) for probe in model.probes
    }


def test_of_a_program_with_its_own_threads_a_mapping_of_so_many_is_chosen(dataset: Dataset, model: Model) -> None:
    recorded = Recorded(dataset)
    recorded.teams = "16:1.000"
    found = recorded.searched(model)
    assert found.own is not None
    assert found.only is not None
    assert found.prior.mappings[found.only].threads == 16


def test_the_clusters_mapping_is_the_best_only_if_its_whole_run_is_faster() -> None:
    """Its parallel regions are twice as fast, and the rest takes longer; a third mapping is faster than both."""
    for local_s, best in ((9.0, 0), (7.0, 1)):
        computer = Computer(times(8.0, default=8.0, local=local_s, spread=1.0), {DEFAULT: 4.0, LOCAL: 2.0})
        mappings: list[AnyMapping] = [DEFAULT, LOCAL, PRIOR.mappings[2]]
        made = [Made(computer.run(mapping), column) for column, mapping in enumerate(mappings)]
        found = Search(PRIOR, PRIOR.known, made, "process")
        assert found.best() == 2
        found.only = 1
        assert found.best() == best


def test_a_faster_probe_is_named_where_the_clusters_mapping_is_not_faster() -> None:
    found = answered(Computer(times(8.0, local=4.0)))
    kept = msgspec.structs.replace(found, method="thesis", keep=True, confirmation=None)
    (told,) = kept_in_words(kept)
    assert told == f"its cluster's mapping was not faster, but another was: {to_label(LOCAL)} (2.00x)"
    (told,) = kept_in_words(msgspec.structs.replace(kept, runs=kept.runs[:1]))
    assert told == "its cluster's mapping was not faster"
    assert kept.baseline == AS_IT_IS


def test_a_probe_that_was_faster_than_the_advised_mapping_is_named() -> None:
    found = answered(Computer(times(8.0, local=4.0, spread=5.0)))
    first, *others = found.runs
    spread = msgspec.structs.replace(others[0], mapping=SPREAD, speedup=1.6, time_s=5.0)
    thesis = msgspec.structs.replace(found, method="thesis", mapping=SPREAD, runs=(first, others[0], spread))
    for text in (advice_in_brief(thesis), advice_in_words(thesis)):
        assert "  cluster's mapping " in text
        assert "best mapping" not in text
        assert f"another mapping was faster: {to_label(LOCAL)} (2.00x)" in " ".join(text.split())
    assert "another mapping was faster" not in advice_in_brief(found)
    own = msgspec.structs.replace(found, method="thesis")
    assert "another mapping was faster" not in advice_in_words(own)


def test_of_kept_runs_those_of_the_probes_alone_are_used(
    dataset: Dataset, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path))
    recorded = Recorded(dataset)
    probes = [applicable(probe.mapping) for probe in model.probes]
    other = next(each for each in recorded.prior.mappings if each not in probes)
    kept = KeptRuns(program_of(("/bin/true",)), recorded.machine.topology)
    for mapping in (AS_IT_IS, other, probes[1]):
        kept.add(msgspec.structs.replace(recorded.machine.run(recorded.program, probes[0]), mapping=mapping))
    runner = Runner("app", AS_IT_IS, lambda: pytest.fail("it is kept"), recorded.run, kept)
    found = search(runner, recorded.prior, recorded.machine.topology, THESIS, model)
    assert [made.measurement.mapping for made in found.made][:2] == [AS_IT_IS, probes[1]]
    assert recorded.ran[0] == probes[0]
    assert other not in [made.measurement.mapping for made in found.made] or found.only is not None
    assert found.kept == 2
