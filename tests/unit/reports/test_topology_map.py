import itertools
from pathlib import Path

import matplotlib as mpl
import msgspec
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from numapredict.collect.host.host import topology_from_file
from numapredict.collect.host.packages import Package
from numapredict.collect.modelled.description import Link, load_description, machine_names
from numapredict.collect.modelled.routes import routes_over
from numapredict.native.errors import UsageError
from numapredict.reports.figure_file import write_figure
from numapredict.reports.node_map import FRAME, CoreCell, NodeMap, Wire
from numapredict.reports.topology_map import (
    computer_map_data,
    described_map_data,
    topology_figure,
)
from tests.samples import topology_of
from tests.shapes import shape
from tests.unit.reports.legible import assert_legible, texts_of

CAPTURED = sorted((Path(__file__).parents[2] / "machines").glob("*.xml"))


def test_a_described_machine_shows_its_figures() -> None:
    data = described_map_data(load_description("sandybridge-4x8"))
    latency, bandwidth, thread = data.tables
    assert latency.rows[0] == (101, 299, 329, 299)
    assert bandwidth.rows == (
        (30.25, 5.125, 5.125, 5.125),
        (5.125, 30.25, 5.125, 5.125),
        (5.125, 5.125, 30.25, 5.125),
        (5.125, 5.125, 5.125, 30.25),
    )
    assert thread.rows[2] == (3.78, 4.16, 12.30, 4.16)
    assert [table.unit for table in data.tables] == ["ns", "GB/s", "GB/s"]
    assert [(wire.one, wire.other, wire.there_GBps, wire.back_GBps) for wire in data.wires] == [
        (0, 1, 5.125, 5.125), (0, 3, 5.125, 5.125), (1, 2, 5.125, 5.125), (2, 3, 5.125, 5.125),
    ]  # fmt: skip
    assert [len(box.cells) for box in data.boxes] == [8] * 4
    assert any("SIGMOD'14" in source for source in data.sources)


def test_between_nodes_the_narrowest_link_of_the_route_counts() -> None:
    ends = ((0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2))
    read = (9.0, 8.0, 7.0, 6.0, 5.0, 4.0)
    chain = msgspec.structs.replace(
        load_description("sandybridge-4x8"),
        links=tuple(Link(*pair, value, 1.0) for pair, value in zip(ends, read, strict=True)),
        routes=routes_over(4, ends),
    )
    data = described_map_data(chain)
    assert data.tables[1].rows == (
        (30.25, 9.0, 7.0, 5.0),
        (8.0, 30.25, 7.0, 5.0),
        (6.0, 6.0, 30.25, 5.0),
        (4.0, 4.0, 4.0, 30.25),
    )
    assert data.wires == (Wire(0, 1, 9.0, 8.0), Wire(1, 2, 7.0, 6.0), Wire(2, 3, 5.0, 4.0))


def test_a_memory_slower_than_its_links_limits_who_reads_it() -> None:
    latency, bandwidth, thread = described_map_data(load_description("xeonmax-2x56")).tables
    assert bandwidth.rows[:2] == ((246, 125, 566, 125), (125, 246, 125, 566))
    assert not latency.same
    assert not thread.same
    assert described_map_data(load_description("rome-8x16")).tables[1].same


def test_a_wire_to_memory_without_cores_shows_what_that_memory_delivers() -> None:
    data = described_map_data(load_description("xeonmax-2x56"))
    assert data.wires == (Wire(0, 1, 125, 125), Wire(0, 2, 566, 566), Wire(1, 3, 566, 566))


def test_bandwidths_that_were_measured_between_all_pairs_make_no_wires() -> None:
    machine = load_description("lpd48core")
    data = described_map_data(machine)
    assert data.wires == ()
    measured = {(link.source, link.target): link.read_GBps for link in machine.links}
    for i, row in enumerate(data.tables[1].rows):
        assert row == tuple(measured.get((i, j), machine.controller_read_GBps[i]) for j in range(8))
    assert not any("narrowest" in source for source in data.sources)


def test_of_a_computer_the_distances_are_shown() -> None:
    topology = topology_from_file(next(path for path in CAPTURED if path.stem == "memory-only"))
    data = computer_map_data(topology)
    (table,) = data.tables
    assert table.rows == ((10, 21, 14), (21, 10, 24), (14, 24, 10))
    assert data.boxes[1].cells == tuple(CoreCell(pu) for pu in (4, 5, 6, 7))
    assert data.boxes[2].cells == ()
    assert "relative" in data.sources[0]


