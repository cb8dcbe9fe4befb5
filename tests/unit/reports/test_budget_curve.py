from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.native.errors import UsageError
from numapredict.predictor.evaluation.budget_curve import BudgetCurve, CurvePoint, budget_curve
from numapredict.predictor.learning.learning import options_of
from numapredict.reports.budget_curve import (
    ENOUGH,
    FLOOR,
    budget_curves_data,
    budget_figure,
    curves_in_words,
)
from numapredict.reports.figure_file import write_figure
from tests.planted import planted_dataset
from tests.unit.reports.legible import assert_legible


@pytest.fixture(scope="module")
def curve() -> BudgetCurve:
    return budget_curve(planted_dataset(15, jitter=0.2), options_of(None, None), shares=(0.01, 0.3, 1.0), draws=2)


def test_a_share_too_small_to_learn_from_is_left_out(curve: BudgetCurve) -> None:
    assert [point.share for point in curve.points] == [0.3, 1.0]


def test_all_runs_give_what_all_runs_give(curve: BudgetCurve) -> None:
    last = curve.points[-1]
    assert last.mappings == curve.mappings
    assert last.low == last.high == last.by_chance == pytest.approx(curve.full)


def test_a_part_of_the_runs_gives_most_of_the_gain(curve: BudgetCurve) -> None:
    part = curve.points[0]
    assert 3 <= part.mappings < curve.mappings
    assert part.low <= part.gain_captured <= part.high
    assert part.gain_captured > 0.8 * curve.full > 0


def test_a_share_that_some_fold_cannot_afford_is_left_out() -> None:
    dataset = planted_dataset(10)
    groups = ["all", "all", "all", "all", *"efghij"]
    programs = tuple(msgspec.structs.replace(p, group=g) for p, g in zip(dataset.programs, groups, strict=True))
    uneven = msgspec.structs.replace(dataset, programs=programs)
    curve = budget_curve(uneven, options_of(None, None), shares=(0.3, 0.4, 0.6), draws=1)
    assert 0.6 in [point.share for point in curve.points]


def test_the_table_and_the_figure_say_what_they_show(curve: BudgetCurve, tmp_path: Path) -> None:
    text = curves_in_words([curve])
    assert f"of all runs: {curve.full:.2f} of the gain" in text
    assert f"{curve.points[0].gain_captured:6.2f} (" in text
    write_figure(budget_figure(budget_curves_data([curve, curve])), tmp_path / "figure.svg")
    drawn = (tmp_path / "figure.svg").read_text()
    assert "planted-4x8 (modelled)" in drawn
    assert "30%" in drawn
    with pytest.raises(UsageError, match=r"figures are written as \.png or \.svg"):
        write_figure(budget_figure(budget_curves_data([curve])), tmp_path / "figure.gif")


def point(share: float, captured: float, low: float, high: float, by_chance: float) -> CurvePoint:
    return CurvePoint(
        share=share, pilots=1, mappings=9, gain_captured=captured, low=low, high=high, by_chance=by_chance
    )


def test_what_is_drawn_is_the_part_of_what_all_runs_give() -> None:
    points = (point(0.1, 0.4, 0.2, 0.6, 0.1), point(0.5, 0.8, 0.7, 0.8, 0.3))
    made_up = BudgetCurve(machine="here", modelled=False, programs=5, mappings=20, full=0.8, points=points)
    nothing = BudgetCurve(machine="flat", modelled=True, programs=5, mappings=20, full=0.0, points=points)
    data = budget_curves_data([made_up, nothing])
    (line,) = data.lines
    assert (line.machine, line.shares) == ("here", (0.1, 0.5))
    assert line.captured == pytest.approx((0.5, 1.0))
    assert (line.low, line.high) == (pytest.approx((0.25, 0.875)), pytest.approx((0.75, 1.0)))
    assert line.by_chance == pytest.approx((0.125, 0.375))
    assert data.omitted == ("flat",)
    assert (
        data.title == "5 programs under 20 mappings on here (measured), 5 programs under 20 mappings on flat (modelled)"
    )
    assert data.source == "Source: here, measured; flat, modelled."
    figure = budget_figure(data)
    assert_legible(figure)
    (axes,) = figure.axes
    captured, chance, enough, _ = axes.lines
    assert np.asarray(captured.get_xydata()) == pytest.approx(np.array([[0.1, 0.5], [0.5, 1.0]]))
    assert np.asarray(chance.get_xydata()) == pytest.approx(np.array([[0.1, 0.125], [0.5, 0.375]]))
    assert (captured.get_linestyle(), chance.get_linestyle()) == ("-", ":")
    assert np.asarray(enough.get_ydata()).tolist() == [ENOUGH, ENOUGH]
    (spread,) = axes.collections
    corners = {tuple(np.round(corner, 9)) for corner in spread.get_paths()[0].vertices}
    assert {(0.1, 0.25), (0.1, 0.75), (0.5, 0.875), (0.5, 1.0)} <= corners
    assert axes.get_legend_handles_labels()[1] == ["here (measured)", "flat: nothing to gain"]
    assert axes.get_ylim()[0] == 0.2, "no draw of the pilots is below the scale"
    near = msgspec.structs.replace(made_up, points=(point(0.1, 0.7, 0.68, 0.72, 0.1),))
    (axes,) = budget_figure(budget_curves_data([near])).axes
    assert axes.get_ylim()[0] == FLOOR
    legend = axes.get_legend()
    assert legend is not None
    assert "from below the scale" in legend.get_title().get_text()
