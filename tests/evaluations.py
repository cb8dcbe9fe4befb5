"""Evaluations made by hand, for what is shown of them: every figure in them is chosen, none is learned."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from numapredict.collect.mapping import AnyMapping, mapping_named
from numapredict.predictor.evaluation.calibration import calibration_of
from numapredict.predictor.evaluation.evaluate import Evaluation
from numapredict.predictor.evaluation.folds import HeldOut
from numapredict.predictor.learning.model import ExpectedSpeedup
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.scores import score_of

DEFAULT, PROBE, OTHER = map(
    mapping_named, ("32x4-contiguous-first-touch", "32x4-scatter-locality", "16x4-scatter-interleave")
)


def held_out(
    name: str,
    speedup: float,
    oracle: float,
    expected: tuple[float, float, float] = (1.0, 1.0, 1.0),
    mapping: AnyMapping = OTHER,
    baselines: Mapping[str, float] | None = None,
) -> HeldOut:
    """Return a held-out program; ``expected`` is the interval's low end, the median, the high end."""
    low, median, high = expected
    return HeldOut(
        program=name,
        group=name,
        mapping=mapping,
        speedup=speedup,
        expected_speedup=ExpectedSpeedup(median=median, low=low, high=high),
        confidence=None if mapping == DEFAULT else 0.9,
        oracle_mapping=OTHER,
        oracle_speedup=oracle,
        regret=oracle / speedup - 1,
        gain_captured=None,
        probes=(DEFAULT, PROBE),
        features="ratio",
        n_clusters=2,
        cluster=name,
        ambiguity=0.0,
        familiar=True,
        baselines=dict(baselines or {"default": 1.0, "oracle": oracle}),
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
        calibration=calibration_of(programs),
        held_out=tuple(programs),
        dropped_programs=(),
        dropped_mappings=(),
    )
