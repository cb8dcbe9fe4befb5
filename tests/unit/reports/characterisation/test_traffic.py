"""The bars of local and remote accesses: what they show, and that it is drawn there."""

from pathlib import Path

import msgspec
import pytest

from numapredict.collect.campaign.characterisation.result import Characterisation
from numapredict.collect.measurement import NodeCounters
from numapredict.reports.characterisation.traffic import Quantity, TrafficPanel, traffic_data, traffic_figure
from tests.unit.collect.campaign.characterisation.test_result import NODES, characterised
from tests.unit.reports.characterisation.drawn import bars_of, svg


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
    text = svg(tmp_path, traffic_figure, data)
    for words in ("remote accesses", "in millions of cache lines", "75% local", "node 1", "(modelled)"):
        assert words in text


def test_the_bandwidths_are_by_node(tmp_path: Path) -> None:
    data = traffic_data(characterised(), "bandwidth")
    assert data is not None
    assert (data.panels[0].groups[0].local, data.panels[0].groups[0].remote) == ((3.0, 2.0), (0.5, 1.5))
    assert "in GB/s" in svg(tmp_path, traffic_figure, data)


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
    assert "a scale of its own" in svg(tmp_path, traffic_figure, data)


def test_without_counters_there_are_no_such_figures() -> None:
    for quantity in ("accesses", "bandwidth"):
        assert traffic_data(characterised(counted=False), quantity) is None


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


@pytest.mark.parametrize(("peaks", "above"), [((4.0, 5.0), False), ((90.0, 90.0), True)])
def test_the_described_peak_of_a_node_is_a_line_or_words(peaks: tuple[float, ...], above: bool, tmp_path: Path) -> None:
    found = msgspec.structs.replace(characterised(), controllers_GBps=peaks)
    assert all(panel.peak is None for panel in traffic_panels(found, "accesses"))
    panels = traffic_panels(found, "bandwidth")
    assert [panel.peak for panel in panels] == [max(peaks[node] for node in panel.nodes) for panel in panels]
    data = traffic_data(found, "bandwidth")
    assert data is not None
    figure = traffic_figure(data)
    local, remote = figure.axes[: len(panels)], figure.axes[len(panels) :]
    levels = [[float(line.get_ydata()[0]) for line in axes.lines] for axes in local]
    assert levels == ([[]] * len(panels) if above else [[panel.peak] for panel in panels])
    assert not any(axes.lines for axes in remote)
    words = "described peak of a node (modelled): "
    assert f"{words}{'90.0 GB/s, above' if above else '5.00 GB/s'}" in svg(tmp_path, traffic_figure, data)
    assert local[0].get_ylim()[1] < 90


def test_without_a_description_there_is_no_peak() -> None:
    assert all(panel.peak is None for panel in traffic_panels(characterised(), "bandwidth"))


def traffic_panels(found: Characterisation, quantity: Quantity) -> tuple[TrafficPanel, ...]:
    data = traffic_data(found, quantity)
    assert data is not None
    return data.panels
