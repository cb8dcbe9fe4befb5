import time
from collections.abc import Collection
from pathlib import Path

import pytest

from numapredict.collect.campaign.campaign import Campaign
from numapredict.collect.campaign.plan import Estimate
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping, mapping_named
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program
from numapredict.native.errors import UsageError
from numapredict.predictor.learning.budget import (
    Budget,
    parse_budget,
    plan_budget,
    plan_in_words,
    run_within,
)
from numapredict.predictor.learning.features import observe
from numapredict.predictor.learning.few_runs import LEAST_MAPPINGS
from numapredict.predictor.learning.learning import (
    Learned,
    LearnedGains,
    Wishes,
    learn_from_campaign,
    learned_in_words,
    options_of,
)
from numapredict.predictor.learning.model_choice import trained_model_path
from numapredict.predictor.learning.store import read_model
from numapredict.predictor.searching.gains_file import read_gains
from numapredict.predictor.searching.prior import prior_of, shipped_file
from tests.planted import planted_dataset

KNOWN = read_gains(shipped_file())


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return planted_dataset(15)


def campaign_in(folder: Path, dataset: Dataset) -> Campaign:
    mappings = tuple(dict.fromkeys(m.mapping for m in dataset.measurements))
    return Campaign(RecordedMachine(dataset), folder, dataset.programs, mappings, "numapredict train")


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("2000", Budget(runs=2000)),
        ("15%", Budget(share=0.15)),
        ("0.5%", Budget(share=0.005)),
        ("45min", Budget(time_s=2700)),
        ("1.5h", Budget(time_s=5400)),
    ],
)
def test_budgets_in_words(text: str, budget: Budget) -> None:
    found = parse_budget(text)
    assert (found.runs, found.time_s) == (budget.runs, budget.time_s)
    assert found.share == pytest.approx(budget.share)


@pytest.mark.parametrize(
    "text", ["", "0", "-3", "101%", "2.5", "10s", "min", "1e3", "15 %", "nan", "inf%", "9" * 400, "9" * 400 + "min"]
)
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="write runs"):
        parse_budget(text)


def test_a_third_of_the_runs_is_spent_and_no_more(dataset: Dataset, tmp_path: Path, said: list[str]) -> None:
    campaign = campaign_in(tmp_path, dataset)
    total = len(campaign.programs) * len(campaign.mappings)
    found = run_within(campaign, Budget(share=0.35), options_of(None, None), KNOWN).dataset
    observations = observe(found)
    assert not observations.dropped_programs
    assert not observations.dropped_mappings
    assert len(observations.names) == 15
    assert mapping_named("32x4-contiguous-first-touch") in observations.mappings
    spent = len({(m.program, m.mapping) for m in campaign.finish().measurements})
    assert 0.2 * total < spent <= 0.35 * total
    assert "under all" in said[0]


def test_it_goes_on_where_it_was_and_a_larger_budget_adds_to_it(dataset: Dataset, tmp_path: Path) -> None:
    options = options_of(None, None)
    one = run_within(campaign_in(tmp_path, dataset), Budget(share=0.3), options, KNOWN).dataset
    assert run_within(campaign_in(tmp_path, dataset), Budget(share=0.3), options, KNOWN).dataset == one
    more = run_within(campaign_in(tmp_path, dataset), Budget(share=0.6), options, KNOWN).dataset
    assert {m.mapping for m in one.measurements} <= {m.mapping for m in more.measurements}
    whole = run_within(campaign_in(tmp_path, dataset), Budget(share=1.0), options, KNOWN).dataset
    assert {(m.program, m.mapping) for m in whole.measurements} == {
        (m.program, m.mapping) for m in dataset.measurements
    }


def test_a_model_comes_of_it(dataset: Dataset, tmp_path: Path) -> None:
    campaign = campaign_in(tmp_path / "data", dataset)
    path = tmp_path / "model.json"
    said = learn_from_campaign(campaign, path, Wishes(), Budget(share=0.4))
    assert said.path == str(path)
    model = read_model(path)
    assert len(model.programs) == 15
    assert len(model.clusters[0].ranked) < len(campaign.mappings)


class Paced(Campaign):
    """A campaign whose runs are thought to take a second each, and are known to take longer once some have run."""

    later_s = 1.0
    known_after = 3  # runs
    others_s = 1.0  # of a program that is no pilot, over a pilot

    def estimate(self) -> Estimate:
        started = self.plan().finished > self.known_after
        left = len(self.plan().batches) and sum(len(batch.mappings) for batch in self.plan().batches)
        return Estimate(left, 0, 0, left * (self.later_s if started else 1.0), "by the clock")

    def spent_s(self, programs: Collection[str], mappings: Collection[Mapping]) -> float:
        pilots = len(mappings) > 1 or len(programs) < len(self.programs) / 2
        done = [m for m in self._record().measurements if m.program in programs and m.mapping in mappings]
        return len(done) * self.later_s * (1.0 if pilots else self.others_s)


