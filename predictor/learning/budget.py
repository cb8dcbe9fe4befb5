"""Training within a budget: pilots under every mapping, then all programs under the mappings that the pilots choose.

Where the budget is too small for that, a few programs run under a few mappings that other machines' programs choose.
"""

import logging
import math
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec

from numapredict.collect.campaign.campaign import Campaign
from numapredict.collect.campaign.request import run_campaign
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.program import Program
from numapredict.collect.space import default_mapping
from numapredict.collect.terminal.estimated_time import in_words
from numapredict.collect.terminal.printable import counted
from numapredict.native.errors import UsageError
from numapredict.predictor.learning.features import gains_of, group_of, observe
from numapredict.predictor.learning.few_runs import LEAST_MAPPINGS, Few, FewRuns, few_within
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.pivots import pilot_groups, pivot_columns, split_budget
from numapredict.predictor.searching.gains_file import MachineGains

MOST = 1e9
"""More runs, or hours, than any campaign has."""

_BUDGET = re.compile(r"(?P<number>\d+(\.\d+)?)(?P<unit>%|min|h|)")

log = logging.getLogger(__name__)


class Budget(msgspec.Struct, frozen=True):
    """Runs, a share of all runs, or seconds: one of them is set."""

    runs: int | None = None
    share: float | None = None
    time_s: float | None = None

    def in_runs(self, all_runs: int, all_time_s: float) -> int:
        """Return the budget as a number of runs, for a campaign of ``all_runs`` that would take ``all_time_s``."""
        if self.runs is not None:
            return self.runs
        if self.share is not None:
            return round(self.share * all_runs)
        return int(all_runs * (self.time_s or 0.0) / max(all_time_s, 1e-9))


def parse_budget(text: str) -> Budget:
    """Return the budget that a text means: `2000` runs, `15%` of all runs, `45min` or `2h`."""
    found = _BUDGET.fullmatch(text.strip())
    number = float(found["number"]) if found else 0.0
    found = found if number < MOST else None
    unit = found["unit"] if found else ""
    if found is None or number <= 0 or (unit == "%" and number > 100) or (not unit and number != int(number)):
        raise UsageError(f"--budget {text!r} is no budget: write runs (2000), a share (15%) or time (45min, 2h)")
    if unit == "%":
        return Budget(share=number / 100)
    return Budget(time_s=number * {"min": 60, "h": 3600}[unit]) if unit else Budget(runs=int(number))


def few_of(budget: Budget, runs: int, programs: int, mappings: int) -> Few:
    """Return what a budget of so many runs allows; one in time always allows those by which runs are timed."""
    return few_within(runs if budget.time_s is None else max(runs, LEAST_MAPPINGS), programs, mappings)


class Measured(NamedTuple):
    """What a budget's runs found, without holes; ``whole`` if all programs ran, which a model of two probes needs."""

    dataset: Dataset
    whole: bool


def run_within(campaign: Campaign, budget: Budget, options: TrainingOptions, known: Sequence[MachineGains]) -> Measured:
    """Run the part of a campaign that a budget allows; ``known`` gains choose the runs where it allows only a few.

    Earlier measurements count as spent. The folder's dataset also holds what is not in the answer. A budget in time is
    converted to runs by the campaign's estimate, and again when the pilots have run, and all others under the default.
    Where it ends before all programs have run, the answer has those that did. UsageError if a budget allows nothing.
    """
    groups = [group_of(program) for program in campaign.programs]
    mappings = [mapping for mapping in campaign.mappings if campaign.machine.supports(mapping)]
    total = len(groups) * len(mappings)
    few = _Few(campaign, mappings, options, known)
    if budget.time_s is not None:
        few.time_runs()
    runs = budget.in_runs(total, _whole_time_s(campaign, total))
    if budget.time_s is not None and runs >= total:  # if all programs take as long as that one
        _run_default(campaign, budget.time_s, mappings, few.default)
        runs = budget.in_runs(total, _whole_time_s(campaign, total))
    if runs >= total:
        return Measured(run_campaign(campaign), True)
    split = split_budget(runs, [groups.count(name) for name in dict.fromkeys(groups)], len(mappings))
    if split is None:
        return Measured(few.run(budget), False)
    chosen = pilot_groups(groups, split.pilots)
    pilots = tuple(program for program in campaign.programs if group_of(program) in chosen)
    log.info(
        f"budget: {runs} of {total} runs; first {len(pilots)} programs under all {len(mappings)} mappings: "
        f"{', '.join(chosen)}"
    )
    names = {program.name for program in campaign.programs}
    most_s = math.inf if budget.time_s is None else budget.time_s - campaign.spent_s(names, mappings)
    first = run_campaign(_part(campaign, pilots, mappings, most_s))
    count = split.mappings
    mine = {program.name for program in pilots}
    if budget.time_s is not None:
        by_default = _run_default(campaign, budget.time_s, mappings, few.default)
        count = _affordable(campaign, budget.time_s, mine, mappings, by_default)
        if count < LEAST_MAPPINGS:
            log.info("runs take longer than the first ones did: this budget does not reach for all programs")
            return Measured(few.finished(), False)
    seen = observe(_only(first, mine, set(mappings)), few.default)
    columns = pivot_columns(gains_of(seen.time_s, seen.column(few.default)), count, seen.column(few.default))
    pivots = {seen.mappings[column] for column in columns}
    named = ", ".join(sorted(map(str, pivots)))
    log.info(f"then all {len(campaign.programs)} programs under {len(pivots)} mappings: {named}")
    kept = [mapping for mapping in mappings if mapping in pivots]
    whole = run_campaign(_part(campaign, campaign.programs, kept))
    return Measured(_only(whole, names, pivots), True)


