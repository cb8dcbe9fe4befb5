"""The answer: the best mapping that was run, confirmed by running it and the baseline in turn."""

import statistics
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from typing import Literal

import msgspec

from numapredict.collect.figure import TIME, Figure
from numapredict.collect.host.tasks import starts_tasks
from numapredict.collect.machine import Machine
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.mapped_files import files_in_words
from numapredict.collect.measuring.run_limit import UNLIMITED
from numapredict.collect.modelled.native_cycles import native_cycles_in_words
from numapredict.collect.modelled.seen_regions import CUT_CENSUS, SHARE, compared_in_words
from numapredict.collect.placing.command import run_command
from numapredict.collect.placing.exit_code import exit_code_of, exit_codes_in_words
from numapredict.collect.placing.start import NUMACTL, PLACEMENT
from numapredict.collect.program import Program
from numapredict.collect.terminal.estimated_time import seconds_in_words
from numapredict.collect.terminal.printable import command_line
from numapredict.predictor.advising.alternative import Alternative, alternatives_of
from numapredict.predictor.advising.assignment import ProbeReading, assign, reading_of
from numapredict.predictor.advising.confirmation import Confirmation, confirm
from numapredict.predictor.advising.disagreement import disagreements
from numapredict.predictor.advising.evidence import evidence_of, reached_by
from numapredict.predictor.advising.explanation import Choice, Explanation, choices_of, close_to, explain, of_one_node
from numapredict.predictor.advising.kept_runs import KeptRuns
from numapredict.predictor.advising.own_threads import other_teams
from numapredict.predictor.advising.region_run import RegionRun, region_runs
from numapredict.predictor.advising.search import Runner, search
from numapredict.predictor.advising.search_options import SearchOptions
from numapredict.predictor.advising.search_run import SearchRun
from numapredict.predictor.advising.search_state import Search
from numapredict.predictor.advising.similar_programs import SimilarPrograms, similar_programs
from numapredict.predictor.advising.unknown import Unknown
from numapredict.predictor.advising.unseen import ENOUGH_SEEN, LEAST_SEEN, speedup_of_whole
from numapredict.predictor.learning.model import ExpectedSpeedup, Model
from numapredict.predictor.searching.next_run import NextRun
from numapredict.predictor.searching.prior import Prior

DRIFT, DRIFT_IN_DEVIATIONS = 0.05, 5.0
"""A kept run of the baseline that differs from the confirming ones by more than both is a warning.

Of times with normal noise, the first differs by 5 deviations from the mean of three further ones in one case of 20.
"""


