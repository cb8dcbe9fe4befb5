from pathlib import Path

import numpy as np
import pytest
from defusedxml import ElementTree

from numapredict.collect.mapping import mapping_named
from numapredict.native.errors import UsageError
from numapredict.predictor.evaluation.thesis import FEATURE_SETS, FeatureSet, Sweep, SweepPoint, sweeps_of
from numapredict.predictor.learning.features import observe
from numapredict.reports.figure_file import BELOW, write_figure
from numapredict.reports.source import Origin, origin_of
from numapredict.reports.sweep_curves import (
    BEST,
    DEFAULT,
    WHAT,
    SweepCurve,
    SweepCurvesData,
    SweepPanel,
    sweep_curves_data,
    sweep_figure,
)
from tests.planted import four_by_eight, planted_dataset
from tests.unit.reports.legible import assert_legible

THERE = Origin(machine="there", modelled=True)


def sweep(features: FeatureSet, default: str, speedups: list[float]) -> Sweep:
    points = tuple(
        SweepPoint(clusters=count, speedup_arithmetic=value, speedup_geometric=value / 2)
        for count, value in enumerate(speedups, 1)
    )
    return Sweep(features=features, default=mapping_named(default), points=points)


def test_a_panel_a_default_with_its_curves_and_its_best() -> None:
    sweeps = [
        sweep("times", "8x1-contiguous-bind", [1.5, 1.25, 2.0]),
        sweep("times", "16x2-contiguous-locality", [1.1, 1.2, 1.3]),
        sweep("two_probes", "16x2-contiguous-locality", [1.0, 0.9, 1.3]),
    ]
    data = sweep_curves_data(sweeps, Origin(machine="there", modelled=False))
    assert data.title == "3 programs on there (measured)"
    assert data.panels == (
        SweepPanel("8x1-contiguous-bind", 2.0, (SweepCurve("times", (1, 2, 3), (1.5, 1.25, 2.0)),)),
        SweepPanel(
            "16x2-contiguous-locality",
            1.3,
            (
                SweepCurve("times", (1, 2, 3), (1.1, 1.2, 1.3)),
                SweepCurve("two_probes", (1, 2, 3), (1.0, 0.9, 1.3)),
            ),
        ),
    )


def test_curves_end_where_the_thesis_s_do_but_the_best_is_that_of_all_programs() -> None:
    (panel,) = sweep_curves_data([sweep("times", "x", [float(n) for n in range(1, 121)])], THERE).panels
    assert panel.curves[0].clusters == tuple(range(1, 31))
    assert panel.best == 120.0


@pytest.mark.parametrize("programs", [12, 40])  # curves end at 30 clusters
def test_every_curve_and_unit_is_named_and_legible(tmp_path: Path, programs: int) -> None:
    dataset = planted_dataset(programs, jitter=0.3)
    data = sweep_curves_data(sweeps_of(observe(dataset), four_by_eight()), origin_of(dataset))
    assert {curve.features for panel in data.panels for curve in panel.curves} == set(FEATURE_SETS)
    figure = sweep_figure(data)
    assert_legible(figure)
    write_figure(figure, tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    for words in (data.title, "(modelled)", "clusters", "speedup over the default", "in sample", *WHAT.values()):
        assert words in text
    for panel in data.panels:
        assert f"default: {panel.default}" in text


def test_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.png or \.svg"):
        write_figure(sweep_figure(sweep_curves_data([sweep("times", "x", [1.0])], THERE)), tmp_path / "a.pdf")


def test_curves_are_drawn_in_the_panels_of_their_defaults() -> None:
    sweeps = [
        sweep("times", "first", [1.5, 1.25, 2.0]),
        sweep("times", "second", [1.1, 1.2, 1.3]),
        sweep("two_probes", "second", [1.0, 0.9, 1.3]),
    ]
    figure = sweep_figure(sweep_curves_data(sweeps, THERE))
    drawn = [
        {str(line.get_label()): [np.asarray(each).tolist() for each in line.get_data()] for line in axes.lines}
        for axes in figure.axes
    ]
    assert [axes.get_title() for axes in figure.axes] == ["default: first", "default: second"]
    curves = [line for axes in figure.axes for line in axes.lines if line.get_label() in WHAT.values()]
    assert len({(line.get_markersize(), line.get_linewidth()) for line in curves}) == 1, "a size would say something"
    assert len({str(line.get_markevery()) for line in curves[1:]}) == 2, "marks take turns where curves coincide"
    assert drawn[0][WHAT["times"]] == [[1, 2, 3], [0.75, 0.625, 1.0]]
    assert drawn[1][WHAT["times"]] == [[1, 2, 3], [1.1 / 1.3, 1.2 / 1.3, 1.0]]
    assert drawn[1][WHAT["two_probes"]] == [[1, 2, 3], [1.0 / 1.3, 0.9 / 1.3, 1.0]]
    assert [panel[BEST][1] for panel in drawn] == [[1, 1], [1, 1]]
    assert DEFAULT not in drawn[0]  # at half of the best, below the scale
    assert drawn[1][DEFAULT][1] == [1 / 1.3, 1 / 1.3]
    said = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert (f"{BEST}: 2.00x" in said[0], f"{BEST}: 1.30x" in said[1]) == (True, True)
    assert (DEFAULT in said[0], DEFAULT in said[1]) == (False, True)


def test_panels_have_one_scale_and_each_curve_s_name_and_colour_beside_it() -> None:
    sweeps = [
        sweep("times", "first", [1.5, 1.25, 9.0]),
        sweep("times", "second", [1.1, 1.2, 1.3]),
        sweep("two_probes", "second", [1.2, 1.3, 1.3]),
    ]
    first, second = sweep_figure(sweep_curves_data(sweeps, THERE)).axes
    assert first.get_ylim() == second.get_ylim()
    assert not first.figure.legends
    texts = {text.get_text(): text.get_position()[1] for text in second.texts}
    assert texts[WHAT["two_probes"]] > texts[WHAT["times"]]  # the higher curve's name is higher
    for name in ("times", "two_probes"):
        curve = next(line for line in second.lines if line.get_label() == WHAT[name])
        (mark,) = [line for line in second.lines if list(np.asarray(line.get_ydata())) == [texts[WHAT[name]]]]
        assert (mark.get_color(), mark.get_marker()) == (curve.get_color(), curve.get_marker())


def test_the_panels_do_not_lie_on_the_source(tmp_path: Path) -> None:
    data = sweep_curves_data([sweep("times", "x", [1.0, 2.0])], THERE)
    figure = sweep_figure(data)
    write_figure(figure, tmp_path / "a.png")
    (source,) = [text for text in figure.texts if text.get_gid() == BELOW]
    figure.draw_without_rendering()
    assert figure.axes[0].get_tightbbox().y0 >= source.get_window_extent().y1
    root = ElementTree.parse(_svg(data, tmp_path)).getroot()
    down = {
        "".join(text.itertext()): float(str(text.get("transform")).rsplit("translate(")[-1].split(")")[0].split()[1])
        if "translate" in str(text.get("transform"))
        else float(text.get("y", "nan"))
        for text in root.iter("{http://www.w3.org/2000/svg}text")
    }
    assert down[data.source] > max(down[WHAT["times"]], down[f"{BEST}: 2.00x"]) + 8


def _svg(data: SweepCurvesData, folder: Path) -> Path:
    write_figure(sweep_figure(data), folder / "a.svg")
    return folder / "a.svg"
