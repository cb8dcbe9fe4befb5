import math

import numpy as np
import pytest

from numapredict.collect.program import Program
from numapredict.predictor.baselines import Baseline, baselines_of
from numapredict.predictor.features import Observations
from tests.planted import four_by_eight

LABELS = ("32x4-contiguous-first-touch", "32x4-scatter-locality", "8x1-contiguous-bind")
TIMES = np.array([[4.0, 2.0, 1.0], [4.0, 2.0, 16.0], [4.0, 4.0, 1.0]])


def found(groups: tuple[str, ...] = ("a", "b", "c")) -> dict[str, Baseline]:
    programs = tuple(Program(name=f"p{i}", command=("x",), group=group) for i, group in enumerate(groups))
    return {b.name: b for b in baselines_of(Observations(programs, LABELS, TIMES), 0, four_by_eight())}


def test_default_oracle_and_random_by_hand() -> None:
    baselines = found()
    assert baselines["default"].speedups == (1.0, 1.0, 1.0)
    assert baselines["oracle"].speedups == (4.0, 2.0, 4.0)
    assert baselines["oracle"].summary.gain_captured == pytest.approx(1.0)
    # log2 gains of the first program are 0, 1, 2: a blind choice gives 2 ** 1 on geometric average.
    assert baselines["random"].speedups == pytest.approx((2.0, 1.0 * 2 ** (-1 / 3), 2 ** (2 / 3)))


def test_the_fixed_mapping_is_the_best_of_the_other_groups() -> None:
    # For p0 the others' mean log2 gains are (0, 0.5, 0): scatter; for p1 (0, 0.5, 2): one node; for p2 (0, 1, 0).
    assert found()["fixed"].speedups == (2.0, 0.25, 1.0)


def test_a_group_is_left_out_as_a_whole() -> None:
    # p0 and p2 together are judged by p1 alone, whose best is scatter.
    assert found(("a", "b", "a"))["fixed"].speedups == (2.0, 0.25, 1.0)
    assert found(("a", "a", "c"))["fixed"].speedups == (4.0, 0.25, 1.0)


def test_a_subset_limits_its_oracle() -> None:
    baselines = found()
    assert baselines["diener oracle"].speedups == (2.0, 2.0, 1.0)
    assert baselines["diener oracle"].mappings == 1
    assert baselines["denoyelle oracle"].speedups == (1.0, 1.0, 1.0)
    assert math.isclose(baselines["thesis oracle"].summary.speedup_geometric_mean, 32 ** (1 / 3))
