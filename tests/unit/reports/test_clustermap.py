import itertools
from pathlib import Path

import msgspec
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from numapredict.collect.mapping import order_of, parse_label
from numapredict.native.errors import InsufficientDataError, UsageError
from numapredict.predictor.learning.datasets import open_dataset
from numapredict.predictor.learning.features import observe
from numapredict.predictor.learning.learning import options_of
from numapredict.predictor.learning.options import CLUSTERS
from numapredict.predictor.learning.train import default_of, train
from numapredict.reports.clustermap import ClustermapData, clustermap_data
from numapredict.reports.clustermap_figure import choices_of, figure_of, short_names, shown_columns
from numapredict.reports.figure_file import write_figure
from numapredict.reports.parts.heatmap import heatmap_data
from numapredict.reports.program_order import order_programs
from tests.planted import planted_dataset


@pytest.fixture(scope="module")
def data() -> ClustermapData:
    return clustermap_data(planted_dataset(12), n_clusters=5)


def test_programs_of_a_kind_stand_together(data: ClustermapData) -> None:
    kinds = [name.rsplit("-", 1)[0] for name in data.programs]
    assert len(kinds) == 12
    assert len(list(dict.fromkeys(kinds))) == sum(1 for a, b in zip(kinds, ["", *kinds], strict=False) if a != b)
    assert list(dict.fromkeys(data.clusters)) == [1, 2, 3, 4, 5], "clusters are numbered from 1, from the top"
    assert len(set(zip(kinds, data.clusters, strict=True))) == 5


def test_colours_are_times_over_the_default(data: ClustermapData) -> None:
    dataset = planted_dataset(12)
    times = {(m.program, m.mapping.label): m.time_s for m in dataset.measurements}
    default = data.mappings.index(data.default)
    for program, row in zip(data.programs, data.log2_times, strict=True):
        assert row[default] == 0.0
        for mapping, value in zip(data.mappings, row, strict=True):
            assert value == pytest.approx(np.log2(times[program, mapping.label] / times[program, data.default.label]))


def test_mappings_are_ordered_and_complete(data: ClustermapData) -> None:
    expected = sorted({m.mapping for m in planted_dataset(1).measurements}, key=order_of)
    assert [mapping.label for mapping in data.mappings] == [mapping.label for mapping in expected]


def test_brackets_join_every_program_once(data: ClustermapData) -> None:
    assert len(data.brackets) == 11
    feet = [
        row
        for b in data.brackets
        for row, distance in ((b.rows[0], b.distances[0]), (b.rows[3], b.distances[3]))
        if distance == 0
    ]
    assert sorted(feet) == [row + 0.5 for row in range(12)]
    assert sum(b.cluster is None for b in data.brackets) == 4, "five clusters are joined by four merges"


def test_the_title_says_where_and_that_it_was_modelled(data: ClustermapData) -> None:
    assert data.title == "12 programs under 23 mappings on planted-4x8 (modelled run times)"
    assert "measured run times" in msgspec.structs.replace(data, modelled=False).title


def test_the_default_can_be_chosen() -> None:
    data = clustermap_data(planted_dataset(5), default=parse_label("16x2-contiguous-locality"))
    assert data.default.label == "16x2-contiguous-locality"
    assert all(row[data.mappings.index(data.default)] == 0.0 for row in data.log2_times)


def test_too_little_data_is_said() -> None:
    with pytest.raises(InsufficientDataError, match="at least two"):
        clustermap_data(planted_dataset(1))
    with pytest.raises(InsufficientDataError, match="4x4-scatter-mix"):
        clustermap_data(planted_dataset(3), default="4x4-scatter-mix")


@pytest.mark.thorough
@pytest.mark.parametrize(("programs", "subset"), [(2, "thesis"), (60, "full")])
def test_both_formats_hold_every_name(tmp_path: Path, programs: int, subset: str) -> None:
    data = clustermap_data(planted_dataset(programs, subset=subset), n_clusters=min(programs, 5))
    write_figure(figure_of(data), tmp_path / "map.png")
    write_figure(figure_of(data), tmp_path / "map.svg")
    assert (tmp_path / "map.png").stat().st_size > 10_000
    svg = (tmp_path / "map.svg").read_text()
    for text in (data.title, data.default.label, "4x slower", "contiguous", "thread nodes", *data.programs):
        assert f">{text}" in svg or text in svg, text
    assert all(column.label in svg for column in shown_columns(data))
    assert (">16 threads, best of 46<" in svg) == (subset == "full")