@pytest.mark.parametrize(("later_s", "others_s", "fewer"), [(1.0, 1.0, False), (1.3, 1.0, True), (1.0, 1.5, True)])
def test_time_is_converted_to_runs_by_the_rates_of_pilots_and_others(
    dataset: Dataset, tmp_path: Path, later_s: float, others_s: float, fewer: bool
) -> None:
    plain = campaign_in(tmp_path, dataset)
    total = len(plain.programs) * len(plain.mappings)
    paced = Paced(plain.machine, plain.folder, plain.programs, plain.mappings, "numapredict train")
    paced.later_s, paced.others_s = later_s, others_s
    found = run_within(paced, Budget(time_s=0.5 * total), options_of(None, None), KNOWN).dataset
    expected = run_within(
        campaign_in(tmp_path / "other", dataset),
        Budget(runs=total // 2),
        options_of(None, None),
        KNOWN,
    ).dataset
    mappings, at_first = (len(observe(data).mappings) for data in (found, expected))
    assert (mappings < at_first) == fewer
    assert mappings <= at_first


def test_one_fast_program_does_not_let_the_whole_campaign_begin(dataset: Dataset, tmp_path: Path) -> None:
    """By the first runs the budget holds the whole campaign; the other programs take twice as long."""
    plain = campaign_in(tmp_path, dataset)
    total = len(plain.programs) * len(plain.mappings)
    paced = Paced(plain.machine, plain.folder, plain.programs, plain.mappings, "numapredict train")
    paced.later_s = 2.0
    found = run_within(paced, Budget(time_s=1.0 * total), options_of(None, None), KNOWN).dataset
    assert len(observe(found).mappings) < len(plain.mappings)
    assert len(plain.finish().measurements) <= total / 2


def test_what_was_spent_is_that_of_the_named_runs(dataset: Dataset, tmp_path: Path) -> None:
    campaign = campaign_in(tmp_path, dataset)
    assert campaign.spent_s({campaign.programs[0].name}, campaign.mappings) == 0
    campaign.run()
    names = [program.name for program in campaign.programs]
    whole_s = campaign.spent_s(names, campaign.mappings)
    assert 0 < campaign.spent_s(names[:1], campaign.mappings[:1]) < campaign.spent_s(names[:1], campaign.mappings)
    assert sum(campaign.spent_s([name], campaign.mappings) for name in names) == pytest.approx(whole_s)


def test_pilots_that_take_too_long_keep_what_was_measured(dataset: Dataset, tmp_path: Path) -> None:
    plain = campaign_in(tmp_path, dataset)
    paced = Paced(plain.machine, plain.folder, plain.programs, plain.mappings, "numapredict train")
    paced.later_s = 50.0
    found = run_within(
        paced, Budget(time_s=0.5 * len(plain.programs) * len(plain.mappings)), options_of(None, None), KNOWN
    )
    measured = plain.finish().measurements
    assert len(measured) >= len(plain.mappings)
    assert len({one.program for one in measured}) < len(plain.programs)  # the others were not even begun
    assert not found.whole
    seen = observe(found.dataset)
    assert len(seen.names) * len(seen.mappings) > 0.9 * len(measured)


class Slow(RecordedMachine):
    """A machine on which all programs but the first that runs take a while."""

    runs = 0
    first = ""

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        self.first = self.first or program.name
        if program.name != self.first:
            self.runs += 1
            time.sleep(0.4)
        return super().run(program, mapping)


def test_programs_that_are_far_slower_than_the_first_end_with_the_budget(dataset: Dataset, tmp_path: Path) -> None:
    plain, machine = campaign_in(tmp_path, dataset), Slow(dataset)
    campaign = Campaign(machine, tmp_path, plain.programs, plain.mappings, "numapredict train")
    found = run_within(campaign, Budget(time_s=0.7), options_of(None, None), KNOWN)
    assert machine.runs <= 2  # of 14 under the default
    assert not found.whole
    assert len(observe(found.dataset).mappings) == LEAST_MAPPINGS


def test_a_slow_machine_is_noticed_after_three_runs(dataset: Dataset, tmp_path: Path) -> None:
    """By the estimate the budget holds the whole campaign; runs take fifty times longer."""
    plain = campaign_in(tmp_path, dataset)
    total = len(plain.programs) * len(plain.mappings)
    paced = Paced(plain.machine, plain.folder, plain.programs, plain.mappings, "numapredict train")
    paced.later_s, paced.known_after = 50.0, 2
    found = run_within(paced, Budget(time_s=1.0 * total), options_of(None, None), KNOWN)
    assert not found.whole
    assert len(plain.finish().measurements) <= total / 50


class Sooner(Paced):
    """A campaign whose first runs take 10 seconds each, by which an hour is a few runs, and the others one."""

    def estimate(self) -> Estimate:
        plan = self.plan()
        left = sum(len(batch.mappings) for batch in plan.batches)
        return Estimate(left, 0, 0, left * (10.0 if plan.finished <= self.known_after else 1.0), "by the clock")


def test_a_budget_in_time_goes_on_where_runs_get_faster(dataset: Dataset, tmp_path: Path) -> None:
    plain = campaign_in(tmp_path, dataset)
    paced = Sooner(plain.machine, plain.folder, plain.programs, plain.mappings, "numapredict train")
    found = run_within(paced, Budget(time_s=60), options_of(None, None), KNOWN)
    assert not found.whole
    assert 40 < len(plain.finish().measurements) <= 61
    seen = observe(found.dataset)
    assert (len(seen.names), len(seen.mappings)) == (12, 5)


@pytest.mark.parametrize("runs", [3, 20, 50])
def test_a_small_budget_runs_a_few_programs_under_the_first_mappings_of_a_search(
    dataset: Dataset, tmp_path: Path, runs: int
) -> None:
    campaign = campaign_in(tmp_path, dataset)
    planned = plan_budget(campaign, Budget(runs=runs))
    found = run_within(campaign, Budget(runs=runs), options_of(None, None), KNOWN)
    assert not found.whole
    seen = observe(found.dataset)
    assert (len(seen.names), len(seen.mappings)) == (planned.programs, planned.pivots)
    assert len(campaign.finish().measurements) == planned.runs <= runs
    assert seen.mappings.count(mapping_named("32x4-contiguous-first-touch")) == 1
    assert f"{planned.programs} program" in plan_in_words(planned)
    more = run_within(campaign_in(tmp_path, dataset), Budget(runs=runs + 8), options_of(None, None), KNOWN)
    assert {m.mapping for m in found.dataset.measurements} <= {m.mapping for m in more.dataset.measurements}
    again = run_within(campaign_in(tmp_path, dataset), Budget(runs=runs), options_of(None, None), KNOWN)
    assert len(again.dataset.measurements) >= len(more.dataset.measurements)  # nothing measured is forgotten


def test_what_a_few_runs_found_is_kept_for_searches(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path / "kept"))
    found = learn_from_campaign(campaign_in(tmp_path / "data", dataset), None, Wishes(), Budget(runs=50))
    assert isinstance(found, LearnedGains)
    assert (found.programs, found.mappings) == (10, 5)
    (kept,) = read_gains(Path(found.path))
    assert (len(kept.groups), len(kept.mappings), kept.default) == (10, 5, found.default.label)
    assert "too few runs for a model" in learned_in_words(found)
    assert not trained_model_path(kept.machine, kept.topology).exists()
    prior = prior_of(kept.machine, kept.topology, Path(found.path), lambda _mapping: True, modelled=True)
    assert kept.machine in prior.origin
    assert set(kept.parsed) < set(prior.mappings)
    columns = [prior.mappings.index(mapping) for mapping in kept.parsed]
    assert prior.known.gains[:10, columns] == pytest.approx(kept.gains)

    trained = learn_from_campaign(campaign_in(tmp_path / "data", dataset), None, Wishes(), Budget(share=0.5))
    assert isinstance(trained, Learned)
    more = Path(found.path).read_bytes()
    learn_from_campaign(campaign_in(tmp_path / "data", dataset), tmp_path / "named", Wishes(), Budget(runs=50))
    assert Path(found.path).read_bytes() == more  # those of the model are more
    assert any("no model was written to" in line for line in said)
    assert not (tmp_path / "named").exists()