@pytest.mark.thorough
@pytest.mark.parametrize("name", machine_names())
def test_every_described_machine_is_legible(name: str, tmp_path: Path) -> None:
    data = described_map_data(load_description(name))
    figure = topology_figure(data)
    shown = assert_legible(figure)
    nodes = len(data.boxes)
    assert sum(text.startswith("node ") for text in shown) == nodes
    if max(len(box.cells) for box in data.boxes) <= 8:
        assert sum(text.startswith("PU ") for text in shown) == sum(len(box.cells) for box in data.boxes)
    else:
        assert [text for text in shown if text.startswith("PU")] == [
            f"PUs {box.pus.replace(',', ', ')}" for box in data.boxes if box.cells
        ]
    write_figure(figure, tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    for words in (name, "described machine", "read latency", "(ns)", "(GB/s)", "memory of node", "lighter is better"):
        assert words in text


@pytest.mark.parametrize("path", CAPTURED, ids=lambda path: path.stem)
def test_every_captured_topology_is_legible(path: Path) -> None:
    topology = topology_from_file(path)
    figure = topology_figure(computer_map_data(topology))
    shown = assert_legible(figure)
    for node in topology.nodes:
        assert f"node {node.os_index}" in shown


def test_nodes_of_a_ring_are_drawn_next_to_their_neighbours(tmp_path: Path) -> None:
    data = described_map_data(load_description("opteron-4x4"))
    at = {text: box for text, box in texts_of(topology_figure(data)) if text.startswith("node ")}
    assert at["node 0"].y0 == at["node 1"].y0 > at["node 2"].y0 == at["node 3"].y0
    assert at["node 0"].x0 == at["node 3"].x0 < at["node 1"].x0 == at["node 2"].x0
    with pytest.raises(UsageError, match=r"figures are written as \.png or \.svg"):
        write_figure(topology_figure(data), tmp_path / "figure.gif")


@pytest.mark.parametrize("name", ["sandybridge-4x8", "lpd48core"])
def test_figures_and_colours_stand_in_the_row_of_the_cores_and_the_column_of_the_memory(name: str) -> None:
    data = described_map_data(load_description(name))
    # No table is symmetric: what is transposed is seen.
    tables = [msgspec.structs.replace(t, rows=((*t.rows[0][:-1], 999.5), *t.rows[1:])) for t in data.tables]
    figure = topology_figure(msgspec.structs.replace(data, tables=tuple(tables)))
    drawn = [axes for axes in figure.axes if axes.get_ylabel() == "cores of node"]
    assert len(drawn) == 3
    nodes = len(data.boxes)
    for axes, table in zip(drawn, tables, strict=True):
        assert axes.get_xlabel() == "memory of node"
        assert table.title in axes.get_title()
        assert axes.get_ylim() == (nodes, 0)
        said = {text.get_position(): float(text.get_text()) for text in axes.texts}
        light = {patch.get_xy(): sum(patch.get_facecolor()[:3]) for patch in axes.patches}  # type: ignore[attr-defined]
        order = []
        for i, row in enumerate(table.rows):
            for j, value in enumerate(row):
                assert said[j + 0.5, i + 0.5] == pytest.approx(value, rel=0.006, abs=0.5 if value > 100 else 0.06)
                order.append((value, light[j, i]))
        shades = [shade for _, shade in sorted(order, reverse=table.low_is_good)]
        assert all(one <= other + 0.02 for one, other in itertools.pairwise(shades)), "the better the lighter"


def test_the_figures_of_a_table_have_equally_many_digits() -> None:
    for name, title, digits, some in (
        ("sapphirerapids-8x12", "read bandwidth, one thread", 3, "13.0"),
        ("opteron-4x4", "read latency", 2, "83"),
    ):
        figure = topology_figure(described_map_data(load_description(name)))
        (table,) = [axes for axes in figure.axes if title in axes.get_title()]
        found = {text.get_text() for text in table.texts}
        assert some in found
        assert {len(text.replace(".", "")) for text in found if float(text) < 100} == {digits}


def test_links_between_any_two_nodes_of_a_package_are_said_once() -> None:
    data = described_map_data(load_description("rome-8x16"))
    assert [box.packages for box in data.boxes] == [(0,)] * 4 + [(1,)] * 4
    figure = topology_figure(data)
    shown = [text for text, _ in texts_of(figure)]
    assert [text for text in shown if "GB/s" in text and "(" not in text and ":" not in text] == [
        "links of 70 GB/s between any two",
        "links of 70 GB/s between any two",
        "105\nGB/s",
    ]
    assert "35 for every pair" in shown
    assert "35" not in shown
    at = {text: box for text, box in texts_of(figure) if text.startswith("node ")}
    assert [at[f"node {n}"].y0 == at["node 0"].y0 for n in range(8)] == [True] * 4 + [False] * 4
    assert at["node 4"].x0 == at["node 0"].x0


def test_a_node_without_cores_has_a_low_box_and_no_row() -> None:
    figure = topology_figure(described_map_data(load_description("xeonmax-2x56")))
    at = dict(texts_of(figure))
    assert at["node 0"].x0 == at["node 2"].x0
    assert at["node 0"].y0 - at["memory 128 GiB"].y0 > 2 * (at["node 2"].y0 - at["memory 64 GiB"].y0)
    tables = [axes for axes in figure.axes if axes.get_ylabel() == "cores of node"]
    assert [[label.get_text() for label in axes.get_yticklabels()] for axes in tables] == [["0", "1"]] * 3
    assert [axes.get_ylim() for axes in tables] == [(2, 0)] * 3


@pytest.mark.parametrize(
    ("nodes", "same", "kind"),
    [
        (2, True, "all"),
        (3, True, "all"),
        (3, False, "all"),
        (4, False, "star"),
        (4, True, "cube"),
        (6, False, "chain"),
        (8, True, "all"),
        (8, False, "cube"),
        (9, True, "chain"),
        (9, False, "all"),
    ],
)
def test_any_links_are_legible_and_none_is_left_out(nodes: int, same: bool, kind: str) -> None:
    pairs = [
        (one, other)
        for one, other in itertools.combinations(range(nodes), 2)
        if {"all": True, "cube": (one ^ other).bit_count() == 1, "star": one == 0, "chain": other == one + 1}[kind]
    ]
    wires = tuple(Wire(*pair, 20.0 + (0 if same else at), 20.0) for at, pair in enumerate(pairs))
    data = computer_map_data(shape([12] * nodes))
    shown = assert_legible(topology_figure(msgspec.structs.replace(data, wires=wires)))
    way = NodeMap(data.boxes, wires).way
    rows = [{at for at, place in enumerate(way.places) if place[1] == row} for row in way.meshes]
    meshed = {pair for row in rows for pair in itertools.combinations(sorted(row), 2)}
    assert sorted([*meshed, *way.lines, *way.listed]) == pairs
    names = [box.node for box in data.boxes]
    listed = " ".join(text for text in shown if text.startswith("further links") or "\u2013" in text)
    assert all(f"{names[one]}\u2013{names[other]}" in listed for one, other in way.listed)


def test_many_scattered_pus_are_shortened() -> None:
    data = computer_map_data(topology_of((24, 24), os_indices=(0, 1)))  # PU numbers alternate
    assert data.boxes[1].pus == ",".join(map(str, range(1, 48, 2)))
    shown = assert_legible(topology_figure(data))
    (line,) = (text for text in shown if text.startswith("PUs 1,"))
    assert line.startswith("PUs 1, 3, 5, ")
    assert line.endswith(" ... 47")


def test_nodes_are_spread_over_the_width_of_the_tables() -> None:
    figure = topology_figure(described_map_data(load_description("lpd48core")))
    nodes, *tables = figure.axes
    assert nodes.get_position().x1 == pytest.approx(tables[-1].get_position().x1, abs=0.01)
    at = {text: box for text, box in texts_of(figure) if text.startswith("node ")}
    edges = [at[f"node {n}"].x0 for n in range(4)]
    assert edges == sorted(edges)
    assert edges[-1] > 0.7 * figure.bbox.width


def test_packages_are_named_where_they_are_known() -> None:
    topology = shape([2, 2, 2])  # nodes 10, 11, 12 to the operating system
    packages = (Package(0, (0, 1, 2, 3), (10, 11)), Package(3, (4, 5), (12,)))
    data = computer_map_data(topology, packages)
    assert [box.packages for box in data.boxes] == [(0,), (0,), (3,)]
    figure = topology_figure(data)
    assert [text for text in assert_legible(figure) if "package" in text] == ["package 0", "package 3"]
    at = dict(texts_of(figure))
    frames = {frame.get_window_extent().x0: frame.get_window_extent() for frame in frames_of(figure)}
    first, second = (frames[x0] for x0 in sorted(frames))
    for frame, inside in ((first, ("package 0", "node 10", "node 11")), (second, ("package 3", "node 12"))):
        assert all(frame.x0 < at[text].x0 and at[text].x1 < frame.x1 for text in inside)
        assert all(frame.y0 < at[text].y0 and at[text].y1 < frame.y1 for text in inside)
    assert first.x1 < second.x0
    assert not any("package" in text for text, _ in texts_of(topology_figure(computer_map_data(topology))))


def test_packages_whose_nodes_do_not_stand_side_by_side_are_named_in_each_node() -> None:
    topology = shape([2, 2, 2])
    packages = (Package(0, (0, 1, 4, 5), (10, 12)), Package(3, (2, 3), (11,)))
    figure = topology_figure(computer_map_data(topology, packages))
    assert [text for text in assert_legible(figure) if "package" in text] == [
        "package 0, 2 cores", "package 3, 2 cores", "package 0, 2 cores",
    ]  # fmt: skip
    assert frames_of(figure) == []


def test_a_described_machine_without_packages_has_one_for_each_node_with_cores() -> None:
    data = described_map_data(load_description("sandybridge-4x8"))
    assert [box.packages for box in data.boxes] == [(0,), (1,), (2,), (3,)]
    figure = topology_figure(data)
    assert "package 3, 8 cores" in assert_legible(figure)
    assert frames_of(figure) == []
    framed = topology_figure(described_map_data(load_description("lpd48core")))
    assert len(frames_of(framed)) == 4
    assert {f"package {n}" for n in range(4)} <= set(assert_legible(framed))


def frames_of(figure: Figure) -> list[Rectangle]:
    """Return the frames of packages."""
    figure.draw_without_rendering()
    drawn = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]
    return [patch for patch in drawn if mpl.colors.to_hex(patch.get_facecolor()) == FRAME]