class _Few:
    """The part of a campaign that a budget allows where it is too small for all programs."""

    def __init__(
        self, campaign: Campaign, mappings: list[Mapping], options: TrainingOptions, known: Sequence[MachineGains]
    ) -> None:
        topology = campaign.machine.topology
        named = options.default or default_mapping(topology)
        self.default = next(mapping for mapping in mappings if mapping == named)
        self._campaign, self._mappings = campaign, mappings
        self._order = FewRuns(mappings, self.default, topology, known, modelled=campaign.machine.modelled)
        self._programs = self._order.programs(campaign.programs)

    def time_runs(self) -> None:
        """Run the first program under the first mappings, so that the estimate rests on measured run times."""
        log.info(f"first {LEAST_MAPPINGS} runs of {self._programs[0].name}, to see how long a run takes")
        run_campaign(_part(self._campaign, self._programs[:1], list(self._order.mappings(LEAST_MAPPINGS))))

    def run(self, budget: Budget) -> Dataset:
        """Run as many programs under as many mappings as the budget allows, and return what there is.

        Where runs turn out to take less time than those before, more are made.
        """
        names = {program.name for program in self._campaign.programs}
        split, made, left_s = self._within(budget), 0, math.inf
        while split.programs * split.mappings > made:
            if budget.time_s is not None:
                left_s = budget.time_s - self._campaign.spent_s(names, self._mappings)
            if left_s <= 0:
                break
            programs, mappings = self._programs[: split.programs], list(self._order.mappings(split.mappings))
            log.info(f"{counted(len(programs), 'program')} under {', '.join(map(str, mappings))}")
            run_campaign(_part(self._campaign, programs, mappings, left_s))
            made = split.programs * split.mappings
            split = self._within(budget)
        return self.finished()

    def _within(self, budget: Budget) -> Few:
        total = len(self._programs) * len(self._mappings)
        runs = budget.in_runs(total, _whole_time_s(self._campaign, total))
        return few_of(budget, runs, len(self._programs), len(self._mappings))

    def finished(self) -> Dataset:
        """Return the largest part without holes of all that has run, for the first mappings of the portfolio."""
        dataset = self._campaign.finish()
        ran: dict[str, set[AnyMapping]] = {program.name: set() for program in self._campaign.programs}
        for measurement in dataset.measurements:
            if measurement.program in ran:
                ran[measurement.program].add(measurement.mapping)
        order = self._order.mappings(max(map(len, ran.values())))
        parts = []
        for count in range(2, len(order) + 1):
            done = {name for name, mappings in ran.items() if mappings.issuperset(order[:count])}
            parts.append((count * len(done), count, done))
        size, count, done = max(parts, key=lambda part: part[:2], default=(0, 0, set()))
        if not size:
            raise UsageError(
                "the runs so far have used up the budget before any program ran under two mappings; "
                "run the same command with a larger --budget, what was measured is kept"
            )
        return _only(dataset, done, set(order[:count]))


