import math

import numpy as np
import pytest

from numapredict.collect.mapping import mapping_named
from numapredict.collect.program import Program
from numapredict.predictor.evaluation.baselines import baselines_of
from numapredict.predictor.learning.features import Observations
from tests.planted import four_by_eight

MAPPINGS = tuple(map(mapping_named, ("32x4-contiguous-first-touch", "32x4-scatter-locality", "8x1-contiguous-bind")))
TIMES = np.array([[4.0, 2.0, 1.0], [4.0, 2.0, 16.0], [4.0, 4.0, 1.0]])


def found(groups: tuple[str, ...] = ("a", "b", "c")) -> dict[str, list[float]]:
    """Return the baselines' speedups over the first mapping."""
    programs = tuple(Program(name=f"p{i}", command=("x",), group=group) for i, group in enumerate(groups))
    gains = baselines_of(Observations(programs, MAPPINGS, TIMES), 0, four_by_eight())
    return {name: (2**values).tolist() for name, values in gains.items()}


def test_default_oracle_and_random_by_hand() -> None:
    baselines = found()
    assert baselines["default"] == [1.0, 1.0, 1.0]
    assert baselines["oracle"] == [4.0, 2.0, 4.0]
    # log2 gains of the first program are 0, 1, 2: a blind choice gives 2 ** 1 on geometric average.
    assert baselines["random"] == pytest.approx((2.0, 1.0 * 2 ** (-1 / 3), 2 ** (2 / 3)))


def test_the_fixed_mapping_is_the_best_of_the_other_groups() -> None:
    # For p0 the others' mean log2 gains are (0, 0.5, 0): scatter; for p1 (0, 0.5, 2): one node; for p2 (0, 1, 0).
    assert found()["fixed"] == [2.0, 0.25, 1.0]


def test_a_group_is_left_out_as_a_whole() -> None:
    # p0 and p2 together are judged by p1 alone, whose best is scatter.
    assert found(("a", "b", "a"))["fixed"] == [2.0, 0.25, 1.0]
    assert found(("a", "a", "c"))["fixed"] == [4.0, 0.25, 1.0]


def test_a_subset_limits_its_oracle() -> None:
    baselines = found()
    assert baselines["diener oracle"] == [2.0, 2.0, 1.0]
    assert baselines["denoyelle oracle"] == [1.0, 1.0, 1.0]
    assert math.isclose(math.prod(baselines["thesis oracle"]), 32)


def test_common_settings_are_reported_where_they_were_measured() -> None:
    assert "interleave" not in found()
    programs = (Program(name="p", command=("x",)),)
    labels = ("32x4-contiguous-first-touch", "32x4-contiguous-interleave", "32x4-scatter-first-touch")
    gains = baselines_of(
        Observations(programs, tuple(map(mapping_named, labels)), np.array([[4.0, 2.0, 8.0]])), 0, four_by_eight()
    )
    assert gains["interleave"].tolist() == [1.0]
    assert gains["scatter first-touch"].tolist() == [-1.0]