@pytest.mark.parametrize(("programs", "subset"), [(12, "thesis"), (60, "full")])
def test_program_names_do_not_overlap(programs: int, subset: str) -> None:
    figure = figure_of(clustermap_data(planted_dataset(programs, subset=subset), n_clusters=5))
    figure.draw_without_rendering()
    heat = next(axes for axes in figure.axes if len(axes.get_yticklabels()) == programs)
    for labels, low, high in ((heat.get_yticklabels(), "y0", "y1"), (heat.get_xticklabels(), "x0", "x1")):
        boxes = sorted((getattr(b, low), getattr(b, high)) for b in (label.get_window_extent() for label in labels))
        assert all(first[1] <= second[0] + 0.5 for first, second in itertools.pairwise(boxes))
    inside = figure.bbox
    for label in (*heat.get_yticklabels(), *heat.get_xticklabels()):
        box = label.get_window_extent()
        assert inside.x0 <= box.x0 <= box.x1 <= inside.x1
        assert inside.y0 <= box.y0 <= box.y1 <= inside.y1


def test_programs_that_react_alike_can_be_drawn(tmp_path: Path) -> None:
    dataset = planted_dataset(2)
    first, second = dataset.programs
    own = [m for m in dataset.measurements if m.program == first.name]
    twins = tuple(own + [msgspec.structs.replace(m, program=second.name) for m in own])
    write_figure(
        figure_of(clustermap_data(msgspec.structs.replace(dataset, measurements=twins))), tmp_path / "twins.png"
    )
    assert (tmp_path / "twins.png").exists()


def test_another_format_is_refused_before_drawing(data: ClustermapData, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"map\.bmp"):
        write_figure(figure_of(data), tmp_path / "map.bmp")


def heat_of(figure: Figure) -> tuple[Axes, QuadMesh]:
    (found,) = [
        (axes, mesh)
        for axes in figure.axes
        for mesh in axes.collections
        if isinstance(mesh, QuadMesh) and mesh.colorbar is not None
    ]
    return found


def marks(figure: Figure, marker: str) -> list[tuple[Axes, list[float], list[float]]]:
    return [
        (axes, np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist())
        for axes in figure.axes
        for line in axes.lines
        if line.get_marker() == marker
    ]


def test_cells_stand_in_their_rows_and_slow_is_red_and_fast_is_blue(data: ClustermapData) -> None:
    axes, mesh = heat_of(figure_of(data))
    columns = shown_columns(data)
    assert len(columns) == len(data.mappings), "too few to fold"
    values = np.array([[row[column.mappings[0]] for column in columns] for row in data.log2_times])
    assert np.asarray(mesh.get_array()).reshape(values.shape) == pytest.approx(values)
    # Row 0 is at the top: the corner of the first cell is the upper left one of the axes.
    assert mesh.get_coordinates()[0, 0].tolist() == [0, 0]
    assert axes.get_ylim() == (len(data.programs), 0)
    assert axes.get_xlim() == (0, len(columns))
    assert [label.get_text() for label in axes.get_xticklabels()] == [column.label for column in columns]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(data.programs)
    assert axes.get_yticks().tolist() == [row + 0.5 for row in range(len(data.programs))]
    colours = mesh.cmap(mesh.norm(values))
    red, green, blue = colours[..., 0], colours[..., 1], colours[..., 2]
    assert np.all(red[values > 0.2] > blue[values > 0.2])
    assert np.all(blue[values < -0.2] > red[values < -0.2])
    same = values == 0
    assert same.any()
    assert np.all(np.minimum(np.minimum(red, green), blue)[same] > 0.95), "the default's cells are white"


def test_the_scale_says_slower_where_cells_are_red(data: ClustermapData) -> None:
    figure = figure_of(data)
    _, mesh = heat_of(figure)
    colorbar = mesh.colorbar
    assert colorbar is not None
    said = {
        tick: label.get_text() for tick, label in zip(colorbar.get_ticks(), colorbar.ax.get_xticklabels(), strict=True)
    }
    assert said[0] == "default"
    assert said[1] == "2x slower"
    assert said[-1] == "2x faster"
    assert colorbar.mappable is mesh


