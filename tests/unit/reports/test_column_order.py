import msgspec
import numpy as np

from numapredict.collect.mapping import mapping_named
from numapredict.reports.clustermap import ClustermapData, clustermap_data
from numapredict.reports.clustermap_figure import shown_columns
from numapredict.reports.column_order import Column, columns_of, fastest
from tests.planted import planted_dataset

LABELS = [
    "1x1-contiguous-bind", "16x2-contiguous-locality", "32x4-contiguous-first-touch", "32x4-contiguous-interleave",
    "32x4-contiguous-interleave@2", "32x4-scatter-interleave", "32x4-contiguous-locality",
]  # fmt: skip


def choices(label: str) -> tuple[int | str, ...]:
    mapping = mapping_named(label)
    assert not isinstance(mapping, str)
    return tuple(mapping.choices)  # type: ignore


def test_all_cores_come_first_policies_together_and_the_best_leftmost() -> None:
    gains = np.array([[3.0, -2.5, 0.0, 1.0, 2.0, -1.0, -0.5]])
    found = columns_of(LABELS, [choices(label) for label in LABELS], gains, 2)
    assert [column.label for column in found] == [
        "32x4-scatter-interleave", "32x4-contiguous-interleave", "32x4-contiguous-interleave@2",
        "32x4-contiguous-locality", "32x4-contiguous-first-touch", "16x2-contiguous-locality", "1x1-contiguous-bind",
    ]  # fmt: skip
    assert [column.group for column in found[:4]] == ["interleave"] * 3 + ["locality"]


def full() -> ClustermapData:
    return clustermap_data(planted_dataset(6, subset="full"))


def test_of_many_mappings_those_of_fewer_cores_share_a_column_by_threads() -> None:
    data = full()
    columns = shown_columns(data)
    assert sorted(at for column in columns for at in column.mappings) == list(range(len(data.mappings)))
    whole = [column for column in columns if len(column.mappings) == 1]
    assert {data.mappings[column.mappings[0]].threads for column in whole} == {32}
    folded = columns[len(whole) :]
    assert [column.label.split(", ")[0] for column in folded] == [
        "16 threads", "8 threads", "4 threads", "2 threads", "1 thread",
    ]  # fmt: skip
    for column in folded:
        assert len({data.mappings[at].threads for at in column.mappings}) == 1
        assert column.label.endswith(f"best of {len(column.mappings)}")
    times = np.array(data.log2_times)
    shown = fastest(times, columns)
    assert shown.min(axis=1).tolist() == times.min(axis=1).tolist(), "no program's best is lost"
    assert shown[:, -1].tolist() == times[:, list(folded[-1].mappings)].min(axis=1).tolist()


def test_the_default_is_never_folded() -> None:
    data = full()
    default = next(each for each in data.mappings if each.threads == 8)
    columns = shown_columns(msgspec.structs.replace(data, default=default))
    assert default.label in [column.label for column in columns]


def test_foreign_mappings_stand_by_their_mean() -> None:
    found = columns_of(["a", "b"], [None, None], np.array([[1.0, 0.5], [0.0, -1.0]]), 0)
    assert found == (Column("b", (1,), ""), Column("a", (0,), ""))
