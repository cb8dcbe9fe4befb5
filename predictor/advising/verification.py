"""Verifies advice: default and advised mapping run alternately, and a change is advised only if it measures faster."""

import logging
from collections.abc import Callable
from functools import partial

import msgspec
import numpy as np

from numapredict.collect.machine import Machine
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.modelled.seen_regions import in_common
from numapredict.collect.program import Program
from numapredict.predictor.learning.features import time_by
from numapredict.predictor.learning.options import Clock
from numapredict.predictor.searching.known_gains import Array

ROUNDS = 5
"""Measurements of each mapping, alternately; one on a modelled machine, where every run gives the same."""

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

LEAST_GAIN = 0.005
"""A smaller gain, in log2, is none: 0.35%. A search stops where its next run is expected to add less.

On the modelled times that shipped before lpdquad had two threads a core, programs held out, four runs then capture 0.96
to 0.99 of the gain and cost 3.3 default runs; with three times as much 0.90 to 0.98, at 2.5.
"""

log = logging.getLogger(__name__)


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of both mappings: their times in seconds, round by round, and whether the advice won.

    ``speedup`` is the geometric mean over rounds of default over choice, ``low`` and ``high`` its least and greatest;
    None if a run failed, with the ``reason``.
    """

    mapping: AnyMapping
    default: AnyMapping
    default_s: tuple[float, ...]
    chosen_s: tuple[float, ...]
    speedup: float | None
    low: float | None
    high: float | None
    won: bool
    reason: str


def verify(program: Program, machine: Machine, mappings: tuple[Mapping, Mapping], clock: Clock) -> Verification:
    """Run a program under the default and the advised mapping, ``mappings`` in this order, and say which one won.

    Real hardware must be set to one run per measurement, so that single runs alternate. A mapping under which the
    program fails has not won. Raises the machine's own errors.
    """
    sides: dict[AnyMapping, Callable[[], Measurement]] = {
        each: partial(machine.run, program, each) for each in mappings
    }
    return alternate(program.name, sides, clock, 1 if machine.modelled else ROUNDS)


def alternate(
    name: str, sides: dict[AnyMapping, Callable[[], Measurement]], clock: Clock, rounds: int, further: int = 0
) -> Verification:
    """Run two sides in turn, the default's first and then the choice's, and say whether the choice won.

    ``further`` rounds follow if the choice is faster on average, but not in all of its interval.
    """
    default, mapping = mappings = _pair(*sides)
    times: dict[AnyMapping, list[float]] = {default: [], mapping: []}
    last: dict[AnyMapping, Measurement] = {}
    for number in range(rounds + further):
        if number == rounds and not _unsure(_gains(times, mappings)):
            break
        most = rounds if number < rounds else rounds + further
        for each in mappings if number % 2 == 0 else mappings[::-1]:
            how = f"under {each}" if isinstance(each, Mapping) else "as it is now"
            log.info(f"verifying, round {number + 1} of {most}: {name} {how}")
            measurement = sides[each]()
            time_s = time_by(clock, measurement) if measurement.status == "ok" else None
            if time_s is None or time_s <= 0:
                return _failed(mappings, times, each, measurement)
            times[each].append(time_s)
            last[each] = measurement
    if all(
        measurement.modelled for measurement in last.values()
    ):  # traces of different thread counts may have seen different regions
        for measurement in in_common(tuple(last.values())):
            times[measurement.mapping] = [time_by(clock, measurement) or 0.0]
    gains = _gains(times, mappings)
    return Verification(
        mapping=mapping,
        default=default,
        default_s=tuple(times[default]),
        chosen_s=tuple(times[mapping]),
        speedup=float(2 ** gains.mean()),
        low=float(2 ** gains.min()),
        high=float(2 ** gains.max()),
        won=_won(gains),
        reason="",
    )


def _gains(times: dict[AnyMapping, list[float]], mappings: tuple[AnyMapping, AnyMapping]) -> Array:
    gains: Array = np.log2(np.array(times[mappings[0]]) / np.array(times[mappings[1]]))
    return gains


def _won(gains: Array) -> bool:
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    return bool(gains.mean() > max(DOUBT * error, LEAST_GAIN))


def _unsure(gains: Array) -> bool:
    return bool(gains.mean() > LEAST_GAIN) and not _won(gains)


def _pair(default: AnyMapping, mapping: AnyMapping) -> tuple[AnyMapping, AnyMapping]:
    return default, mapping


def _failed(
    mappings: tuple[AnyMapping, AnyMapping],
    times: dict[AnyMapping, list[float]],
    failed: AnyMapping,
    measurement: Measurement,
) -> Verification:
    why = measurement.message or (measurement.status if measurement.status != "ok" else "no time was read")
    return Verification(
        mapping=mappings[1],
        default=mappings[0],
        default_s=tuple(times[mappings[0]]),
        chosen_s=tuple(times[mappings[1]]),
        speedup=None,
        low=None,
        high=None,
        won=False,
        reason=f"the run under {failed} failed: {why}",
    )
