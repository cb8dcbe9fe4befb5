"""Confirms a gain: baseline and fastest mapping run in turn, and a change is advised only if it measures faster."""

import logging
import statistics
from collections.abc import Callable

import msgspec
import numpy as np
from scipy.special import stdtrit

from numapredict.collect.figure import TIME, Figure
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.repetitions import others_noted
from numapredict.collect.modelled.seen_regions import in_common
from numapredict.predictor.searching.known_gains import Array

CONFIRMING_ROUNDS = 3
"""Further runs of a search's baseline and winner, in turn; one on a modelled machine, where every run is the same.

With 5% noise in every run, at most 0.07% of the searches on a machine's recorded times then end over 2% slower than the
baseline (``tests.benchmarks.search_noise``).
"""

FURTHER_ROUNDS = 2
"""As many more where the winner was faster on average, but not in all of its interval.

With normal noise of 5%, 200,000 draws: a gain of 10% is then sure in 0.86 of the cases, in 0.67 by three rounds alone,
after 3.6 rounds on average. A winner that is 3% slower is taken in 0.029 of the cases, by three rounds in 0.026.
"""

DOUBT = 2.0
"""Standard errors by which the mean gain must exceed 0.

If there is no gain, 5 rounds do so in one case of 17, and 3 in one of 11 (Student's t).
"""

SURE = 0.99
"""How sure a gain by a metric must be, on one side, by Student's t of the rounds: how noisy a metric is is unknown.

Where the metric is normal noise of 5%, 1.4% of 2,000 searches of three runs then claim a gain, by DOUBT 7%. With the
same noise, a mapping that gives 10% more is advised in 37% of 500 searches, one that gives 20% more in 95%.
"""

LEAST_GAIN = 0.005
"""A smaller gain, in log2, is none: 0.35%. A search stops where its next run is expected to add less.

On the modelled times that shipped before lpdquad had two threads a core, programs held out, four runs then capture 0.96
to 0.99 of the gain and cost 3.3 default runs; with three times as much 0.90 to 0.98, at 2.5.
"""

LEAST_ADVISED = 0.0144
"""The least gain of the whole run for which a change is advised, in log2: 1%."""

log = logging.getLogger(__name__)


class Confirmation(msgspec.Struct, frozen=True, kw_only=True):
    """Further runs of the baseline and of the fastest mapping, in turn: their times in seconds, round by round.

    ``speedup`` is the geometric mean of baseline over mapping, ``low`` and ``high`` its least and greatest over the
    rounds, all of the whole run; None if a run failed, with the ``reason``. ``won`` is whether the mapping is
    significantly faster, by 1% or more. Where a metric is compared, ``speedup`` is by ``baseline_figures`` and
    ``mapping_figures``, empty for the time, and ``time_speedup`` is that of the run time. ``region_speedup`` is that of
    the parallel regions, and ``region_share`` their part of the baseline's run, 0 to 1; None where they are not timed.
    ``disturbed`` is what others took of the computer, upon which no more runs were made.
    """

    mapping: AnyMapping
    baseline_s: tuple[float, ...]
    mapping_s: tuple[float, ...]
    speedup: float | None
    low: float | None
    high: float | None
    won: bool
    reason: str
    region_speedup: float | None = None
    region_share: float | None = None
    disturbed: str = ""
    baseline_figures: tuple[float, ...] = ()
    mapping_figures: tuple[float, ...] = ()
    time_speedup: float | None = None


def confirm(
    name: str,
    sides: dict[AnyMapping, Callable[[], Measurement]],
    rounds: int,
    further: int = 0,
    figure: Figure = TIME,
) -> Confirmation:
    """Run two sides in turn, the baseline's first and then the mapping's, and say whether the mapping won.

    ``further`` rounds follow if the mapping is faster on average, but not in all of its interval.
    """
    baseline, mapping = sides
    made: dict[AnyMapping, list[Measurement]] = {baseline: [], mapping: []}
    for number in range(rounds + further):
        if number == rounds and not _unsure(figure, *_gains(figure, *made.values())):
            break
        most = rounds if number < rounds else rounds + further
        for each in (baseline, mapping) if number % 2 == 0 else (mapping, baseline):
            how = f"under {each}" if isinstance(each, Mapping) else "as it is now"
            if rounds > 1:  # one round: a model, whose runs are the same each time
                log.info(f"verifying, round {number + 1} of {most}: {name} {how}")
            measurement = sides[each]()
            if measurement.status != "ok" or not measurement.time_s > 0:
                why = measurement.message or (measurement.status if measurement.status != "ok" else "no time was read")
                return _confirmation(figure, made, f"the run under {each} failed: {why}")
            made[each].append(measurement)
            if busy := others_noted(measurement):
                found = _confirmation(figure, made, f"others disturbed the run under {each}: {busy}")
                return msgspec.structs.replace(found, disturbed=busy)
    if made[mapping][-1].modelled:  # traces of different thread counts may have seen different regions
        one, other = in_common((made[baseline][-1], made[mapping][-1]))
        made = {baseline: [one], mapping: [other]}
    return _confirmation(figure, made)


def _confirmation(figure: Figure, made: dict[AnyMapping, list[Measurement]], reason: str = "") -> Confirmation:
    baseline_runs, mapping_runs = made.values()
    baseline_figures, mapping_figures = (tuple(filter(None, map(figure.value, runs))) for runs in made.values())
    found = Confirmation(
        mapping=list(made)[1],
        baseline_s=tuple(each.time_s for each in baseline_runs),
        mapping_s=tuple(each.time_s for each in mapping_runs),
        speedup=None,
        low=None,
        high=None,
        won=False,
        reason=reason,
        baseline_figures=baseline_figures,
        mapping_figures=mapping_figures,
    )
    if reason:
        return found
    gains, doubt = _gains(figure, baseline_runs, mapping_runs)
    share = [(each.region_time_s or 0.0) / each.time_s for each in baseline_runs]
    regions = [(one.region_time_s, other.region_time_s) for one, other in zip(baseline_runs, mapping_runs, strict=True)]
    ratios = [one / other for one, other in regions if one and other]
    timed = len(ratios) == len(regions)
    return msgspec.structs.replace(
        found,
        speedup=float(2 ** gains.mean()),
        low=float(2 ** gains.min()),
        high=float(2 ** gains.max()),
        won=_won(figure, gains, doubt),
        time_speedup=None if figure.is_time else float(2 ** _gains(TIME, baseline_runs, mapping_runs)[0].mean()),
        region_speedup=statistics.geometric_mean(ratios) if timed else None,
        region_share=statistics.fmean(share) if timed else None,
    )


def _gains(figure: Figure, baseline: list[Measurement], mapping: list[Measurement]) -> tuple[Array, float]:
    """Return the gain of each round in log2, and how much of it may be for want of digits of the figure."""
    pairs = list(zip(baseline, mapping, strict=True))
    gains: Array = np.log2([figure.cost(one) / figure.cost(other) for one, other in pairs])
    return gains, max(figure.doubt(one) + figure.doubt(other) for one, other in pairs)


def _won(figure: Figure, gains: Array, doubt: float) -> bool:
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    errors = DOUBT if figure.is_time or len(gains) < 2 else stdtrit(len(gains) - 1, SURE)
    return bool(gains.mean() > max(errors * error, LEAST_ADVISED, doubt))


def _unsure(figure: Figure, gains: Array, doubt: float) -> bool:
    return bool(gains.mean() > LEAST_ADVISED) and not _won(figure, gains, doubt)