class FurtherRun(msgspec.Struct, frozen=True, kw_only=True):
    """The run that a search would make next, and by what it is expected to speed up the best so far.

    ``expected_speedup`` is a mean that counts a slower run as 1, since the best is then kept. ``speedup`` is that of
    the run itself over the best so far, with its 90% interval, and ``chance`` the probability that it is faster. It
    costs ``cost_s`` seconds at most, ``confirming_s`` of them for the three rounds that confirm its gain (two more
    follow where these leave it unsure), and should save ``saving_s`` in each later run: pays off after
    ``worth_from_runs`` runs of the program, null if never.
    """

    mapping: AnyMapping
    expected_speedup: float
    speedup: ExpectedSpeedup
    chance: float
    cost_s: float
    confirming_s: float
    saving_s: float
    worth_from_runs: int | None


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """The answer, as `--json` prints it; speedups are over ``baseline``, the program as it is now.

    ``figure`` is what the runs are compared by: with a ``metric``, all speedups but those of regions are by it.
    ``baseline`` is ``as-it-is`` on this computer, and the default mapping on a described machine; ``default`` is the
    mapping that datasets count speedups from. ``mapping`` is the advice: a mapping that was run, or the baseline's
    where none was clearly faster (``keep``). ``speedup`` is that of the confirming runs, from ``low`` to ``high``, of
    the whole run, and 1 where the baseline is kept; where traces saw a part of the program, it is that of all of it,
    and the interval one of 90%. ``region_speedup`` is that of the parallel regions, and ``region_share`` their part of
    the baseline's run, None where they are not timed, or the baseline is kept. ``speedup_over_default`` is by the
    search's runs, None if the default was not run.
    ``runs`` are in their order; ``next`` is what a further one would be. ``computed``: the times of so many mappings
    are known from the runs' traces, of which ``runs`` has the fastest. ``knows`` says whose gains chose the runs;
    ``method`` is ``thesis`` where the programs' cluster chose the mapping. ``similar`` are the programs of the cluster
    to which the two probes assign this one, None where there is no model, or a probe did not run; ``explanation`` says
    why, as far as the readings show.
    ``trace_share`` is the part of the program's region time that was seen, for modelled runs. ``command`` applies the
    advice, and ``alternatives`` without the preload library as far as each tool can; ``alternative`` is numactl's; none
    of them if the program should stay as it is. ``own_threads`` says what follows from a number of threads that the
    program sets itself; ``exit_code`` is what it ends with, though its parallel regions ran.
    ``kept_runs``: so many runs, the first ones, were made by earlier commands, from the time ``kept_since`` on.
    ``expected_runs`` is how often the program will run, if that was said. ``disturbed`` is what others took of the
    computer meanwhile, upon which the baseline is kept: no gain can be told from it then. ``regions`` has the time of
    each parallel region in the baseline's run and in the fastest one, where they are known. ``answer`` distinguishes
    advice from ``Unknown``.
    """

    program: str
    machine: str
    modelled: bool
    method: Literal["search", "thesis"] = "search"
    figure: Figure = TIME
    knows: str
    baseline: AnyMapping
    default: AnyMapping
    mapping: AnyMapping
    keep: bool
    speedup: float
    low: float
    high: float
    speedup_over_default: float | None
    region_speedup: float | None
    region_share: float | None
    runs: tuple[SearchRun, ...]
    computed: int = 0
    next: FurtherRun | None
    confirmation: Confirmation | None
    similar: SimilarPrograms | None = None
    explanation: Explanation
    trace_share: float | None
    command: str
    alternative: Alternative | None
    alternatives: tuple[Alternative, ...]
    warnings: tuple[str, ...]
    own_threads: str = ""
    exit_code: int = 0
    kept_runs: int = 0
    kept_since: str = ""
    expected_runs: int | None = None
    disturbed: str = ""
    regions: tuple[RegionRun, ...] = ()
    answer: Literal["advised"] = "advised"


def advise(
    program: Program,
    machine: Machine,
    runner: Runner,
    prior: Prior,
    options: SearchOptions,
    model: Model | None = None,
) -> Advice | Unknown:
    """Run the program as the options say, confirm the best mapping and return the answer; raises what ``search`` does.

    ``model`` has the clusters that explain and, by the thesis's method, choose the mapping. Unknown if traces saw too
    little of the program.
    """
    thesis = options.method == "thesis"
    found = search(runner, prior, machine.topology, options, model)
    share = seen_share(found.compared())
    if share is not None and share < LEAST_SEEN:
        return _unknown(program, machine, share, found)
    runs, best = found.records(), found.best()
    disturbed, rounds = found.disturbed(), found.confirming_rounds(options.expected_runs)
    confirmation = _confirmed(found, runner, rounds) if rounds[0] and not disturbed else None
    if confirmation is not None:
        disturbed = confirmation.disturbed or (runner.look() if found.short and confirmation.won else "")
    keep = confirmation is None or not confirmation.won or bool(disturbed)
    mapping = runner.baseline if keep else runs[best].mapping
    speed = (1.0, 1.0, 1.0) if keep or confirmation is None else _speed(confirmation, share)
    default = prior.mappings[prior.default]
    over = next((run.speedup for run in runs if run.mapping == default and run.speedup), None)
    chosen = runs[0 if keep else best].speedup
    following, speedups = found.following(), found.speedups()
    # What another tool starts is one process: it would give each rank of a job the whole mapping.
    alternatives: tuple[Alternative, ...] = ()
    if isinstance(mapping, Mapping) and not starts_tasks(program.command):
        alternatives = alternatives_of(mapping, speedups, machine, program)
    readings = _readings(found, default)
    assigned = None if model is None else assign(model, readings)
    return Advice(
        program=command_line(program.command),
        machine=machine.name,
        modelled=machine.modelled,
        method=options.method,
        figure=options.figure,
        knows=prior.origin,
        baseline=runner.baseline,
        default=default,
        mapping=mapping,
        keep=keep,
        speedup=speed[0],
        low=speed[1],
        high=speed[2],
        speedup_over_default=None if over is None or chosen is None else chosen / over,
        region_speedup=None if keep or confirmation is None else confirmation.region_speedup,
        region_share=None if keep or confirmation is None else confirmation.region_share,
        runs=runs,
        computed=len(speedups) if found.computed else 0,
        next=None if following is None or thesis or disturbed else _further(found, following, options.cut),
        confirmation=confirmation,
        similar=None if assigned is None or model is None else similar_programs(assigned, model.default, mapping),
        explanation=_explanation(found, speedups, readings, mapping, model, machine),
        trace_share=share,
        command=run_command(mapping, program) if isinstance(mapping, Mapping) else command_line(program.command),
        alternative=next((each for each in alternatives if each.tool == "numactl"), None),
        alternatives=alternatives,
        warnings=_warnings(found, share, confirmation),
        own_threads=found.threads_text,
        exit_code=max(map(exit_code_of, found.compared())),
        kept_runs=found.kept,
        kept_since=_since(runner.kept) if found.kept and runner.kept else "",
        expected_runs=options.expected_runs,
        disturbed=disturbed,
        regions=region_runs([found.made[number].measurement for number in dict.fromkeys((0, best))]),
    )


