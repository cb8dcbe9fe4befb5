"""The curves of a characterisation: what they show, and that it is drawn there."""

from pathlib import Path

import msgspec
import pytest

from numapredict.collect.terminal.printable import counted
from numapredict.reports.characterisation.times import Curve, times_data, times_figure
from tests.unit.collect.campaign.characterisation.test_result import characterised
from tests.unit.reports.characterisation.drawn import lines_of, one_node, svg


def test_the_curves_are_the_table_s_columns(tmp_path: Path) -> None:
    data = times_data(characterised(regions=None))
    assert data.title == "app 7 on two (modelled)"
    ((contiguous, scatter),) = data.rows
    assert contiguous.curves == (Curve(1, (1, 2), (16.0, 9.0)), Curve(2, (2, 4), (8.0, 6.0)))
    assert (contiguous.fastest, scatter.fastest) == ((4, 2, 6.0), (4, 2, 7.5))
    text = svg(tmp_path, times_figure, data)
    for words in ("run time in s", "lower is better", "2 nodes", "fastest: 4 threads on 2 nodes, 7.50 s", data.title):
        assert words in text


def test_thread_policies_that_are_one_have_one_panel(tmp_path: Path) -> None:
    data = times_data(one_node())
    assert data.title == "app 7 on one (measured)"
    assert [panel.title for row in data.rows for panel in row] == ["contiguous threads, first-touch pages"]
    assert data.rows[0][0].curves == (Curve(1, (1, 2), (6.0, 3.0)),)
    svg(tmp_path, times_figure, data)


def test_runs_without_a_time_leave_a_gap(tmp_path: Path) -> None:
    found = characterised(regions=None)
    holes = tuple(msgspec.structs.replace(table, times_s=((None, None), *table.times_s[1:])) for table in found.tables)
    data = times_data(msgspec.structs.replace(found, tables=holes))
    assert data.rows[0][0].curves[0] == Curve(1, (2,), (9.0,))
    nothing = tuple(msgspec.structs.replace(t, times_s=tuple((None,) * 2 for _ in t.times_s)) for t in found.tables)
    data = times_data(msgspec.structs.replace(found, tables=nothing))
    assert data.rows[0][0].fastest is None
    svg(tmp_path, times_figure, data)


@pytest.mark.parametrize(("factor", "unit", "of"), [(1.0, "s", 1.0), (1e-3, "ms", 1e3)])
def test_the_curves_are_drawn_at_their_times(factor: float, unit: str, of: float) -> None:
    data = times_data(characterised(regions=factor))
    figure = times_figure(data)
    contiguous, scatter = figure.axes
    for axes, panel in ((contiguous, data.rows[0][0]), (scatter, data.rows[0][1])):
        drawn = lines_of(axes)
        for curve in panel.curves:
            points = [(n, pytest.approx(of * t)) for n, t in zip(curve.threads, curve.times_s, strict=True)]
            assert drawn[counted(curve.thread_nodes, "node")] == points
        assert panel.fastest is not None
        assert drawn["fastest"] == [(panel.fastest[0], pytest.approx(of * panel.fastest[2]))]
    assert lines_of(contiguous)["1 node"] == [(1, pytest.approx(16.0)), (2, pytest.approx(9.0))], (
        "the table's, in the unit"
    )
    assert f"in {unit}\n" in contiguous.get_ylabel()
    assert contiguous.get_xscale() == contiguous.get_yscale() == "log"