def test_dots_are_at_the_fastest_mappings(data: ClustermapData) -> None:
    figure = figure_of(data)
    ((axes, across, down),) = marks(figure, "o")
    assert axes is heat_of(figure)[0]
    assert down == [row + 0.5 for row in range(12)]
    for column, row in zip(across, data.log2_times, strict=True):
        assert row[shown_columns(data)[int(column - 0.5)].mappings[0]] == min(row)


@pytest.mark.parametrize("label", [None, "16x2-contiguous-locality"])
def test_the_triangle_is_above_the_default_s_column(label: str | None) -> None:
    data = clustermap_data(planted_dataset(12), default=parse_label(label) if label else None)
    figure = figure_of(data)
    ((axes, across, _),) = marks(figure, "v")
    assert shown_columns(data)[int(across[0] - 0.5)].label == data.default.label
    assert axes.get_xlim() == heat_of(figure)[0].get_xlim()
    above, heat = axes.get_position(), heat_of(figure)[0].get_position()
    assert (above.x0, above.x1) == pytest.approx((heat.x0, heat.x1))
    assert above.y0 > heat.y1 - 1e-9


@pytest.mark.parametrize(("programs", "subset"), [(12, "thesis"), (60, "full")])
def test_the_bars_say_of_every_column_what_it_is(programs: int, subset: str) -> None:
    data = clustermap_data(planted_dataset(programs, subset=subset))
    columns = shown_columns(data)
    figure = figure_of(data)
    legend = figure.legends[0]
    colours = {
        text.get_text(): patch.get_facecolor()
        for text, patch in zip(legend.get_texts(), legend.get_patches(), strict=True)
    }
    bars = [axes for axes in figure.axes if any(text.get_text() == "page policy" for text in axes.texts)]
    assert len(bars) == (2 if programs == 60 else 1)
    for axes in bars:
        names = {text.get_text(): text.get_position()[1] for text in axes.texts if "policy" in text.get_text()}
        for row, choice in (("thread policy", "thread_policy"), ("page policy", "page_policy")):
            seen = {}
            for patch in axes.patches:
                assert isinstance(patch, Rectangle)
                if patch.get_y() <= names[row] <= patch.get_y() + patch.get_height():
                    start = round(patch.get_x())
                    seen |= dict.fromkeys(range(start, start + round(patch.get_width())), patch.get_facecolor())
            for place, column in enumerate(columns):
                values = {getattr(data.mappings[at], choice) for at in column.mappings}
                assert seen.get(place) == (colours[values.pop()] if len(values) == 1 else None)


def test_the_tree_and_the_clusters_numbers_are_drawn_where_they_belong(data: ClustermapData) -> None:
    figure = figure_of(data)
    (tree,) = [axes for axes in figure.axes if axes.get_xlabel().startswith("distance")]
    assert [
        (tuple(np.asarray(line.get_xdata()).tolist()), tuple(np.asarray(line.get_ydata()).tolist()))
        for line in tree.lines
    ] == [(bracket.distances, bracket.rows) for bracket in data.brackets]
    (numbers,) = [axes for axes in figure.axes if [text.get_text() for text in axes.texts] == list("12345")]
    strips = {
        text.get_text(): patch.get_facecolor() for text, patch in zip(numbers.texts, numbers.patches, strict=True)
    }
    for text in numbers.texts:
        assert str(data.clusters[int(text.get_position()[1])]) == text.get_text()
    for bracket, line in zip(data.brackets, tree.lines, strict=True):
        if bracket.cluster is not None:
            assert to_rgba(line.get_color()) == strips[str(bracket.cluster)]
    cuts = [float(np.asarray(line.get_ydata())[0]) for line in heat_of(figure)[0].lines if line.get_marker() == "None"
            and len(set(np.asarray(line.get_ydata()).tolist())) == 1]  # fmt: skip
    assert cuts == [row for row in range(1, 12) if data.clusters[row] != data.clusters[row - 1]]