def _run_default(campaign: Campaign, time_s: float, mappings: list[Mapping], default: AnyMapping) -> list[Mapping]:
    """Run all programs under the default, within the budget; return the default, alone in a list."""
    by_default = [mapping for mapping in mappings if mapping == default]
    names = {program.name for program in campaign.programs}
    most_s = time_s - campaign.spent_s(names, mappings)
    if most_s > 0:
        run_campaign(_part(campaign, campaign.programs, by_default, most_s))
    return by_default


class BudgetPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How a budget would be spent: ``runs`` of ``all_runs``, and how long they take in seconds.

    ``pilots`` codes run under all ``mappings``, the others under ``pivots`` of them. Where there are too few runs for
    that, only ``programs`` run, under ``pivots``. All None where all runs are made.
    """

    runs: int
    all_runs: int
    time_s: float
    mappings: int
    pilots: int | None = None
    pivots: int | None = None
    programs: int | None = None


def plan_budget(campaign: Campaign, budget: Budget) -> BudgetPlan:
    """Return how a budget would be spent; nothing is run. UsageError as in ``run_within``."""
    groups = [group_of(program) for program in campaign.programs]
    mappings = [mapping for mapping in campaign.mappings if campaign.machine.supports(mapping)]
    total = len(groups) * len(mappings)
    whole_s = _whole_time_s(campaign, total)
    runs = min(budget.in_runs(total, whole_s), total)
    if runs == total:
        return BudgetPlan(runs=total, all_runs=total, time_s=whole_s, mappings=len(mappings))
    split = split_budget(runs, [groups.count(name) for name in dict.fromkeys(groups)], len(mappings))
    few = None
    if split is None:
        few = few_of(budget, runs, len(groups), len(mappings))
        runs = few.programs * few.mappings
    return BudgetPlan(
        runs=runs,
        all_runs=total,
        time_s=whole_s * runs / total,
        mappings=len(mappings),
        pilots=split.pilots if split else None,
        pivots=split.mappings if split else few.mappings if few else None,
        programs=few.programs if few else None,
    )


def plan_in_words(plan: BudgetPlan) -> str:
    """Return in words how a budget would be spent."""
    if plan.programs is not None:
        return (
            f"{plan.runs} of {plan.all_runs} runs, {in_words(plan.time_s)}: {counted(plan.programs, 'program')} under "
            f"{plan.pivots} of {plan.mappings} mappings, for searches; too few runs for a model"
        )
    if plan.pilots is None:
        return f"all {plan.all_runs} runs: {in_words(plan.time_s)}"
    return (
        f"{plan.runs} of {plan.all_runs} runs, {in_words(plan.time_s)}: {plan.pilots} codes under all {plan.mappings} "
        f"mappings, the others under {plan.pivots}"
    )


def _whole_time_s(campaign: Campaign, total: int) -> float:
    """Return how long all runs of a campaign take, in seconds, by the estimate for the remaining ones."""
    estimate = campaign.estimate()
    return estimate.time_s * total / estimate.runs if estimate.runs else 0.0


def _affordable(
    campaign: Campaign, time_s: float, pilots: set[str], mappings: list[Mapping], by_default: list[Mapping]
) -> int:
    """Return under how many mappings all programs can run in ``time_s``, the runs under the default included.

    Run times of programs differ a hundredfold, so that few pilots do not say how long the others take. Their own runs
    under the default do, times what the pilots' runs took under all mappings over those under the default.
    """
    others = {program.name for program in campaign.programs} - pilots
    pilots_s, others_s = campaign.spent_s(pilots, mappings), campaign.spent_s(others, by_default)
    each_s = pilots_s / len(mappings)  # of all pilots under one mapping
    one_mapping_s = others_s * each_s / max(campaign.spent_s(pilots, by_default), 1e-9)
    left_s = time_s - pilots_s - others_s
    return min(1 + int(left_s / max(one_mapping_s, 1e-9) + 1e-6), len(mappings)) if left_s > 0 else 1


def _part(
    campaign: Campaign, programs: Sequence[Program], mappings: list[Mapping], most_s: float = math.inf
) -> Campaign:
    options = msgspec.structs.replace(campaign.options, most_s=most_s)
    return Campaign(campaign.machine, campaign.folder, programs, mappings, campaign.made_by, options)


def _only(dataset: Dataset, programs: set[str], mappings: Collection[AnyMapping]) -> Dataset:
    return msgspec.structs.replace(
        dataset,
        programs=tuple(program for program in dataset.programs if program.name in programs),
        measurements=tuple(m for m in dataset.measurements if m.program in programs and m.mapping in mappings),
    )