def seen_share(measured: Iterable[Measurement]) -> float | None:
    """Return the least share of the region time that a trace saw, None without traces."""
    shares = [float(value) for m in measured for name, value in m.provenance if name == SHARE]
    return min(shares, default=None)


def _unknown(program: Program, machine: Machine, share: float, found: Search) -> Unknown:
    return Unknown(
        program=command_line(program.command),
        machine=machine.name,
        modelled=machine.modelled,
        reason=f"the traces saw {share:.0%} of its region time, and below {LEAST_SEEN:.0%} there is no answer",
        to_try=(
            "a smaller input, or fewer time steps, so that more of its regions run within the budget",
            "more time: --cpu-seconds, up to 3600",
        ),
        trace_share=share,
        warnings=(*exit_codes_in_words(found.compared()), *compared_in_words(found.compared())),
    )


def _readings(found: Search, default: Mapping) -> list[ProbeReading]:
    """Return what was read in all runs; the baseline's counts as the default's where it is most like that."""
    measured = {made.column: made.measurement for made in found.made[1:]}
    first = found.made[0]
    readings = [reading_of(each, found.clock) for each in (first.measurement, *{**found.computed, **measured}.values())]
    if first.column == found.prior.default and readings[0] is not None:
        readings[0] = msgspec.structs.replace(readings[0], mapping=default)
    return [reading for reading in readings if reading is not None]


def _explanation(
    found: Search,
    speedups: dict[Mapping, float],
    readings: list[ProbeReading],
    mapping: AnyMapping,
    model: Model | None,
    machine: Machine,
) -> Explanation:
    """Return why: what the readings show, and what other page policies and numbers of threads give."""
    default = found.prior.mappings[found.prior.default]
    reached = None if model is None else reached_by(model)
    if model is not None:  # its second probe is what the rules were tested on
        probes = {probe.mapping for probe in model.probes}
        readings = sorted(readings, key=lambda reading: reading.mapping not in probes)
    if len(machine.topology.nodes) == 1:
        explanation = Explanation(pages="unknown", binds="unknown", findings=(of_one_node(machine.topology),))
    else:
        tried = {made.measurement.mapping for made in found.made} | speedups.keys()
        explanation = explain(evidence_of(readings, default, reached, machine.controllers_GBps), default, tried)
    if not isinstance(mapping, Mapping) or mapping not in speedups:
        return explanation
    expected = dict(zip(found.prior.mappings, found.expected_speedups(), strict=True))
    left_out = found.left_out()
    allowed = {each: speedup for n, (each, speedup) in enumerate(expected.items()) if n not in left_out}
    choices = choices_of(mapping, list({**allowed, **speedups}.items()))
    return msgspec.structs.replace(
        explanation,
        choices=tuple(_choice(found, choice, speedups) for choice in choices),
        close=close_to(mapping, speedups) if found.computed else (),
    )