def test_programs_are_clustered_as_on_the_page_and_in_the_model() -> None:
    dataset = planted_dataset(15, jitter=0.4)
    options = options_of(None, None, dataset)
    observations = observe(dataset, default_of(dataset, options))
    column = observations.column(default_of(dataset, options))
    order = order_programs(observations, column, options.scale)
    page = heatmap_data(observations, column, order, CLUSTERS)
    data = clustermap_data(dataset)
    assert data.scale == options.scale == "log"
    assert data.programs == page.programs
    starts = page.cuts[page.start_clusters - 1].starts
    assert len(starts) == CLUSTERS
    assert data.clusters == tuple(sum(start <= row for start in starts) for row in range(15))


def test_scale_and_legend_stand_above_the_heatmap() -> None:
    figure = figure_of(clustermap_data(planted_dataset(60, subset="full")))
    figure.draw_without_rendering()
    heat, mesh = heat_of(figure)
    assert mesh.colorbar is not None
    scale, legend = mesh.colorbar.ax.get_tightbbox(), figure.legends[0].get_window_extent()
    (bars, *_) = sorted(axes.get_tightbbox().y1 for axes in figure.axes if len(axes.patches) > 30)[::-1]
    assert scale.y0 > legend.y1 - 1 > legend.y0 > bars > heat.get_window_extent().y1


def test_the_figure_names_its_scale_and_ward() -> None:
    dataset = planted_dataset(12)
    log, linear = clustermap_data(dataset), clustermap_data(dataset, scale="linear")
    assert log.brackets != linear.brackets
    for data, words in ((log, "on log2 of the run times"), (linear, "on run times on a linear scale (as the thesis)")):
        said = "".join(text.get_text() for text in figure_of(data).texts)
        assert words in said
        assert "Ward" in said
        assert "Clusters (6)" in said


def test_clusters_have_the_numbers_of_the_model_that_has_them() -> None:
    dataset = planted_dataset(15)
    model = train(dataset)
    data = clustermap_data(dataset, n_clusters=len(model.clusters), model=model)
    number_of = {member.name: cluster.id for cluster in model.clusters for member in cluster.members}
    assert data.clusters == tuple(number_of[name] for name in data.programs)
    others = clustermap_data(dataset, n_clusters=len(model.clusters) - 1, model=model)
    assert list(dict.fromkeys(others.clusters)) == list(range(1, len(model.clusters)))


def test_a_part_that_all_names_have_stands_in_the_title_alone() -> None:
    data = clustermap_data(open_dataset("broadwell-2x10"))
    names, said = short_names(data)
    assert "stream-copy.serial" in names
    assert said == " All programs are .medium."
    mixed = msgspec.structs.replace(data, programs=("a.small.serial", *data.programs[1:]))
    assert short_names(mixed) == (mixed.programs, "")


def test_more_clusters_than_there_can_be_are_refused_in_one_line() -> None:
    with pytest.raises(InsufficientDataError, match="its 12 programs fall into at most 12 of the 500 clusters"):
        clustermap_data(planted_dataset(12), n_clusters=500)
    assert max(clustermap_data(planted_dataset(12), n_clusters=12).clusters) == 12
    assert max(clustermap_data(planted_dataset(4)).clusters) == 4, "unless asked, as many as there are"


def test_a_long_name_does_not_widen_the_figure(data: ClustermapData) -> None:
    usual = figure_of(data).get_figwidth()
    for name in ("x" * 300, "W" * 300):
        figure = figure_of(msgspec.structs.replace(data, programs=(name, *data.programs[1:])))
        assert usual < figure.get_figwidth() < usual + 5
        label = heat_of(figure)[0].get_yticklabels()[0]
        figure.draw_without_rendering()
        assert label.get_window_extent().x1 < figure.bbox.x1


def test_threads_a_core_have_a_bar_where_mappings_differ_in_them(data: ClustermapData) -> None:
    def bars(of: ClustermapData) -> list[str]:
        return [text.get_text() for axes in figure_of(of).axes for text in axes.texts]

    shared = msgspec.structs.replace(data.mappings[-1], threads_per_core=2)
    both = msgspec.structs.replace(data, mappings=(*data.mappings[:-1], shared))
    assert both.mappings[-1].label == f"{data.mappings[-1].label}-smt2"
    assert "threads a core" in bars(both)
    assert "threads a core" not in bars(data)
    name, values = choices_of(both, shown_columns(both))[-1]
    assert (name, values[0], set(values[1:])) == ("threads a core", 1, {1, 2})
