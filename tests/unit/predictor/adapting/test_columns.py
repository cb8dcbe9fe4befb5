from pathlib import Path

import pytest

from numapredict.collect.program import program_of
from numapredict.predictor.adapting import columns
from numapredict.predictor.adapting.kept import Kept
from tests.shapes import shape


@pytest.mark.parametrize("balancing", [True, False])
def test_where_the_kernel_moves_pages_nothing_but_crowded_ones_is_tried(
    balancing: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path))
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(columns, "balancing_is_on", lambda: balancing)
    topology = shape([4, 4])
    kept = Kept(program_of(("true",)), topology, fresh=False)
    table = columns.columns_of(0.05, topology, kept).table
    assert table.crowded_only is balancing
    assert len(table.columns) > 1
