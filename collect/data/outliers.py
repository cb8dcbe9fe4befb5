"""Times that cannot be right: a cell far from what its program's and its mapping's other cells suggest.

What is usual for a program under a mapping is the product of a program's and a mapping's factor, both by medians
(median polish: Tukey, Exploratory Data Analysis, 1977, ch. 11). A cell is an outlier where it is FACTOR times as much
or as little, and also SPREADS times as far from usual as the typical cell of its program and of its mapping: a program
that reacts unusually differs in many cells. Of the 145,000 modelled cells of the shipped datasets and the 1,800
measured ones of MCTOP none is one; the farthest are 10 and 4.6 times what is usual, and have neighbours like them.
"""

import math

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.measurement import Measurement
from numapredict.collect.terminal.printable import counted, printable

Array = npt.NDArray[np.float64]

FACTOR, SPREADS = 16.0, 8.0
LEAST = 3
"""Fewer programs or mappings do not show what is usual."""

_SWEEPS = 10
_TO_DEVIATION = 1.4826
"""A normal distribution's standard deviation over its median absolute deviation."""
_MOST_NAMED = 5


class Outlier(msgspec.Struct, frozen=True, kw_only=True):
    """One program's time under one mapping, and what would be usual for both."""

    program: str
    mapping: str
    time_s: float
    usual_s: float


def outliers_of(dataset: Dataset) -> tuple[Outlier, ...]:
    """Return the outliers among a dataset's times, the farthest first.

    They are the times in parallel regions if every run reports them, else those of whole runs.
    """
    valid = [m for m in dataset.measurements if m.status == "ok"]
    in_regions = all(m.region_time_s is not None for m in valid)
    times = {(m.program, m.mapping.label): time for m in valid if (time := _time_s(m, in_regions)) > 0}
    programs, labels = (list(dict.fromkeys(names)) for names in zip(*times, strict=True)) if times else ([], [])
    if min(len(programs), len(labels)) < LEAST:
        return ()
    row_of, column_of = ({name: number for number, name in enumerate(names)} for names in (programs, labels))
    logs = np.full((len(programs), len(labels)), np.nan)
    for (program, label), time_s in times.items():
        logs[row_of[program], column_of[label]] = math.log2(time_s)
    residuals = _residuals(logs)
    spread = np.maximum(_deviation(residuals, 1), _deviation(residuals, 0))
    far = np.nan_to_num(np.abs(residuals)) >= np.maximum(math.log2(FACTOR), SPREADS * spread)
    found = [(programs[row], labels[column], float(residuals[row, column])) for row, column in np.argwhere(far)]
    return tuple(
        Outlier(program=name, mapping=label, time_s=times[name, label], usual_s=times[name, label] * 2.0**-residual)
        for name, label, residual in sorted(found, key=lambda each: -abs(each[2]))
    )


def without_outliers(dataset: Dataset) -> tuple[Dataset, tuple[Outlier, ...]]:
    """Return the dataset with its outliers turned into failed measurements that say so, and the outliers."""
    found = {(each.program, each.mapping): each for each in outliers_of(dataset)}
    if not found:
        return dataset, ()
    measurements = tuple(
        m if (each := found.get((m.program, m.mapping.label))) is None else _left_out(m, each)
        for m in dataset.measurements
    )
    return msgspec.structs.replace(dataset, measurements=measurements), tuple(found.values())


def outliers_in_words(outliers: tuple[Outlier, ...], machine: str, default: str | None = None) -> str:
    """Return one line: how many outliers were left out, which, and the effect on programs whose default is one."""
    named = "; ".join(
        f"{printable(each.program)} under {printable(each.mapping)} ({each.time_s:.3g} s, usual {each.usual_s:.3g} s)"
        for each in outliers[:_MOST_NAMED]
    )
    more = f" and {len(outliers) - _MOST_NAMED} more" if len(outliers) > _MOST_NAMED else ""
    lost = [printable(each.program) for each in outliers if each.mapping == default]
    without = f"; without its default {', '.join(lost[:_MOST_NAMED])} cannot be judged" if lost else ""
    return (
        f"{printable(machine)}: {counted(len(outliers), 'outlier')} left out of the times: {named}{more}{without};"
        " --keep-outliers keeps them"
    )


def _time_s(measurement: Measurement, in_regions: bool) -> float:
    time_s = measurement.region_time_s if in_regions else measurement.time_s
    return 0.0 if time_s is None else time_s


def _left_out(measurement: Measurement, outlier: Outlier) -> Measurement:
    message = f"left out as an outlier: {outlier.time_s:.6g} s, where {outlier.usual_s:.3g} s would be usual"
    return msgspec.structs.replace(measurement, status="crashed", repetitions=(), message=message)


def _residuals(logs: Array) -> Array:
    """Return the residuals of log times, float64[programs, mappings], after removing program and mapping medians."""
    left = logs.copy()
    for _ in range(_SWEEPS):
        left -= np.nanmedian(left, axis=1, keepdims=True)
        left -= np.nanmedian(left, axis=0, keepdims=True)
    return left


def _deviation(residuals: Array, axis: int) -> Array:
    deviation: Array = _TO_DEVIATION * np.nanmedian(np.abs(residuals), axis=axis, keepdims=True)
    return deviation
