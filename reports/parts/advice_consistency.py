"""Checks an answer from a file, which may have the right fields but contradict itself."""

import itertools
import math
import statistics
from collections.abc import Iterator
from collections.abc import Mapping as ByName
from datetime import datetime

from numapredict.collect.figure import Figure, figure_of
from numapredict.collect.mapping import AnyMapping, Mapping, applicable
from numapredict.collect.placement import resolve
from numapredict.collect.placing.command import run_words
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidInputError, NumapredictError, UsageError
from numapredict.predictor.advising.advice import Advice, FurtherRun
from numapredict.predictor.advising.confirmation import Confirmation
from numapredict.predictor.advising.search_run import SearchRun
from numapredict.predictor.advising.unseen import speedup_of_whole
from numapredict.predictor.advising.worth import Worth
from numapredict.predictor.learning.model import ExpectedSpeedup
from numapredict.reports.parts.regions import region_problems

_Problems = Iterator[tuple[str, str]]


def check_advice(found: Advice, topology: Topology | None) -> None:
    """Raise InvalidInputError, naming the first impossible field; ``topology`` is None if unknown."""
    for field, problem in _problems(found, topology):
        raise InvalidInputError(f"{field}: {problem}")


def _problems(found: Advice, topology: Topology | None) -> _Problems:
    yield from _figure_problems(found.figure)
    yield from _run_problems(found)
    yield from label_problems(_labels(found), found.machine, topology)
    yield from _answer_problems(found)
    if found.confirmation is not None:
        yield from _confirmation_problems(found, found.confirmation)
    if found.next is not None:
        yield from _further_problems(found, found.next)
    yield from _explanation_problems(found)
    yield from region_problems(found.regions)
    yield from _command_problems(found)
    yield from _fact_problems(found)


def _figure_problems(figure: Figure) -> _Problems:
    try:
        figure_of(figure.metric or None, smaller=figure.smaller, seconds=figure.seconds)
    except UsageError as error:
        yield "figure", f"{error}"


def _labels(found: Advice) -> dict[str, AnyMapping]:
    """Return the mappings that must be the machine's, by field; the baseline may be the program as it is."""
    mappings = {"default": found.default, "mapping": found.mapping, "baseline": found.baseline}
    mappings |= {f"run {number}, mapping": run.mapping for number, run in enumerate(found.runs, 1)}
    if found.next is not None:
        mappings["next, mapping"] = found.next.mapping
    return {field: mapping for field, mapping in mappings.items() if found.modelled or mapping != AS_IT_IS}


def _run_problems(found: Advice) -> _Problems:
    if not found.runs:
        yield "runs", "none, where at least that of the baseline is made"
        return
    if found.modelled != (found.baseline != AS_IT_IS):
        yield "baseline", f"{found.baseline} where it is {'a mapping of the machine' if found.modelled else AS_IT_IS}"
    first = found.runs[0]
    if first.mapping != found.baseline or first.outcome != "done":
        yield "run 1", f"{first.mapping}, {first.outcome}, where the first is a whole run of the baseline"
    tried: set[AnyMapping] = set()
    for number, run in enumerate(found.runs, 1):
        if run.mapping in tried:
            yield f"run {number}", f"{run.mapping} had run before"
        tried.add(run.mapping)
        for field, problem in _one_run(found, run, first):
            yield f"run {number}, {field}", problem


def _one_run(found: Advice, run: SearchRun, first: SearchRun) -> _Problems:
    compared, baseline, what, unit = run.time_s, first.time_s, "times", " s"
    if not found.figure.is_time:
        compared, baseline, what, unit = run.figure, first.figure, "figures", ""
    if (run.time_s is None) != (run.outcome == "failed"):
        yield "time_s", f"{run.time_s} of a run that {run.outcome}"
    if run.time_s is not None and not (math.isfinite(run.time_s) and run.time_s > 0):
        yield "time_s", f"{run.time_s:g} cannot have been read"
    elif run.outcome != "done" and run.speedup is not None:
        yield "speedup", f"{run.speedup:g} of a run that {run.outcome}"
    elif run.local_share is not None and not 0 <= run.local_share <= 1:
        yield "local_share", f"{run.local_share:g} is no share"
    elif run.computed and not found.modelled:
        yield "computed", "true of a run on a computer"
    elif (run.figure is None) != (found.figure.is_time or run.outcome != "done") or not _is_figure(run.figure or 1.0):
        yield "figure", f"{run.figure} of a run that {run.outcome}, and is compared by {found.figure}"
    elif run.outcome == "done" and not _same(run.speedup, found.figure.speedup(baseline or 0.0, compared or math.inf)):
        yield (
            "speedup",
            f"{run.speedup} contradicts the {what}, {baseline or 0:g}{unit} of the baseline and {compared:g}{unit}",
        )
    regions_s = run.region_time_s, first.region_time_s
    given = run.outcome == "done" and all(each is not None and 0 < each < math.inf for each in regions_s)
    if not _same(run.region_speedup, (regions_s[1] or 0.0) / (regions_s[0] or 1.0) if given else None):
        yield (
            "region_speedup",
            f"{run.region_speedup} contradicts the times in regions, {regions_s[1]} s and {regions_s[0]} s",
        )


