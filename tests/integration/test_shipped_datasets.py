"""What all shipped datasets have in common."""

from pathlib import Path

import pytest

from numapredict.collect.data.outliers import outliers_of
from numapredict.collect.data.similar_programs import similar_programs
from numapredict.predictor.learning.datasets import open_dataset, shipped_datasets


@pytest.mark.parametrize("name", shipped_datasets())
def test_none_has_an_outlier_or_programs_of_one_code_base_in_two_groups(name: str) -> None:
    dataset = open_dataset(name)
    assert outliers_of(dataset) == ()
    assert similar_programs(dataset) == ()


def test_the_guide_says_what_data_gains_that_is_only_read() -> None:
    """Compare the table in limits.md with the times of the codelets that it names."""
    times = {(one.program, str(one.mapping)): one.time_s for one in open_dataset("sandybridge-4x8").measurements}
    text = (Path(__file__).parents[2] / "reports/guide/limits.md").read_text(encoding="utf-8")
    for program in ("cg-dot", "shared-table"):
        first, *others = (
            times[f"{program}.medium.serial", f"32x4-contiguous-{policy}"]
            for policy in ("first-touch", "interleave", "locality")
        )
        cells = " | ".join(f"{first / other:.2f}x" for other in others)
        assert f"(`{program}`) | {cells} |" in text
