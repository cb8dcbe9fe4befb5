import pytest

from numapredict.collect.limits import Limits
from numapredict.collect.mapping import parse_label
from numapredict.native.errors import UsageError
from numapredict.predictor.advising.described_baseline import described_baseline
from tests.planted import four_by_eight

DEFAULT = parse_label("32x4-contiguous-first-touch")


@pytest.mark.parametrize(
    ("asked", "limits", "label"),
    [
        (None, Limits(), "32x4-contiguous-first-touch"),
        (6, Limits(), "6x4-contiguous-first-touch"),
        (None, Limits(nodes=(1,)), "8x1-contiguous-bind"),
        (None, Limits(nodes=(1, 2)), "16x2-contiguous-first-touch"),
        (None, Limits(nodes=(9,)), "32x4-contiguous-first-touch"),
        (4, Limits(nodes=(1,)), "4x1-contiguous-bind"),
        (None, Limits(threads=(4, 8)), "8x4-contiguous-first-touch"),
        (None, Limits(threads=(4, 8, 32), nodes=(1,)), "8x1-contiguous-bind"),
        (6, Limits(threads=(4,)), "4x4-contiguous-first-touch"),
    ],
)
def test_the_program_as_it_is_has_the_threads_that_are_asked_for_and_fit_on_its_nodes(
    asked: int | None, limits: Limits, label: str
) -> None:
    assert str(described_baseline(DEFAULT, asked, limits, four_by_eight())) == label


def test_more_threads_than_fit_are_refused_by_the_name_that_was_typed() -> None:
    room = "planted-4x8 has 8 hardware threads on 1 node: ask for at most as many"
    with pytest.raises(UsageError, match=f"^OMP_NUM_THREADS=16: {room}"):
        described_baseline(DEFAULT, 16, Limits(nodes=(1,)), four_by_eight())
    with pytest.raises(UsageError, match=f"^--threads 16: {room}"):
        described_baseline(DEFAULT, None, Limits(threads=(16,), nodes=(1,)), four_by_eight())