def _answer_problems(found: Advice) -> _Problems:
    best = max(found.runs, key=lambda run: run.speedup or 0.0)
    if found.keep != (found.mapping == found.baseline):
        yield "keep", f"{found.keep} where the mapping is {found.mapping} and the baseline {found.baseline}"
    elif not found.keep and found.mapping != best.mapping and found.method == "search":
        yield "mapping", f"{found.mapping}, where the fastest of the runs is that of {best.mapping}"
    won = found.confirmation is not None and found.confirmation.won and not found.disturbed
    if won == found.keep:
        yield "keep", f"{found.keep} where the confirming runs were {'won' if won else 'not won'}"
    claimed = (found.speedup, found.low, found.high)
    stated = found.confirmation
    confirmed: tuple[float | None, ...] = (1.0, 1.0, 1.0)
    if stated is not None and won:
        confirmed = stated.speedup, stated.low, stated.high
        if found.trace_share is not None and 0 <= found.trace_share < 1 and min(each or 0.0 for each in confirmed) > 0:
            whole = speedup_of_whole(ExpectedSpeedup(*(each or 1.0 for each in confirmed)), found.trace_share)
            confirmed = whole.median, whole.low, whole.high
    if not all(_same(*pair) for pair in zip(claimed, confirmed, strict=True)):
        yield "speedup", f"{claimed} where the confirming runs say {confirmed}"
    over = next((run.speedup for run in found.runs if run.mapping == found.default and run.speedup), None)
    chosen = next((run.speedup for run in found.runs if run.mapping == found.mapping), None)
    expected = None if over is None or chosen is None else chosen / over
    if not _same(found.speedup_over_default, expected):
        yield "speedup_over_default", f"{found.speedup_over_default} where the runs say {expected}"


def _confirmation_problems(found: Advice, confirmation: Confirmation) -> _Problems:
    fastest = max(found.runs, key=lambda run: run.speedup or 0.0)
    if (confirmation.mapping != fastest.mapping and found.method == "search") or confirmation.mapping == found.baseline:
        yield "confirmation, mapping", f"{confirmation.mapping} is not the fastest mapping, {fastest.mapping}"
    for field in ("baseline_s", "mapping_s", "baseline_figures", "mapping_figures"):
        for value in getattr(confirmation, field):
            if not _is_figure(value):
                yield f"confirmation, {field}", f"{value:g} cannot have been read"
                return
    ends = (confirmation.speedup, confirmation.low, confirmation.high)
    if None in ends:
        if ends != (None, None, None) or confirmation.won or not confirmation.reason:
            yield "confirmation", "neither a speedup nor the reason why there is none"
        return
    sides = confirmation.baseline_s, confirmation.mapping_s
    if not found.figure.is_time:
        sides = confirmation.baseline_figures, confirmation.mapping_figures
    ratios = list(itertools.starmap(found.figure.speedup, zip(*sides, strict=False)))
    if not all(0 < ratio < math.inf for ratio in ratios):
        yield "confirmation", f"times that differ by {max(ratios):g} cannot have been read"
        return
    if not ratios or len(sides[0]) != len(sides[1]):
        yield "confirmation", f"{len(sides[0])} runs of one and {len(sides[1])} of another"
        return
    mean = statistics.geometric_mean(ratios)
    for field, value, expected in zip(("speedup", "low", "high"), ends, (mean, min(ratios), max(ratios)), strict=True):
        if not _same(value, expected):
            yield f"confirmation, {field}", f"{value} contradicts the times, which give {expected:g}"
    if confirmation.won and mean <= 1:
        yield "confirmation, won", f"by {mean:g} of the baseline's speed"