def _choice(found: Search, choice: tuple[str, str, Mapping], speedups: dict[Mapping, float]) -> Choice:
    part, words, mapping = choice
    ran = mapping in speedups
    if ran:
        speed = (speedups[mapping],) * 3
    else:
        expected, best = found.expected(found.prior.mappings.index(mapping)), found.best()
        over = 2 ** found.whole_gains()[best]
        median, low, high = (
            over * found.whole_speedup(best, 2**gain) for gain in (expected.median, expected.low, expected.high)
        )
        speed = median, low, high
    return Choice("pages" if part == "pages" else "threads", words, mapping, *speed, ran)


def _further(found: Search, following: NextRun, cut: bool) -> FurtherRun:
    worth, expected, best = found.worth(following, cut), found.expected(following.column), found.best()
    return FurtherRun(
        mapping=found.prior.mappings[following.column],
        expected_speedup=2 ** found.adds(following),
        speedup=ExpectedSpeedup(
            *(found.whole_speedup(best, 2**gain) for gain in (expected.median, expected.low, expected.high))
        ),
        chance=expected.chance,
        cost_s=worth.cost_s,
        confirming_s=worth.confirming_s,
        saving_s=worth.saving_s,
        worth_from_runs=worth.from_runs,
    )


def _confirmed(found: Search, runner: Runner, rounds: tuple[int, int]) -> Confirmation:
    winner = found.made[found.best()].measurement.mapping
    if not isinstance(winner, Mapping):
        raise AssertionError("only the baseline may have a mapping that is not in our grammar")
    sides: dict[AnyMapping, Callable[[], Measurement]] = {
        runner.baseline: runner.run_baseline,
        winner: partial(runner.run, winner, UNLIMITED),
    }
    return confirm(runner.program, sides, *rounds, figure=found.figure)


def _speed(confirmation: Confirmation, share: float | None) -> tuple[float, float, float]:
    """Return speedup and interval: of the whole program, by that of the share of its region time that was seen."""
    found = ExpectedSpeedup(confirmation.speedup or 1.0, confirmation.low or 1.0, confirmation.high or 1.0)
    if share is not None and share < 1:
        found = speedup_of_whole(found, share)
    return found.median, found.low, found.high


def _since(kept: KeptRuns) -> str:
    return datetime.fromtimestamp(kept.runs[0].made_s, UTC).isoformat(timespec="seconds")


def _warnings(found: Search, share: float | None, confirmation: Confirmation | None) -> tuple[str, ...]:
    measured = found.compared()
    said = (exit_codes_in_words, compared_in_words, native_cycles_in_words, files_in_words)
    lines = [line for in_words in said for line in in_words(measured)]
    if share is not None and share < ENOUGH_SEEN:
        lines.append(
            f"the traces saw {share:.0%} of the region time; the rest is assumed to gain the square root of what that "
            "gains, within a factor of 3 (--cpu-seconds or a smaller input shows more)"
        )
    if any(CUT_CENSUS in m.provenance for m in measured):
        lines.append("the native run was stopped by its time budget; regions are weighed by what had run until then")
    lines += [text for text in map(other_teams, measured) if text][:1]  # shares differ from run to run
    lines += disagreements(found, confirmation)
    notes = {name: value for m in measured for name, value in m.provenance}
    if NUMACTL in notes:
        lines.append(f"the runs were placed by {notes[PLACEMENT]}, which `numapredict run` uses too")
    if found.kept and confirmation is not None and len(confirmation.baseline_s) > 1:
        in_words: Callable[[float], str] = seconds_in_words
        first, again = found.records()[0], confirmation.baseline_s
        kept, verb = first.time_s or 0.0, "took"
        if not found.figure.is_time:
            again, in_words = confirmation.baseline_figures, found.figure.in_words
            kept, verb = first.figure or 0.0, "had"
        off = abs(kept / statistics.fmean(again) - 1)
        if off > max(DRIFT, DRIFT_IN_DEVIATIONS * statistics.stdev(again) / statistics.fmean(again)):
            lines.append(
                f"the program as it is now {verb} {in_words(kept)} in the kept run and "
                f"{in_words(statistics.fmean(again))} on average now: conditions here have changed, and the "
                "kept runs may have misled the search (--fresh makes all anew)"
            )
    return tuple(lines)
