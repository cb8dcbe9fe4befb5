from pathlib import Path

import pytest

from numapredict.collect.program import program_of
from numapredict.predictor.adapting.columns import columns_of
from numapredict.predictor.adapting.kept import Kept, KeptTeam
from tests.shapes import shape


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMAPREDICT_CACHE", str(tmp_path))
    monkeypatch.setenv("NUMAPREDICT_DATA", str(tmp_path))
    monkeypatch.setenv("OMP_NUM_THREADS", "8")


def test_teams_halve_over_few_nodes_and_over_many() -> None:
    topology = shape([4, 4])
    columns = columns_of(0.05, topology, Kept(program_of(("true",)), topology, fresh=False))
    assert sorted(columns.teams[:2]) == ["4x1", "4x2"]
    assert sorted(columns.teams[2:4]) == ["2x1", "2x2"]
    assert columns.teams[4:] == ("1x1",)
    assert [len(placement.pus) for placement, _ in columns.table.teams] == [4, 4, 2, 2, 1]
    assert all(gain >= 0.004 for _, gain in columns.table.teams)


def test_on_one_node_regions_have_teams_and_the_program_no_other_mapping() -> None:
    topology = shape([8])
    columns = columns_of(0.05, topology, Kept(program_of(("true",)), topology, fresh=False))
    assert columns.teams == ("4x1", "2x1", "1x1")
    assert columns.labels == ()
    assert not columns.table.crowded_only
    assert any(gain > 0.01 for _, gain in columns.table.teams)


def test_a_region_begins_with_what_an_earlier_run_found() -> None:
    topology = shape([8])
    kept = Kept(program_of(("true",)), topology, fresh=False)
    assert kept.keep(None, (), (KeptTeam(7, "2x1"), KeptTeam(8, ""), KeptTeam(9, "3x1")))
    columns = columns_of(0.05, topology, Kept(program_of(("true",)), topology, fresh=False))
    assert [(each.key, columns.team(each.team)) for each in columns.table.regions] == [(7, "2x1"), (8, "")]