def _further_problems(found: Advice, following: FurtherRun) -> _Problems:
    if following.mapping in {run.mapping for run in found.runs}:
        yield "next, mapping", f"{following.mapping} has run"
    yield from speedup_problems("next, speedup", following.speedup)
    if not (math.isfinite(following.expected_speedup) and following.expected_speedup >= 1):
        yield "next, expected_speedup", f"{following.expected_speedup:g}, where a slower run counts as 1"
    if not 0 <= following.chance <= 1 + 1e-9:
        yield "next, chance", f"{following.chance:g} is not within 0 to 1"
    if not (math.isfinite(following.cost_s) and 0 <= following.confirming_s <= following.cost_s > 0):
        yield "next, cost_s", f"{following.cost_s:g} s with {following.confirming_s:g} s to confirm is no cost"
    elif not (math.isfinite(following.saving_s) and following.saving_s >= 0):
        yield "next, saving_s", f"{following.saving_s:g} s is no saving"
    else:
        expected = Worth(following.cost_s, following.confirming_s, following.saving_s).from_runs
        if following.worth_from_runs != expected:
            yield "next, worth_from_runs", f"{following.worth_from_runs} where cost and saving give {expected}"


def _explanation_problems(found: Advice) -> _Problems:
    for choice in found.explanation.choices:
        speed = ExpectedSpeedup(choice.speedup, choice.low, choice.high)
        yield from speedup_problems(f"speedup of {choice.mapping}", speed)
    for close in found.explanation.close:
        if not (math.isfinite(close.speedup) and close.speedup > 0):
            yield f"speedup of {close.mapping}", f"{close.speedup:g} cannot be"
    if (similar := found.similar) is None:
        return
    if similar.centroid not in similar.members:
        yield "similar", "the centroid is not one of the members"
    if not 0 <= similar.ambiguity <= 1 + 1e-9:
        yield "similar, ambiguity", f"{similar.ambiguity:g} is not within 0 to 1"
    for field, speedup in (("best_speedup", similar.best_speedup), ("speedup", similar.speedup)):
        if speedup is not None:
            yield from speedup_problems(f"similar, {field}", speedup)


def _command_problems(found: Advice) -> _Problems:
    if not isinstance(found.mapping, Mapping):
        if found.command != found.program or found.alternatives:
            yield "command", "not the program as it is now, which is the answer"
    elif run_words(found.mapping.label) not in found.command:
        yield "command", f"it does not run the program under {found.mapping}, the answer"
    speedups = {run.mapping: run.speedup for run in found.runs}
    for each in found.alternatives:
        if each.speedup is not None and not _same(each.speedup, speedups.get(each.mapping, each.speedup)):
            yield f"speedup of {each.tool}'s command", f"it is not that of a run of {each.mapping}"
        if each.exact and each.mapping != found.mapping:
            yield f"{each.tool}'s command", f"exact, but of {each.mapping}"
    if found.alternative != next((each for each in found.alternatives if each.tool == "numactl"), None):
        yield "alternative", "it is not numactl's command among the alternatives"


def _fact_problems(found: Advice) -> _Problems:
    if found.region_share is not None and not 0 <= found.region_share <= 1 + 1e-9:
        yield "region_share", f"{found.region_share:g} is not within 0 to 1"
    if found.region_speedup is not None and not (math.isfinite(found.region_speedup) and found.region_speedup > 0):
        yield "region_speedup", f"{found.region_speedup:g} cannot be"
    if found.trace_share is not None and not 0 <= found.trace_share <= 1 + 1e-9:
        yield "trace_share", f"{found.trace_share:g} is not within 0 to 1"
    if found.computed < 0:
        yield "computed", f"{found.computed}"
    if not 0 <= found.kept_runs <= len(found.runs):
        yield "kept_runs", f"{found.kept_runs} of {len(found.runs)}"
    elif bool(found.kept_runs) != _is_time(found.kept_since):
        yield "kept_since", f"{found.kept_since!r} with {found.kept_runs} kept runs"
    if found.expected_runs is not None and found.expected_runs < 1:
        yield "expected_runs", f"{found.expected_runs}"


def _is_figure(value: float) -> bool:
    return math.isfinite(value) and value > 0


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _same(one: float | None, other: float | None) -> bool:
    """Return whether two speedups differ by their rounding at most."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-6)


def label_problems(
    mappings: ByName[str, AnyMapping], machine: str, topology: Topology | None
) -> Iterator[tuple[str, str]]:
    """Yield field and problem of labels that are none, or do not fit the machine."""
    for field, named in mappings.items():
        try:
            mapping = applicable(named)
            if topology is not None:
                resolve(mapping, topology)
        except NumapredictError as error:
            yield field, f"{error} (machine {machine})" if topology is not None else f"{error}"


def speedup_problems(field: str, speed: ExpectedSpeedup) -> Iterator[tuple[str, str]]:
    """Yield a field and its problem if its three speedups are no interval."""
    if not (math.isfinite(speed.high) and 0 < speed.low <= speed.median <= speed.high):
        found = f"{speed.median:g} between {speed.low:g} and {speed.high:g}"
        yield field, f"{found} is no interval of speedups, which are above 0 with the median inside"
