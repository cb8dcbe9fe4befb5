"""The figures of a characterisation: what they show, and that it can be read."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from numapredict.collect.campaign.characterisation.plan import plan_of
from numapredict.collect.campaign.characterisation.result import Characterisation, characterisation_of
from numapredict.collect.measurement import Measurement, NodeCounters, Repetition
from numapredict.reports.characterisation import look
from numapredict.reports.characterisation.files import write_characterisation
from numapredict.reports.characterisation.page_policies import (
    Bar,
    draw_policy_times,
    policy_times_data,
    policy_times_figure,
)
from numapredict.reports.characterisation.times import Curve, draw_times, times_data, times_figure
from numapredict.reports.characterisation.traffic import Quantity, draw_traffic, traffic_data, traffic_figure
from numapredict.reports.figure_file import UnwritableFigureError
from numapredict.reports.source import Origin
from tests.shapes import shape
from tests.unit.collect.campaign.characterisation.test_result import NODES, PROGRAM, characterised
from tests.unit.reports.legible import assert_legible


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


def lines_of(axes: Axes) -> dict[str, list[tuple[float, float]]]:
    return {
        str(line.get_label()): list(zip(*(np.asarray(each).tolist() for each in line.get_data()), strict=True))
        for line in axes.lines
    }


def bars_of(axes: Axes) -> list[tuple[float, float]]:
    """Return the middle and the height of every bar, from left to right."""
    drawn = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    return sorted((round(bar.get_x() + bar.get_width() / 2, 6), bar.get_height()) for bar in drawn)


@pytest.mark.parametrize(("factor", "unit", "of"), [(1.0, "s", 1.0), (1e-3, "ms", 1e3)])
def test_the_curves_are_drawn_at_their_times(factor: float, unit: str, of: float) -> None:
    data = times_data(characterised(regions=factor))
    figure = times_figure(data)
    contiguous, scatter = figure.axes
    for axes, panel in ((contiguous, data.rows[0][0]), (scatter, data.rows[0][1])):
        drawn = lines_of(axes)
        for curve in panel.curves:
            points = [(n, pytest.approx(of * t)) for n, t in zip(curve.threads, curve.times_s, strict=True)]
            assert drawn[look.nodes_in_words(curve.thread_nodes)] == points
        assert panel.fastest is not None
        assert drawn["fastest"] == [(panel.fastest[0], pytest.approx(of * panel.fastest[2]))]
    assert lines_of(contiguous)["1 node"] == [(1, pytest.approx(16.0)), (2, pytest.approx(9.0))], (
        "the table's, in the unit"
    )
    assert f"in {unit}\n" in contiguous.get_ylabel()
    assert contiguous.get_xscale() == contiguous.get_yscale() == "log"


def test_the_bars_of_page_policies_are_drawn_at_their_times() -> None:
    data = policy_times_data(characterised(regions=None))
    assert data is not None
    whole, one_node = policy_times_figure(data).axes
    names = [label.get_text() for label in whole.get_xticklabels()]
    assert names == list(data.whole)
    for series, shift, colour in (
        ("contiguous", -0.2, look.POLICY_COLOURS["contiguous"]),
        ("scatter", 0.2, look.POLICY_COLOURS["scatter"]),
    ):
        (legend,) = [text for text in whole.get_legend_handles_labels()[1] if text == f"{series} threads"]
        assert legend
        for at, bars in enumerate(data.whole.values()):
            (bar,) = [
                patch
                for patch in whole.patches
                if isinstance(patch, Rectangle) and abs(patch.get_x() + patch.get_width() / 2 - at - shift) < 0.01
            ]
            (expected,) = [each.time_s for each in bars if each.series == series]
            assert bar.get_height() == expected
            assert bar.get_facecolor() == to_rgba(colour)
    assert bars_of(one_node) == [(0, 9.0), (1, 10.0), (2, 20.0)]
    assert {text.get_text() for text in one_node.texts} == {"9.00", "10.0", "20.0"}
    for axes in (whole, one_node):
        (line,) = axes.lines
        assert np.asarray(line.get_ydata()).tolist() == [6.0, 6.0], "the default's time"
        assert all(text.get_zorder() > line.get_zorder() and text.get_path_effects() for text in axes.texts)
    failed = msgspec.structs.replace(
        data,
        whole={"first-touch": (Bar("contiguous", "x", None), Bar("scatter", "y", 0.002))},
        one_node={},
        default_s=None,
    )
    (axes,) = policy_times_figure(failed).axes
    assert bars_of(axes) == [(pytest.approx(0.2), pytest.approx(2.0))]  # what failed has no bar, and sets no unit
    assert "in ms" in axes.get_ylabel()
    # The tallest bar fills its panel, however much longer one node alone takes.
    assert one_node.get_title().endswith("(a scale of its own)")
    for axes, most in ((whole, max(bar.time_s or 0 for bars in data.whole.values() for bar in bars)), (one_node, 20.0)):
        assert 1.05 * most < axes.get_ylim()[1] < 1.3 * most


@pytest.mark.parametrize("quantity", ["accesses", "bandwidth"])
def test_local_bars_stand_above_remote_ones(quantity: Quantity) -> None:
    data = traffic_data(characterised(), quantity)
    assert data is not None
    figure = traffic_figure(data)
    (legend,) = figure.legends
    assert legend.get_title().get_text() == "asked for by the cores of"
    columns = len(data.panels)
    expected = {"accesses": ((9.0, 6.0), (1.0, 4.0)), "bandwidth": ((3.0, 2.0), (0.5, 1.5))}[quantity]
    for row, (kind, values) in enumerate(zip(("local", "remote"), expected, strict=True)):
        assert figure.axes[row * columns].get_ylabel() == f"{kind} {quantity}\nin {data.unit}"
        for column, panel in enumerate(data.panels):
            heights = [height for _, height in bars_of(figure.axes[row * columns + column])]
            assert heights == list(values) * len(panel.groups)
    local, remote = figure.axes[0].get_position(), figure.axes[columns].get_position()
    assert local.y0 > remote.y0
    names = figure.axes[columns].get_xticklabels()
    assert [name.get_text().split("\n")[0] for name in names] == [group.name for group in data.panels[0].groups]


@pytest.mark.parametrize(
    ("factor", "quantity", "unit", "greatest"),
    [
        (1.0, "accesses", "millions of cache lines", 9.0),
        (1e6, "accesses", "millions of cache lines", 9e6),
        (1e-3, "accesses", "thousands of cache lines", 9.0),
        (1e-5, "accesses", "cache lines", 90.0),
        (0.0, "accesses", "millions of cache lines", 0.0),
        (1.0, "bandwidth", "GB/s", 3.0),
        (1e-2, "bandwidth", "MB/s", 30.0),
        (1e-8, "bandwidth", "kB/s", 0.03),
    ],
)
def test_the_unit_fits_and_no_axis_has_a_factor(factor: float, quantity: Quantity, unit: str, greatest: float) -> None:
    found = characterised()
    small = tuple(NodeCounters(*(factor * value for value in msgspec.structs.astuple(node))) for node in NODES)
    runs = tuple(msgspec.structs.replace(run, nodes=small) for run in found.runs)
    data = traffic_data(msgspec.structs.replace(found, runs=runs), quantity)
    assert data is not None
    assert data.unit == unit
    assert max(value for panel in data.panels for group in panel.groups for value in group.local) == pytest.approx(
        greatest
    )
    figure = traffic_figure(data)
    figure.draw_without_rendering()
    assert [axes.yaxis.get_offset_text().get_text() for axes in figure.axes] == [""] * len(figure.axes)


def test_every_figure_says_where_its_runs_are_from(tmp_path: Path) -> None:
    found = characterised()
    origin = Origin(machine="two", modelled=True, created="2026-01-02T03:04:05Z", made_by="numapredict 9")
    line = "Source: two, modelled, made on 2026-01-02 by numapredict 9."
    write_characterisation(found, tmp_path, origin=origin)
    for path in tmp_path.glob("*.svg"):
        assert line in path.read_text(), path.name
    assert times_data(found).source == "Source: two, modelled."


@pytest.mark.parametrize("make", [times_data, policy_times_data, lambda found: traffic_data(found, "accesses")])
def test_no_text_lies_on_another_nor_on_the_source(make: Any) -> None:  # noqa: ANN401 - any figure
    data = make(characterised())
    draw = {"TimesData": times_figure, "PolicyTimesData": policy_times_figure, "TrafficData": traffic_figure}
    assert_legible(draw[type(data).__name__](data), apart=False)
