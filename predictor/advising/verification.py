"""Verifies advice: the default and the advised mapping run alternately, and the default is kept unless it loses."""

import logging

import msgspec
import numpy as np

from numapredict.collect.machine import Machine
from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.modelled.seen_regions import in_common
from numapredict.collect.program import Program
from numapredict.predictor.learning.features import time_by
from numapredict.predictor.learning.options import Clock

ROUNDS = 5
"""Measurements of each mapping, alternately; one on a modelled machine, where every run gives the same."""

DOUBT = 2.0
"""Standard errors by which the mean gain must exceed 0: if there is no gain, 5 rounds do so in one case of 17."""

log = logging.getLogger(__name__)


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of both mappings: their times in seconds, round by round, and whether the advice won.

    ``speedup`` is the geometric mean over rounds of default over choice, ``low`` and ``high`` its least and greatest;
    None if a run failed, with the ``reason``.
    """

    mapping: str
    default: str
    default_s: tuple[float, ...]
    chosen_s: tuple[float, ...]
    speedup: float | None
    low: float | None
    high: float | None
    won: bool
    reason: str


def verify(program: Program, machine: Machine, labels: tuple[str, str], clock: Clock) -> Verification:
    """Run a program under the default and the advised mapping, ``labels`` in this order, and say which one won.

    Real hardware must be set to one run per measurement, so that single runs alternate. A mapping under which the
    program fails has not won. Raises the machine's own errors.
    """
    default, mapping = labels
    rounds = 1 if machine.modelled else ROUNDS
    times: dict[str, list[float]] = {default: [], mapping: []}
    last: dict[str, Measurement] = {}
    for number in range(rounds):
        for label in labels if number % 2 == 0 else labels[::-1]:
            log.info(f"verifying, round {number + 1} of {rounds}: {program.name} under {label}")
            measurement = machine.run(program, parse_label(label))
            time_s = time_by(clock, measurement) if measurement.status == "ok" else None
            if time_s is None or time_s <= 0:
                return _failed(labels, times, label, measurement)
            times[label].append(time_s)
            last[label] = measurement
    if machine.modelled:  # traces of different thread counts may have seen different regions
        for measurement in in_common(tuple(last.values())):
            times[measurement.mapping.label] = [time_by(clock, measurement) or 0.0]
    gains = np.log2(np.array(times[default]) / np.array(times[mapping]))
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    return Verification(
        mapping=mapping,
        default=default,
        default_s=tuple(times[default]),
        chosen_s=tuple(times[mapping]),
        speedup=float(2 ** gains.mean()),
        low=float(2 ** gains.min()),
        high=float(2 ** gains.max()),
        won=bool(gains.mean() > DOUBT * error),
        reason="",
    )


def _failed(
    labels: tuple[str, str], times: dict[str, list[float]], label: str, measurement: Measurement
) -> Verification:
    why = measurement.message or (measurement.status if measurement.status != "ok" else "no time was read")
    return Verification(
        mapping=labels[1],
        default=labels[0],
        default_s=tuple(times[labels[0]]),
        chosen_s=tuple(times[labels[1]]),
        speedup=None,
        low=None,
        high=None,
        won=False,
        reason=f"the run under {label} failed: {why}",
    )
