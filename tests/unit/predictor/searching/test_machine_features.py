import pytest

from numapredict.predictor.searching.machine_features import machine_features, most_alike
from tests.shapes import shape
from tests.unit.predictor.searching.test_prior import machine


def test_features_are_those_of_the_shape() -> None:
    assert machine_features(shape([4] * 8, pus=2)) == pytest.approx(
        [3, 2, 0, 1, 1, -2]
    )  # 1 MiB for 4 cores, 20 over 10
    assert machine_features(shape([16])).tolist() == [0, 4, 0, 0, 0, -4]
    assert machine_features(shape([16], l3_cores=4)).tolist() == [0, 4, 2, 0, 0, -2]


def test_of_many_machines_those_of_the_nearest_shape_are_known_in_their_order() -> None:
    machines = [machine(f"m{nodes}", 1, nodes) for nodes in (8, 2, 4, 1)]
    near = most_alike(shape([8, 8]), machines, 2)
    assert [each.machine for each in near] == ["m2", "m4"]
    assert near == [each for each in machines if each in near]
    assert most_alike(shape([8, 8]), machines, 4) == machines
