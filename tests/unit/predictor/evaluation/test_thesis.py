import numpy as np
import pytest

from numapredict.collect.mapping import mapping_named
from numapredict.collect.program import Program
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.evaluation import thesis
from numapredict.predictor.learning.features import Observations, observe
from tests.planted import four_by_eight, planted_dataset

MAPPINGS = tuple(map(mapping_named, ("8x1-contiguous-bind", "16x2-contiguous-locality", "16x4-contiguous-balance")))


def made_up(times: list[list[float]], bandwidths: list[list[float]]) -> Observations:
    programs = tuple(Program(name=f"p{n}", command=("x",)) for n in range(len(times)))
    return Observations(programs, MAPPINGS, np.array(times), local_bandwidth_GBps=np.array(bandwidths))


def test_the_references_of_the_4x8_machine_are_those_of_the_thesis() -> None:
    assert tuple(map(str, thesis.reference_defaults(four_by_eight()))) == (
        "8x1-contiguous-bind",
        "16x2-contiguous-locality",
        "8x1-contiguous-remote",
    )


def test_two_probes_are_divided_by_the_largest_of_any_program() -> None:
    observations = made_up([[9, 9, 2], [9, 9, 8]], [[7, 30, 7], [7, 10, 7]])
    rows = thesis.feature_rows("two_probes", observations, 0, (2, 1))
    assert rows.tolist() == [[0.25, 1.0], [1.0, pytest.approx(1 / 3)]]


def test_a_cluster_takes_the_best_mapping_of_the_member_nearest_to_its_mean() -> None:
    # Three alike, of which the middle one is the centroid (best: column 2), and one alone (best: column 0).
    observations = made_up(
        [[4, 1.9, 2.0], [4, 2.1, 2.0], [4, 2.2, 2.0], [1, 9, 9]], [[1, 1, 1], [1, 2, 1], [1, 3, 1], [1, 90, 1]]
    )
    curve = thesis.sweep("local_bandwidth_GBps", observations, 0, counts=(2, 4))
    assert curve.default == MAPPINGS[0]
    speedups = np.array([4 / 2, 4 / 2, 4 / 2, 1])
    assert curve.points[0].speedup_arithmetic == pytest.approx(speedups.mean())
    own = np.array([4 / 1.9, 4 / 2, 4 / 2, 1])
    assert curve.points[1].speedup_geometric == pytest.approx(np.exp(np.log(own).mean()))


def test_with_a_cluster_a_program_all_get_their_best() -> None:
    dataset = planted_dataset(10, jitter=0.4)
    observations = observe(dataset)
    for curve in thesis.sweeps_of(observations, four_by_eight()):
        default = observations.time_s[:, observations.column(curve.default)]
        assert curve.points[-1].speedup_arithmetic == pytest.approx((default / observations.time_s.min(axis=1)).mean())
        assert [point.clusters for point in curve.points] == list(range(1, 11))


def test_every_figure_has_its_curve_where_counters_were_read() -> None:
    with_counters = thesis.sweeps_of(observe(planted_dataset(5)), four_by_eight())
    assert [curve.features for curve in with_counters] == ["times"] * 3 + list(thesis.FEATURE_SETS[1:])
    without = thesis.sweeps_of(observe(planted_dataset(5, counters=False)), four_by_eight())
    assert [curve.features for curve in without] == ["times"] * 3
    with pytest.raises(InsufficientDataError, match="needs counters"):
        thesis.feature_rows("remote_accesses", observe(planted_dataset(5, counters=False)), 0)
