from pathlib import Path

import msgspec
import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.text import Annotation
from scipy.stats import binomtest

from numapredict.native.errors import UsageError
from numapredict.predictor.evaluation.calibration import Forecast
from numapredict.predictor.evaluation.evaluate import Evaluations, evaluate_held_out, together
from numapredict.predictor.learning.learning import options_of
from numapredict.reports.calibration import CalibrationPoint, calibration_data, calibration_figure
from numapredict.reports.figure_file import write_figure
from tests.evaluations import DEFAULT, evaluation, held_out
from tests.planted import planted_dataset
from tests.unit.reports.legible import assert_legible

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture(scope="module")
def evaluations() -> Evaluations:
    return together([evaluate_held_out(planted_dataset(15, jitter=0.3), options_of(None, None))])


def test_the_points_are_the_bins_with_runs(evaluations: Evaluations) -> None:
    data = calibration_data(evaluations)
    filled = [each for each in evaluations.calibration.bins if each.runs]
    assert [point.runs for point in data.points] == [each.runs for each in filled]
    assert data.runs == evaluations.calibration.runs == sum(point.runs for point in data.points)
    assert "modelled" in data.title
    for point, each in zip(data.points, filled, strict=True):
        known = binomtest(each.faster, each.runs).proportion_ci(0.9, method="exact")
        assert (point.low, point.high) == pytest.approx((known.low, known.high))
        assert point.low <= point.faster <= point.high


def test_the_figure_is_written_and_says_what_it_shows(evaluations: Evaluations, tmp_path: Path) -> None:
    data = calibration_data(evaluations)
    write_figure(calibration_figure(data), tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    assert "stated chance" in text
    assert data.title in text
    assert f"{data.runs} further runs, of which" in text
    write_figure(calibration_figure(msgspec.structs.replace(data, points=())), tmp_path / "empty.png")
    assert (tmp_path / "empty.png").stat().st_size > 1000
    with pytest.raises(UsageError, match=r"figures are written as \.png or \.svg"):
        write_figure(calibration_figure(data), tmp_path / "figure.gif")


POINTS = (
    CalibrationPoint(stated=0.6, faster=0.5, low=0.1, high=0.7, runs=4),
    CalibrationPoint(stated=0.9, faster=0.95, low=0.6, high=1.0, runs=20),
)


def test_points_and_their_intervals_are_drawn_where_they_are(evaluations: Evaluations) -> None:
    data = msgspec.structs.replace(calibration_data(evaluations), points=POINTS)
    (axes,) = calibration_figure(data).axes
    (bars,) = axes.containers
    assert isinstance(bars, ErrorbarContainer)
    points, _, (segments,) = bars.lines
    assert points is not None
    assert np.asarray(points.get_xydata()).tolist() == [[0.5, 0], [0.95, 1]]
    assert [np.asarray(segment).ravel().tolist() for segment in segments.get_segments()] == [
        pytest.approx([point.low, row, point.high, row]) for row, point in enumerate(POINTS)
    ]
    (stated,) = [line for line in axes.lines if line.get_label() == "stated chance"]
    assert np.asarray(stated.get_xydata()).tolist() == [[0.6, 0], [0.9, 1]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["60% chance, 4 runs", "90% chance, 20 runs"]
    assert [(text.get_text(), text.xy) for text in axes.texts if isinstance(text, Annotation)] == [
        ("2 of 4 faster: 50% (10% to 70%)", (1, 0)),
        ("19 of 20 faster: 95% (60% to 100%)", (1, 1)),
    ]


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_a_table_of_any_length_is_legible(evaluations: Evaluations, rows: int) -> None:
    data = msgspec.structs.replace(calibration_data(evaluations), points=(POINTS * 3)[:rows])
    assert_legible(calibration_figure(data))


def test_the_title_counts_the_runs() -> None:
    programs = [
        held_out("inside", 2.0, 2.0, Forecast(2.1, 1.5, 3.0, 0.9, 2.0)),
        held_out("below", 1.0, 4.0, *[Forecast(3.0, 2.0, 4.0, 0.8, 1.0)] * 2),
        held_out("kept", 1.0, 1.1, mapping=DEFAULT),
    ]
    data = calibration_data(together([evaluation("there", programs)]))
    assert (data.runs, data.within) == (3, 1)
    assert data.source == f"Source: there, modelled. Speedups are over {DEFAULT}."
    title = calibration_figure(data).axes[0].get_title()
    assert title == "3 further runs, of which 1 are inside the interval that should hold 3"
    assert_legible(calibration_figure(data))
