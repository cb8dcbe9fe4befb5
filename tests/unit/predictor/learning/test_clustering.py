import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.predictor.learning.clustering import centroid_members, cut, ward_linkage


def blobs(seed: int = 0) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    generator = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], [5, 3, 7])
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    return centres[truth] + generator.normal(0, 0.3, (len(truth), 2)), truth


def test_planted_clusters_are_recovered() -> None:
    rows, truth = blobs()
    assert cut(ward_linkage(rows), 3).tolist() == truth.tolist()


@given(st.permutations(range(15)))
def test_the_partition_does_not_depend_on_the_order_of_rows(order: list[int]) -> None:
    rows, truth = blobs()
    labels = cut(ward_linkage(rows[order]), 3)
    pairs = {(int(a), int(b)) for a, b in zip(labels, truth[order], strict=True)}
    assert len(pairs) == 3
    assert labels[0] == 0, "clusters count from the first row"


def test_numbers_count_up_in_row_order() -> None:
    rows, _ = blobs()
    labels = cut(ward_linkage(rows[::-1]), 3)
    assert list(dict.fromkeys(labels.tolist())) == [0, 1, 2]


def test_the_centroid_is_the_member_closest_to_the_mean() -> None:
    rows = np.array([[0.0], [1.0], [5.0], [100.0], [104.0]])
    # Means are 2 and 102: closest are 1 (row 1) and, as far as its neighbour, the earlier 100 (row 3).
    assert centroid_members(rows, np.array([0, 0, 0, 1, 1])).tolist() == [1, 3]


def test_ward_merges_what_adds_least_to_the_spread() -> None:
    # By hand: {0, 1} merge at distance 1; {3} joins {10, ...} nowhere cheaper than {0, 1}: sqrt(2*2*1/3) * 2.5.
    tree = ward_linkage(np.array([[0.0], [1.0], [3.0], [20.0]]))
    assert tree[0, 2] == pytest.approx(1.0)
    assert tree[1, 2] == pytest.approx(np.sqrt(4 / 3) * 2.5)


def test_equal_rows_cannot_be_parted() -> None:
    assert cut(ward_linkage(np.ones((4, 2))), 3).tolist() == [0, 0, 0, 0]


def test_one_row_is_one_cluster() -> None:
    rows = np.array([[1.0, 2.0]])
    tree = ward_linkage(rows)
    assert tree.shape == (0, 4)
    assert cut(tree, 5).tolist() == [0]
    assert centroid_members(rows, cut(tree, 5)).tolist() == [0]


def test_more_clusters_than_rows_gives_one_each() -> None:
    assert cut(ward_linkage(np.array([[1.0], [2.0], [4.0]])), 9).tolist() == [0, 1, 2]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_mean_nothing_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        ward_linkage(np.array([[1.0], [value]]))
