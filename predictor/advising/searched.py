"""The answer of a search: the best mapping that was run, confirmed by running it and the baseline in turn."""

import os
import statistics
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Literal

import msgspec

from numapredict.collect.host.tasks import starts_tasks
from numapredict.collect.machine import Machine
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.run_limit import UNLIMITED
from numapredict.collect.modelled.seen_regions import compared_in_words
from numapredict.collect.placement import resolve
from numapredict.collect.placing.command import run_command
from numapredict.collect.placing.exit_code import exit_code_of, exit_codes_in_words
from numapredict.collect.placing.tools.emission import emit, expresses
from numapredict.collect.placing.tools.tools import TOOLS, Tool
from numapredict.collect.program import Program
from numapredict.collect.terminal.estimated_time import seconds_in_words
from numapredict.collect.terminal.printable import command_line
from numapredict.predictor.advising.advice import Alternative, seen_share
from numapredict.predictor.advising.kept_runs import KeptRuns
from numapredict.predictor.advising.region_run import RegionRun, region_runs
from numapredict.predictor.advising.search import Runner, Search, SearchOptions, SearchRun, search
from numapredict.predictor.advising.unseen import ENOUGH_SEEN, LEAST_SEEN
from numapredict.predictor.advising.verification import alternate
from numapredict.predictor.learning.model import ExpectedSpeedup
from numapredict.predictor.searching.next_run import NextRun
from numapredict.predictor.searching.prior import Prior

DRIFT, DRIFT_IN_DEVIATIONS = 0.05, 5.0
"""A kept run of the baseline that differs from the confirming ones by more than both is a warning.

Of times with normal noise, the first differs by 5 deviations from the mean of three further ones in one case of 20.
"""


class Confirmation(msgspec.Struct, frozen=True, kw_only=True):
    """Further runs of the baseline and of the fastest mapping, in turn: their times in seconds, round by round.

    ``speedup`` is the geometric mean of baseline over mapping, ``low`` and ``high`` its least and greatest over the
    rounds; None if a run failed, with the ``reason``. ``won`` is whether the mapping is significantly faster.
    """

    mapping: AnyMapping
    baseline_s: tuple[float, ...]
    mapping_s: tuple[float, ...]
    speedup: float | None
    low: float | None
    high: float | None
    won: bool
    reason: str


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


