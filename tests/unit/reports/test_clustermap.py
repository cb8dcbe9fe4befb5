import itertools
from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.predictor.features import InsufficientDataError
from numapredict.reports.clustermap import ClustermapData, clustermap_data, draw_clustermap
from numapredict.reports.clustermap_figure import figure_of
from numapredict.reports.figure_file import UnwritableFigureError
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
    times = {(m.program, m.mapping): m.time_s for m in dataset.measurements}
    default = data.mappings.index(data.default)
    for program, row in zip(data.programs, data.log2_times, strict=True):
        assert row[default] == 0.0
        for mapping, value in zip(data.mappings, row, strict=True):
            assert value == pytest.approx(np.log2(times[program, mapping] / times[program, data.default]))


def test_mappings_are_ordered_and_complete(data: ClustermapData) -> None:
    assert list(data.mappings) == sorted({m.mapping for m in planted_dataset(1).measurements})


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
    data = clustermap_data(planted_dataset(5), default="16x2-contiguous-locality")
    assert data.default.label == "16x2-contiguous-locality"
    assert all(row[data.mappings.index(data.default)] == 0.0 for row in data.log2_times)


def test_too_little_data_is_said() -> None:
    with pytest.raises(InsufficientDataError, match="at least two"):
        clustermap_data(planted_dataset(1))
    with pytest.raises(InsufficientDataError, match="4x4-scatter-mix"):
        clustermap_data(planted_dataset(3), default="4x4-scatter-mix")


@pytest.mark.parametrize(("programs", "subset"), [(2, "thesis"), (12, "thesis"), (60, "full")])
def test_both_formats_hold_every_name(tmp_path: Path, programs: int, subset: str) -> None:
    data = clustermap_data(planted_dataset(programs, subset=subset), n_clusters=min(programs, 5))
    draw_clustermap(data, tmp_path / "map.png")
    draw_clustermap(data, tmp_path / "map.svg")
    assert (tmp_path / "map.png").stat().st_size > 10_000
    svg = (tmp_path / "map.svg").read_text()
    for text in (data.title, data.default.label, "4x slower", "contiguous", "thread nodes", *data.programs):
        assert f">{text}" in svg or text in svg, text
    if subset == "thesis":
        assert all(mapping.label in svg for mapping in data.mappings)
    else:
        assert "threads x thread nodes" in svg
        assert ">16x2</text>" in svg


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
    draw_clustermap(clustermap_data(msgspec.structs.replace(dataset, measurements=twins)), tmp_path / "twins.png")
    assert (tmp_path / "twins.png").exists()


def test_another_format_is_refused_before_drawing(data: ClustermapData, tmp_path: Path) -> None:
    with pytest.raises(UnwritableFigureError, match=r"map\.bmp"):
        draw_clustermap(data, tmp_path / "map.bmp")
