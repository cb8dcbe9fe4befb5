from pathlib import Path

import msgspec
import pytest
from scipy.stats import binomtest

from numapredict.predictor.evaluate import Evaluations, evaluate_held_out, together
from numapredict.predictor.learning import options_of
from numapredict.reports.calibration import calibration_data, draw_calibration
from numapredict.reports.figure_file import UnwritableFigureError
from tests.planted import planted_dataset


@pytest.fixture(scope="module")
def evaluations() -> Evaluations:
    return together([evaluate_held_out(planted_dataset(15, jitter=0.3), options_of(None, None))])


def test_the_points_are_the_bins_with_programs(evaluations: Evaluations) -> None:
    data = calibration_data(evaluations)
    filled = [each for each in evaluations.calibration.bins if each.programs]
    assert [point.programs for point in data.points] == [each.programs for each in filled]
    assert data.kept + data.programs == 15
    assert "modelled" in data.title
    for point, each in zip(data.points, filled, strict=True):
        known = binomtest(each.faster, each.programs).proportion_ci(0.9, method="exact")
        assert (point.low, point.high) == pytest.approx((known.low, known.high))
        assert point.low <= point.faster <= point.high


def test_the_figure_is_written_and_says_what_it_shows(evaluations: Evaluations, tmp_path: Path) -> None:
    data = calibration_data(evaluations)
    draw_calibration(data, tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    assert "stated probability" in text
    assert data.title in text
    assert f"{data.programs} programs advised" in text
    draw_calibration(msgspec.structs.replace(data, points=()), tmp_path / "empty.png")
    assert (tmp_path / "empty.png").stat().st_size > 1000
    with pytest.raises(UnwritableFigureError):
        draw_calibration(data, tmp_path / "figure.gif")
