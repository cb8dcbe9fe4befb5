"""Training within a budget: pilots under every mapping, then all programs under the mappings that the pilots choose."""

import logging
import math
import re
from collections.abc import Collection, Sequence

import msgspec

from numapredict.collect.campaign.campaign import Campaign
from numapredict.collect.campaign.request import run_campaign
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.program import Program
from numapredict.collect.terminal.estimated_time import in_words
from numapredict.native.errors import UsageError
from numapredict.predictor.learning.features import gains_of, group_of, observe
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.pivots import LEAST_MAPPINGS, pilot_groups, pivot_columns, split_budget
from numapredict.predictor.learning.train import default_of

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


def run_within(campaign: Campaign, budget: Budget, options: TrainingOptions) -> Dataset:
    """Run the part of a campaign that a budget allows and return its dataset without holes.

    Earlier measurements count as spent. The folder's dataset also holds the pilots' other runs. A budget in time is
    converted to runs by the campaign's estimate, and again when the pilots have run, and all others under the default.
    UsageError if the budget is too small to learn from.
    """
    groups = [group_of(program) for program in campaign.programs]
    mappings = [mapping for mapping in campaign.mappings if campaign.machine.supports(mapping)]
    total = len(groups) * len(mappings)
    if budget.time_s is not None:
        known = _measure_run_times(campaign, mappings)
    runs = budget.in_runs(total, _whole_time_s(campaign, total))
    if budget.time_s is not None and runs >= total:  # if all programs take as long as that one
        _run_default(campaign, budget.time_s, mappings, default_of(known, options))
        runs = budget.in_runs(total, _whole_time_s(campaign, total))
    if runs >= total:
        return run_campaign(campaign)
    split = split_budget(runs, [groups.count(name) for name in dict.fromkeys(groups)], len(mappings))
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
    default = default_of(first, options)
    mine = {program.name for program in pilots}
    if budget.time_s is not None:
        _check_spent(campaign, budget.time_s, mine, mappings)
        by_default = _run_default(campaign, budget.time_s, mappings, default)
        count = _affordable(campaign, budget.time_s, mine, mappings, by_default)
    seen = observe(_only(first, mine, set(mappings)), default)
    columns = pivot_columns(gains_of(seen.time_s, seen.column(default)), count, seen.column(default))
    pivots = {seen.mappings[column] for column in columns}
    named = ", ".join(sorted(map(str, pivots)))
    log.info(f"then all {len(campaign.programs)} programs under {len(pivots)} mappings: {named}")
    kept = [mapping for mapping in mappings if mapping in pivots]
    whole = run_campaign(_part(campaign, campaign.programs, kept))
    return _only(whole, {program.name for program in campaign.programs}, pivots)


def _run_default(campaign: Campaign, time_s: float, mappings: list[Mapping], default: AnyMapping) -> list[Mapping]:
    """Run all programs under the default, within the budget; return the default, alone in a list."""
    by_default = [mapping for mapping in mappings if mapping == default]
    names = {program.name for program in campaign.programs}
    most_s = time_s - campaign.spent_s(names, mappings)
    run_campaign(_part(campaign, campaign.programs, by_default, most_s))
    _check_spent(campaign, time_s, names, mappings)
    return by_default


def _check_spent(campaign: Campaign, time_s: float, names: set[str], mappings: list[Mapping]) -> None:
    spent_s = campaign.spent_s(names, mappings)
    if spent_s >= time_s:
        raise UsageError(
            f"the runs so far have used up the budget: those of {len(names)} programs took {in_words(spent_s)}; "
            "run the same command with a larger --budget, what was measured is kept"
        )


def _measure_run_times(campaign: Campaign, mappings: list[Mapping]) -> Dataset:
    """Run a little of a campaign, so that its estimate rests on measured run times."""
    groups = [group_of(program) for program in campaign.programs]
    first = pilot_groups(groups, 1)
    programs = tuple(program for program in campaign.programs if group_of(program) in first)[:1]
    log.info(f"first {LEAST_MAPPINGS} runs of {programs[0].name}, to see how long a run takes")
    return run_campaign(_part(campaign, programs, mappings[-LEAST_MAPPINGS:]))


class BudgetPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How a budget would be spent: ``runs`` of ``all_runs``, and how long they take in seconds.

    ``pilots`` codes run under all ``mappings``, the others under ``pivots`` of them; None where all runs are made.
    """

    runs: int
    all_runs: int
    time_s: float
    mappings: int
    pilots: int | None = None
    pivots: int | None = None


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
    return BudgetPlan(
        runs=runs,
        all_runs=total,
        time_s=whole_s * runs / total,
        mappings=len(mappings),
        pilots=split.pilots,
        pivots=split.mappings,
    )


def plan_in_words(plan: BudgetPlan) -> str:
    """Return in words how a budget would be spent."""
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
    count = 1 + int(left_s / max(one_mapping_s, 1e-9) + 1e-6) if left_s > 0 else 1
    if count < LEAST_MAPPINGS:
        raise UsageError(
            f"the runs so far have used up the budget: {LEAST_MAPPINGS} mappings for all programs need "
            f"{in_words((LEAST_MAPPINGS - 1) * one_mapping_s - left_s)} more; "
            "run the same command with a larger --budget, what was measured is kept"
        )
    return min(count, len(mappings))


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
