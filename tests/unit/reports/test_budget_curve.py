from pathlib import Path

import msgspec
import pytest

from numapredict.predictor.budget_curve import BudgetCurve, budget_curve
from numapredict.predictor.learning import options_of
from numapredict.reports.budget_curve import budget_curves_data, curves_in_words, draw_budget_curves
from numapredict.reports.figure_file import UnwritableFigureError
from tests.planted import planted_dataset


@pytest.fixture(scope="module")
def curve() -> BudgetCurve:
    return budget_curve(planted_dataset(20, jitter=0.2), options_of(None, None), shares=(0.01, 0.3, 1.0), draws=2)


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
    draw_budget_curves(budget_curves_data([curve, curve]), tmp_path / "figure.svg")
    drawn = (tmp_path / "figure.svg").read_text()
    assert "planted-4x8 (modelled)" in drawn
    assert "30%" in drawn
    with pytest.raises(UnwritableFigureError):
        draw_budget_curves(budget_curves_data([curve]), tmp_path / "figure.gif")