def test_too_little_is_refused_before_anything_runs(dataset: Dataset, tmp_path: Path) -> None:
    campaign = campaign_in(tmp_path / "data", dataset)
    with pytest.raises(UsageError, match="at least 3"):
        plan_budget(campaign, Budget(runs=2))
    with pytest.raises(UsageError, match="at least 3"):
        run_within(campaign, Budget(runs=2), options_of(None, None), KNOWN)
    assert not (tmp_path / "data").exists()


def test_the_plan_is_reported(dataset: Dataset, tmp_path: Path) -> None:
    campaign = campaign_in(tmp_path, dataset)
    total = len(campaign.programs) * len(campaign.mappings)
    assert f"{round(0.35 * total)} of {total} runs" in plan_in_words(plan_budget(campaign, Budget(share=0.35)))
    assert f"all {total} runs" in plan_in_words(plan_budget(campaign, Budget(runs=10**9)))


def test_foreign_programs_in_the_folder_are_not_learned_from(dataset: Dataset, tmp_path: Path) -> None:
    campaign_in(tmp_path, dataset).run()
    campaign = campaign_in(tmp_path, dataset)
    campaign.programs = dataset.programs[:10]
    found = run_within(campaign, Budget(share=0.5), options_of(None, None), KNOWN).dataset
    assert {program.name for program in found.programs} == {program.name for program in campaign.programs}
