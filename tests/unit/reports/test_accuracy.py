import itertools
import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
from matplotlib.collections import LineCollection

from numapredict.native.errors import UsageError
from numapredict.predictor.evaluation.calibration import Forecast
from numapredict.predictor.evaluation.evaluate import evaluate_held_out, together
from numapredict.predictor.evaluation.search_curve import ANSWERED
from numapredict.predictor.evaluation.strategy import Strategy
from numapredict.predictor.learning.learning import options_of
from numapredict.reports.accuracy import MOST_MISSES, AccuracyData, accuracy_data, accuracy_figure
from numapredict.reports.figure_file import write_figure
from tests.evaluations import DEFAULT, evaluation, held_out
from tests.planted import planted_dataset
from tests.unit.reports.legible import assert_legible

pytestmark = pytest.mark.usefixtures("few_trees")
PROGRAMS = [
    held_out("right", 2.0, 2.0, Forecast(2.1, 1.5, 3.0, 0.9, 2.0)),
    held_out("below", 1.0, 4.0, Forecast(3.0, 2.0, 4.0, 0.9, 1.0)),
    held_out("above", 5.0, 5.0, *[Forecast(3.0, 2.0, 4.0, 0.9, 5.0)] * 2),
    held_out("late", 3.0, 3.3, *[Forecast(1.0, 0.9, 1.1, 0.5, 1.0)] * 3, Forecast(1.0, 0.9, 1.1, 0.5, 9.0)),
    held_out("kept", 1.0, 1.1, mapping=DEFAULT),
]


def made_up(*machines: str) -> AccuracyData:
    return accuracy_data(together([evaluation(machine, PROGRAMS) for machine in machines]))


def test_a_point_a_run_until_the_search_answers() -> None:
    data = made_up("there")
    assert [(p.program, p.expected, p.low, p.high, p.measured) for p in data.points] == [
        ("right", 2.1, 1.5, 3.0, 2.0),
        ("below", 3.0, 2.0, 4.0, 1.0),
        *[("above", 3.0, 2.0, 4.0, 5.0)] * 2,
        *[("late", 1.0, 0.9, 1.1, 1.0)] * 3,
    ]
    assert data.within == 4
    assert data.title == "5 held-out programs on there (modelled)"


def test_the_farthest_misses_come_first() -> None:
    data = made_up("there")
    assert [(point.program, point.miss) for point in data.misses] == [
        ("below", pytest.approx(math.log2(2.0))),
        *[("above", pytest.approx(math.log2(5 / 4)))] * 2,
    ]


def test_regrets_are_over_all_programs_and_ordered() -> None:
    ours, default = made_up("there").curves
    assert (ours.name, default.name) == (Strategy.OURS, "the default")
    assert ours.regrets == pytest.approx((0.0, 0.0, 0.1, 0.1, 3.0))
    assert default.regrets == pytest.approx((0.1, 1.0, 2.3, 3.0, 4.0))
    assert (ours.median, ours.p95) == pytest.approx((0.1, 0.1 + 0.8 * 2.9))


def test_regrets_agree_with_the_evaluation_s_score() -> None:
    dataset = planted_dataset(15, jitter=0.3)
    found = together([evaluate_held_out(dataset, options_of(None, None, dataset))])
    data = accuracy_data(found)
    curves = {curve.name: curve for curve in data.curves}
    assert set(curves) == {Strategy.OURS, "random forest on our probes", "the best one for the other programs",
                           "the thesis's recipe", "the default"}  # fmt: skip
    for name, score in ((Strategy.OURS, found), ("the thesis's recipe", found.baselines["thesis recipe"])):
        assert (curves[name].median, curves[name].p95) == pytest.approx((score.regret.median, score.regret.p95))
        assert curves[name].regrets[-1] == pytest.approx(score.regret.max)
    runs = [forecast for held in found.datasets[0].held_out for forecast in held.forecasts[: ANSWERED - 1]]
    assert (len(data.points), data.within) == (len(runs), sum(each.within for each in runs))


