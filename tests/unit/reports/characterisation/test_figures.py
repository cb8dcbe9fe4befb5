"""The figures of a characterisation: what they show, and that it can be read."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from numapredict.collect.characterisation.plan import plan_of
from numapredict.collect.characterisation.result import Characterisation, characterisation_of
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.reports.characterisation import look
from numapredict.reports.characterisation.page_policies import draw_policy_times, policy_times_data
from numapredict.reports.characterisation.times import Curve, draw_times, times_data
from numapredict.reports.characterisation.traffic import draw_traffic, traffic_data
from numapredict.reports.figure_file import UnwritableFigureError
from tests.shapes import shape
from tests.unit.collect.characterisation.test_result import PROGRAM, characterised


def one_node() -> Characterisation:
    """Return the characterisation of a machine with one node of two cores, without counters."""
    topology = shape([2])
    plan = plan_of(topology)
    runs = [
        Measurement(program="app", mapping=m, machine="one", modelled=False, repetitions=(Repetition(6.0 / m.threads),))
        for m in plan.mappings
    ]
    return characterisation_of(PROGRAM, topology, plan, runs)


def svg(folder: Path, draw: Any, data: Any) -> str:  # noqa: ANN401 - any figure
    """Return the text of a figure that was drawn as SVG, having drawn it as PNG too."""
    draw(data, folder / "figure.png")
    assert (folder / "figure.png").stat().st_size > 5000
    draw(data, folder / "figure.svg")
    return (folder / "figure.svg").read_text()


def test_the_curves_are_the_table_s_columns(tmp_path: Path) -> None:
    data = times_data(characterised(regions=None))
    assert data.title == "app 7 on two (modelled)"
    ((contiguous, scatter),) = data.rows
    assert contiguous.curves == (Curve(1, (1, 2), (16.0, 9.0)), Curve(2, (2, 4), (8.0, 6.0)))
    assert (contiguous.fastest, scatter.fastest) == ((4, 2, 6.0), (4, 2, 7.5))
    text = svg(tmp_path, draw_times, data)
    for words in ("run time in s", "lower is better", "2 nodes", "fastest: 4 threads on 2 nodes, 7.50 s", data.title):
        assert words in text


def test_thread_policies_that_are_one_have_one_panel(tmp_path: Path) -> None:
    data = times_data(one_node())
    assert data.title == "app 7 on one (measured)"
    assert [panel.title for row in data.rows for panel in row] == ["contiguous threads, first-touch pages"]
    assert data.rows[0][0].curves == (Curve(1, (1, 2), (6.0, 3.0)),)
    svg(tmp_path, draw_times, data)


def test_runs_without_a_time_leave_a_gap(tmp_path: Path) -> None:
    found = characterised(regions=None)
    holes = tuple(msgspec.structs.replace(table, times_s=((None, None), *table.times_s[1:])) for table in found.tables)
    data = times_data(msgspec.structs.replace(found, tables=holes))
    assert data.rows[0][0].curves[0] == Curve(1, (2,), (9.0,))
    nothing = tuple(msgspec.structs.replace(t, times_s=tuple((None,) * 2 for _ in t.times_s)) for t in found.tables)
    data = times_data(msgspec.structs.replace(found, tables=nothing))
    assert data.rows[0][0].fastest is None
    svg(tmp_path, draw_times, data)


def test_the_bars_are_the_page_policies(tmp_path: Path) -> None:
    data = policy_times_data(characterised(regions=None))
    assert data is not None
    assert list(data.whole) == ["first-touch", "locality", "balance", "interleave", "mix", "dataset", "bind"]
    assert [(bar.series, bar.time_s) for bar in data.whole["mix"]] == [("contiguous", 3.5), ("scatter", 4.25)]
    assert {name: [bar.time_s for bar in bars] for name, bars in data.one_node.items()} == {
        "bind": [9.0],
        "interleave@2": [10.0],
        "remote": [20.0],
    }
    assert (data.default, data.default_s) == ("4x2-contiguous-first-touch", 6.0)
    text = svg(tmp_path, draw_policy_times, data)
    for words in (
        "run time in s",
        "4 threads on 2 nodes",
        "2 threads on 1 node",
        "20.0",
        "scatter threads",
        "interleave@2",
    ):
        assert words in text


def test_one_node_has_no_page_policies_to_compare() -> None:
    assert policy_times_data(one_node()) is None


def test_the_accesses_are_millions_by_node(tmp_path: Path) -> None:
    data = traffic_data(characterised(), "accesses")
    assert data is not None
    assert [panel.title for panel in data.panels] == [
        "contiguous, 4 threads on 2 nodes",
        "scatter, 4 threads on 2 nodes",
        "2 threads on 1 node",
    ]
    group = data.panels[1].groups[1]
    assert (group.name, group.mapping) == ("locality", "4x2-scatter-locality")
    assert (group.local, group.remote, group.local_share) == ((9.0, 6.0), (1.0, 4.0), 0.75)
    text = svg(tmp_path, draw_traffic, data)
    for words in ("remote accesses", "in millions of cache lines", "75% local", "node 1", "(modelled)"):
        assert words in text


def test_the_bandwidths_are_by_node(tmp_path: Path) -> None:
    data = traffic_data(characterised(), "bandwidth")
    assert data is not None
    assert (data.panels[0].groups[0].local, data.panels[0].groups[0].remote) == ((3.0, 2.0), (0.5, 1.5))
    assert "in GB/s" in svg(tmp_path, draw_traffic, data)


def test_nodes_without_accesses_have_no_bars(tmp_path: Path) -> None:
    found = characterised()
    idle = msgspec.structs.replace(found.runs[0].nodes[1], local_accesses=0.0, remote_accesses=0.0)
    runs = tuple(
        msgspec.structs.replace(run, nodes=(run.nodes[0], idle)) if run.mapping.startswith("2x1") else run
        for run in found.runs
    )
    data = traffic_data(msgspec.structs.replace(found, runs=runs), "accesses")
    assert data is not None
    assert [panel.nodes for panel in data.panels] == [(0, 1), (0, 1), (0,)]
    assert "a scale of its own" in svg(tmp_path, draw_traffic, data)


def test_without_counters_there_are_no_such_figures() -> None:
    for quantity in ("accesses", "bandwidth"):
        assert traffic_data(characterised(counted=False), quantity) is None


def test_a_figure_of_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnwritableFigureError):
        draw_times(times_data(one_node()), tmp_path / "figure.gif")


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.004, "<0.01"), (0.0123, "0.0123"), (5, "5.00"), (63.34, "63.3"), (1842.4, "1842")]
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert look.figure_text(value) == text


@pytest.mark.parametrize(("shortest", "unit"), [(2.0, "s"), (1.0, "s"), (0.9, "ms"), (0.0009, "us")])
def test_the_unit_makes_the_shortest_time_at_least_one(shortest: float, unit: str) -> None:
    found = look.unit_for([shortest, None, 100.0])
    assert found.name == unit
    assert 1 <= round(found.of(shortest), 9) < 1000