class Searched(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a search, as `--json` prints it; speedups are over ``baseline``, the program as it is now.

    ``baseline`` is ``as-it-is`` on this computer, and the default mapping on a described machine; ``default`` is the
    mapping that datasets count speedups from. ``mapping`` is the advice: a mapping that was run, or the baseline's
    where none was clearly faster (``keep``). ``speedup`` is that of the confirming runs, from ``low`` to ``high``,
    and 1 where the baseline is kept; ``speedup_over_default`` is by the search's runs, None if the default was not run.
    ``clock`` is ``regions`` where times are those of the parallel regions, ``process`` where they are of the whole run.
    ``runs`` are in their order; ``next`` is what a further one would be. ``knows`` says whose gains the runs were
    chosen by. ``trace_share`` is the part of the program's region time that was seen, for modelled runs. ``command``
    applies the advice, and ``alternatives`` without the preload library as far as each tool can; ``alternative`` is
    numactl's; none of them if the program should stay as it is. ``own_threads`` says what follows from a number of
    threads that the program sets itself; ``exit_code`` is what it ends with, though its parallel regions ran.
    ``kept_runs``: so many runs, the first ones, were made by earlier commands, from the time ``kept_since`` on.
    ``expected_runs`` is how often the program will run, if that was said. ``regions`` has the time of each parallel
    region in the baseline's run and in the fastest one, where they are known.
    """

    program: str
    machine: str
    modelled: bool
    knows: str
    baseline: AnyMapping
    default: AnyMapping
    mapping: AnyMapping
    keep: bool
    speedup: float
    low: float
    high: float
    speedup_over_default: float | None
    clock: str
    runs: tuple[SearchRun, ...]
    next: FurtherRun | None
    confirmation: Confirmation | None
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
    regions: tuple[RegionRun, ...] = ()
    answer: Literal["searched"] = "searched"


def searched(program: Program, machine: Machine, runner: Runner, prior: Prior, options: SearchOptions) -> Searched:
    """Search, confirm and return the answer; raises what ``search`` does."""
    found = search(runner, prior, machine.topology, options)
    runs, best = found.records(), found.best()
    rounds = found.confirming_rounds(options.expected_runs)
    confirmation = _confirmed(found, runner, rounds) if rounds[0] else None
    keep = confirmation is None or not confirmation.won
    mapping = runner.baseline if keep else runs[best].mapping
    speed = (1.0, 1.0, 1.0) if keep or confirmation is None else _speed(confirmation)
    default = prior.mappings[prior.default]
    over = next((run.speedup for run in runs if run.mapping == default and run.speedup), None)
    chosen = runs[0 if keep else best].speedup
    following, share = found.following(), seen_share(found.compared())
    # What another tool starts is one process: it would give each rank of a job the whole mapping.
    ranks = starts_tasks(program.command)
    alternatives = _alternatives(mapping, runs, machine, program) if isinstance(mapping, Mapping) and not ranks else ()
    return Searched(
        program=command_line(program.command),
        machine=machine.name,
        modelled=machine.modelled,
        knows=prior.origin,
        baseline=runner.baseline,
        default=default,
        mapping=mapping,
        keep=keep,
        speedup=speed[0],
        low=speed[1],
        high=speed[2],
        speedup_over_default=None if over is None or chosen is None else chosen / over,
        clock=found.clock,
        runs=runs,
        next=None if following is None else _further(found, following, options.cut),
        confirmation=confirmation,
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
        regions=region_runs([found.made[number].measurement for number in dict.fromkeys((0, best))]),
    )


def _further(found: Search, following: NextRun, cut: bool) -> FurtherRun:
    worth, expected = found.worth(following, cut), found.expected(following.column)
    return FurtherRun(
        mapping=found.prior.mappings[following.column],
        expected_speedup=2 ** max(following.expected_gain, 0.0),
        speedup=ExpectedSpeedup(*(2**gain for gain in (expected.median, expected.low, expected.high))),
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
    result = alternate(runner.program, sides, found.clock, *rounds)
    return Confirmation(
        mapping=winner,
        baseline_s=result.default_s,
        mapping_s=result.chosen_s,
        speedup=result.speedup,
        low=result.low,
        high=result.high,
        won=result.won,
        reason=result.reason,
    )


def _speed(confirmation: Confirmation) -> tuple[float, float, float]:
    return confirmation.speedup or 1.0, confirmation.low or 1.0, confirmation.high or 1.0


def _alternatives(
    mapping: Mapping, runs: tuple[SearchRun, ...], machine: Machine, program: Program
) -> tuple[Alternative, ...]:
    """Return each tool's command for the mapping, or for the fastest run that it can express and that was not slower.

    No run that was not confirmed goes before that of the mapping. Where there is none it is for the nearest mapping to
    the advised one, which did not run.
    """
    ranked = [run for run in runs if (run.speedup or 0.0) >= 1]
    ranked.sort(key=lambda run: (run.mapping != mapping, -(run.speedup or 0.0)))
    return tuple(_alternative(tool, mapping, ranked, machine, program) for tool in TOOLS)


def _alternative(
    tool: Tool, mapping: Mapping, ranked: list[SearchRun], machine: Machine, program: Program
) -> Alternative:
    shell = dict(os.environ)
    for run in ranked:
        if not isinstance(run.mapping, Mapping):
            continue
        placement = resolve(run.mapping, machine.topology)
        if expresses(tool, placement):
            found, speed = emit(tool, placement, program, shell), run.speedup or 1.0
            exact, speeds = run.mapping == mapping, ExpectedSpeedup(speed, speed, speed)
            return Alternative(tool, run.mapping, speeds, found.text, exact, found.note, found.cautions)
    found = emit(tool, resolve(mapping, machine.topology), program, shell)
    return Alternative(tool, found.mapping, None, found.text, found.exact, found.note, found.cautions)


def _since(kept: KeptRuns) -> str:
    return datetime.fromtimestamp(kept.runs[0].made_s, UTC).isoformat(timespec="seconds")


def _warnings(found: Search, share: float | None, confirmation: Confirmation | None) -> tuple[str, ...]:
    measured = found.compared()
    lines = [*exit_codes_in_words(measured), *compared_in_words(measured)]
    if share is not None and share < ENOUGH_SEEN:
        much = "too little to trust these figures" if share < LEAST_SEEN else "the rest may react in another way"
        lines.append(
            f"the traces saw {share:.0%} of its region time: {much} (--cpu-seconds or a smaller input shows more)"
        )
    if found.kept and confirmation is not None and len(confirmation.baseline_s) > 1:
        kept_s, again = found.records()[0].time_s or 0.0, confirmation.baseline_s
        off = abs(kept_s / statistics.fmean(again) - 1)
        if off > max(DRIFT, DRIFT_IN_DEVIATIONS * statistics.stdev(again) / statistics.fmean(again)):
            lines.append(
                f"the program as it is now took {seconds_in_words(kept_s)} in the kept run and "
                f"{seconds_in_words(statistics.fmean(again))} on average now: conditions here have changed, and the "
                "kept runs may have misled the search (--fresh makes all anew)"
            )
    return tuple(lines)