@pytest.mark.parametrize("machines", [("there",), tuple(f"machine-{n}" for n in range(9))])
def test_every_machine_is_drawn_and_named(tmp_path: Path, machines: tuple[str, ...]) -> None:
    data = made_up(*machines)
    figure = accuracy_figure(data)
    dots = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert sum(len(np.asarray(line.get_xdata())) for line in dots) == min(MOST_MISSES, 3 * len(machines))
    assert_legible(figure, apart=False)
    write_figure(figure, tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    for machine in machines:
        assert machine in text
    for words in ("speedup over the best run so far", "what came", "regret", "median 10", ">below", "(modelled)"):
        assert words in text


def test_searches_of_one_run_can_be_drawn(tmp_path: Path) -> None:
    data = accuracy_data(together([evaluation("there", [held_out("kept", 1.0, 1.0, mapping=DEFAULT)])]))
    assert data.points == ()
    write_figure(accuracy_figure(data), tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    with pytest.raises(UsageError, match=r"figures are written as \.png or \.svg"):
        write_figure(accuracy_figure(data), tmp_path / "figure.gif")


def test_many_programs_stay_legible() -> None:
    many = [
        held_out(
            f"program-with-a-long-name-{n}.medium.serial",
            1 + n / 30,
            1.1 + n / 30,
            Forecast(1.1 + n / 35, 1 + n / 40, 2 + n / 30, 0.9, 1 + n / 30),
        )
        for n in range(120)
    ]
    assert_legible(accuracy_figure(accuracy_data(together([evaluation("there", many)]))), apart=False)


@pytest.mark.parametrize("most", [1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 9.0, 30.0])
def test_labels_of_ticks_do_not_run_into_each_other(most: float) -> None:
    data = accuracy_data(
        together([evaluation("there", [held_out("app", most, most, Forecast(most, 0.9, most, 0.9, most))])])
    )
    figure = accuracy_figure(data)
    figure.draw_without_rendering()
    least, greatest = figure.axes[0].get_xlim()
    ticks = [tick for tick in figure.axes[0].xaxis.get_major_ticks() if least <= tick.get_loc() <= greatest]
    boxes = [tick.label1.get_window_extent() for tick in ticks]
    assert len(boxes) >= 3
    assert all(first.x1 + 3 < second.x0 for first, second in itertools.pairwise(boxes))


def test_only_runs_outside_their_interval_have_a_row_the_farthest_first() -> None:
    data = made_up("there")
    axes = accuracy_figure(data).axes[0]
    (intervals,) = [each for each in axes.collections if isinstance(each, LineCollection)]
    assert [np.asarray(each).ravel().tolist() for each in intervals.get_segments()] == [
        [point.low, row, point.high, row] for row, point in enumerate(data.misses)
    ]
    (dots,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert np.asarray(dots.get_xydata()).tolist() == [[p.measured, row] for row, p in enumerate(data.misses)]
    (medians,) = [line for line in axes.lines if line.get_marker() == "|"]
    assert np.asarray(medians.get_xydata()).tolist() == [[p.expected, row] for row, p in enumerate(data.misses)]
    assert [label.get_text() for label in axes.get_yticklabels()] == [point.program for point in data.misses]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert axes.get_title() == "4 of 7 runs came within their 90% interval; the other 3"
    crowd = msgspec.structs.replace(data, points=data.points * 9, within=36)
    assert accuracy_figure(crowd).axes[0].get_title().endswith("; the 16 farthest of the other 27")


def test_regrets_are_drawn_as_the_share_of_programs_with_no_more() -> None:
    data = made_up("there")
    axes = accuracy_figure(data).axes[1]
    lines = {str(line.get_label()).split(":")[0]: line for line in axes.lines}
    assert len(lines) == len(data.curves)
    for curve in data.curves:
        line = lines[curve.name]
        assert np.asarray(line.get_xdata()).tolist() == [-math.inf, *curve.regrets]
        assert np.asarray(line.get_ydata()).tolist() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
        assert line.get_drawstyle() == "steps-post"
    assert str(lines[Strategy.OURS].get_label()).endswith("95th percentile 242%")
    assert lines[Strategy.OURS].get_linewidth() > lines["the default"].get_linewidth()


def test_the_source_is_below() -> None:
    assert made_up("there").source == f"Source: there, modelled. Speedups are over {DEFAULT}."
    data = accuracy_data(together([evaluation("planted-4x8", PROGRAMS)]), [planted_dataset(2)])
    assert "made on 2025-01-01 by tests/planted.py" in data.source
    assert data.source in [text.get_text() for text in accuracy_figure(data).texts]
