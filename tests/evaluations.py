"""Evaluations made by hand, for what is shown of them: every figure in them is chosen, none is learned."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from numapredict.collect.mapping import AnyMapping, mapping_named
from numapredict.predictor.evaluation.calibration import Forecast, calibration_of
from numapredict.predictor.evaluation.evaluate import Evaluation
from numapredict.predictor.evaluation.folds import HeldOut
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.scores import score_of

DEFAULT, OTHER = map(mapping_named, ("32x4-contiguous-first-touch", "16x4-scatter-interleave"))


def held_out(
    name: str,
    speedup: float,
    oracle: float,
    *forecasts: Forecast,
    mapping: AnyMapping = OTHER,
    baselines: Mapping[str, float] | None = None,
) -> HeldOut:
    """Return a held-out program, and what was expected of its runs."""
    return HeldOut(
        program=name,
        group=name,
        mapping=mapping,
        speedup=speedup,
        oracle_mapping=OTHER,
        oracle_speedup=oracle,
        regret=oracle / speedup - 1,
        gain_captured=None,
        cluster=name,
        baselines=dict(baselines or {"default": 1.0, "oracle": oracle}),
        forecasts=forecasts,
    )


def evaluation(machine: str, programs: Sequence[HeldOut], modelled: bool = True) -> Evaluation:
    """Return the evaluation whose scores follow from the programs."""
    best = np.log2([each.oracle_speedup for each in programs])
    groups = [each.group for each in programs]
    return Evaluation(
        **msgspec.structs.asdict(score_of(np.log2([each.speedup for each in programs]), best, groups)),
        machine=machine,
        modelled=modelled,
        default=DEFAULT,
        mappings=191,
        groups=len(set(groups)),
        options=TrainingOptions(),
        baselines={
            name: score_of(np.log2([each.baselines[name] for each in programs]), best, groups)
            for name in programs[0].baselines
        },
        calibration=calibration_of([each for program in programs for each in program.forecasts]),
        held_out=tuple(programs),
        dropped_programs=(),
        dropped_mappings=(),
    )
