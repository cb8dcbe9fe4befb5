from pathlib import Path

import msgspec
import numpy as np
import pytest
from matplotlib.colors import to_rgba

from numapredict.native.errors import UsageError
from numapredict.predictor.evaluation.evaluate import Evaluations, evaluate_held_out, together
from numapredict.predictor.evaluation.strategy import Strategy
from numapredict.predictor.learning.learning import options_of
from numapredict.reports.figure_file import write_figure
from numapredict.reports.related_work import (
    LEARNERS,
    NEVER_WRONG,
    OTHERS,
    OURS,
    SAME,
    RelatedBar,
    RelatedData,
    related_choices,
    related_data,
    related_in_words,
)
from numapredict.reports.related_work_figure import COLOURS, related_figure
from tests.evaluations import evaluation, held_out
from tests.planted import four_by_eight, planted_dataset
from tests.shapes import shape
from tests.unit.reports.legible import assert_legible

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture(scope="module")
def learned() -> Evaluations:
    dataset = planted_dataset(15, jitter=0.3)
    return together([evaluate_held_out(dataset, options_of(None, None, dataset))])


def made_up(*machines: str) -> RelatedData:
    """Two programs whose speedups are 2 and 8 with us, 1 and 4 by a fixed choice; 4 and 16 are the best."""
    evaluations = []
    for machine in machines:
        programs = [
            held_out("one", 2.0, 4.0, baselines={"default": 1.0, "fixed": 1.0, "oracle": 4.0, "tarot": 0.5}),
            held_out("two", 8.0, 16.0, baselines={"default": 1.0, "fixed": 4.0, "oracle": 16.0, "tarot": 2.0}),
        ]
        evaluations.append(evaluation(machine, programs, modelled=machine != "real"))
    return related_data(together(evaluations), [four_by_eight()] * len(machines))


def test_table_1_is_the_thesis_s_on_its_machine() -> None:
    found = {each.work: each for each in related_choices(four_by_eight())}
    assert [*found] == [
        "Diener et al., 2015",
        "Dashti et al., 2013",
        "Denoyelle et al., 2019",
        "Wang et al., 2016",
        "the thesis's mappings",
        "all mappings (oracle)",
    ]
    both = ("contiguous", "scatter")
    table = {
        "Diener et al., 2015": ((32,), (4,), ("scatter",), ("locality",)),
        "Dashti et al., 2013": ((32,), (4,), ("scatter",), ("locality", "interleave")),
        "Denoyelle et al., 2019": ((32,), (4,), both, ("first-touch", "balance")),
        "Wang et al., 2016": ((8, 16, 32), (1, 2, 4), both, ("first-touch", "interleave")),
        "the thesis's mappings": ((8, 16, 32), (1, 2, 4), both, ("locality", "balance")),
    }
    for work, expected in table.items():
        row = found[work]
        assert (row.threads, row.thread_nodes, row.thread_policies, row.page_policies) == expected, work
    assert [row.mappings for row in found.values()][:3] == [1, 2, 4]


def test_the_bars_are_the_evaluation_s_scores_in_groups() -> None:
    (panel,) = made_up("planted-4x8").panels
    bars = {bar.name: bar for bar in panel.bars}
    assert [(bar.group, bar.name) for bar in panel.bars] == [
        (NEVER_WRONG, "all mappings (oracle)"),
        (OURS, "the best of 4 runs"),
        (SAME, "default"),
        (SAME, "the best one for the other programs"),
        (OTHERS, "tarot"),
    ]
    assert [bar.speedup for bar in panel.bars] == pytest.approx([8.0, 4.0, 1.0, 2.0, 1.0])
    # log 4 / log 8, log 2 / log 8
    assert bars["the best of 4 runs"].gain_captured == pytest.approx(2 / 3)
    assert bars["the best one for the other programs"].gain_captured == pytest.approx(1 / 3)
    ours = bars["the best of 4 runs"]
    assert ours.low is not None
    assert ours.high is not None
    assert 2.0 <= ours.low <= 4.0 <= ours.high <= 8.0
    assert (panel.programs, panel.default, panel.modelled) == (2, "32x4-contiguous-first-touch", True)


def test_everything_that_an_evaluation_finds_has_a_reader_s_name(learned: Evaluations) -> None:
    data = related_data(learned, [four_by_eight()])
    assert {bar.group for bar in data.panels[0].bars} >= {NEVER_WRONG, OURS, SAME}
    assert not [bar.name for bar in data.panels[0].bars if bar.group == OTHERS]
    assert len(data.panels[0].bars) == 1 + len(learned.datasets[0].baselines)


def test_the_text_has_the_table_and_the_bars() -> None:
    text = related_in_words(made_up("planted-4x8", "real"))
    assert "planted-4x8 (modelled), 2 programs, speedups over 32x4-contiguous-first-touch" in text
    assert "real (measured)" in text
    assert "Wang et al., 2016       8, 16, 32           1, 2, 4  contiguous, scatter  first-touch, interleave" in text
    line = next(line for line in text.splitlines() if line.startswith("  the best of 4 runs "))
    assert "4.00x" in line
    assert line.endswith("0.67")


@pytest.mark.parametrize("machines", [("planted-4x8",), ("planted-4x8", "real", "a third one")])
def test_the_figure_names_what_it_shows(tmp_path: Path, machines: tuple[str, ...]) -> None:
    data = made_up(*machines)
    assert_legible(related_figure(data))
    write_figure(related_figure(data), tmp_path / "figure.png")
    write_figure(related_figure(data), tmp_path / "figure.svg")
    text = (tmp_path / "figure.svg").read_text()
    assert "planted-4x8 (modelled)" in text
    assert ("real (measured)" in text) == ("real" in machines)
    for words in ("4.00x", "0.67", "gain captured", "95% interval", "tarot", NEVER_WRONG, "all page policies"):
        assert words in text


def test_all_ways_of_choosing_fit(learned: Evaluations) -> None:
    assert_legible(related_figure(related_data(learned, [four_by_eight()])))


def test_other_people_s_mappings_have_no_table_1(tmp_path: Path) -> None:
    data = related_data(together([evaluation("foreign", [held_out("one", 2.0, 4.0)])]), [None])
    assert data.panels[0].table == ()
    assert "Diener" not in related_in_words(data)
    write_figure(related_figure(data), tmp_path / "figure.png")
    with pytest.raises(UsageError, match=r"figures are written as \.png or \.svg"):
        write_figure(related_figure(data), tmp_path / "figure.gif")


def test_a_machine_with_one_node_has_a_table_too() -> None:
    assert [row.thread_nodes for row in related_choices(shape([4]))] == [(1,)] * 6


def test_bars_intervals_and_figures_stand_in_their_rows() -> None:
    data = made_up("planted-4x8", "real")
    figure = related_figure(data)
    assert len(figure.axes) == 2
    rows = {text.get_text(): text.get_position()[1] for text in figure.axes[0].texts if text.get_position()[0] < -1}
    for axes, panel in zip(figure.axes, data.panels, strict=True):
        bars = {round(patch.get_y() + patch.get_height() / 2): patch for patch in axes.patches}  # type: ignore[attr-defined]
        spans = {
            round(float(np.asarray(line.get_ydata())[0])): line for line in axes.lines if line.get_linestyle() == "-"
        }
        said = {(text.get_text(), text.get_position()[1]) for text in axes.texts}
        assert len(bars) == len(panel.bars)
        for bar in panel.bars:
            at = round(rows[bar.name])
            assert (bars[at].get_x(), bars[at].get_width()) == (0, pytest.approx(bar.speedup))  # type: ignore[attr-defined]
            assert bars[at].get_facecolor() == to_rgba(COLOURS[bar.group])
            assert np.asarray(spans[at].get_xdata()).tolist() == [bar.low, bar.high]
            assert (f"{bar.speedup:.2f}x", at) in said
            assert bar.gain_captured is None or (f"{bar.gain_captured:.2f}", at) in said
            assert rows[bar.group] < at
        assert axes.get_ylim()[0] > axes.get_ylim()[1], "the first row is at the top"
        assert axes.get_xlabel() == f"speedup over {panel.default}"
    assert data.source in "".join(text.get_text() for text in figure.texts).replace("\n", " ")


def test_the_figure_says_how_far_a_random_forest_on_the_same_probes_comes() -> None:
    programs = [
        held_out(
            name,
            best / 2,
            best,
            baselines={"default": 1.0, Strategy.QUICK: best / 2, Strategy.FOREST: best / 2.5, "oracle": best},
        )
        for name, best in (("one", 4.0), ("two", 16.0))
    ]
    data = related_data(together([evaluation("there", programs)]), [four_by_eight()])
    assert data.forest.startswith("A random forest on the same probes, and ours: 3.20x and 4.00x on there")
    assert data.forest in " ".join(" ".join(assert_legible(related_figure(data), apart=False)).split())
    assert not made_up("there").forest  # it was not evaluated


@pytest.mark.parametrize(("high", "told"), [(1.9, "0 of 1"), (2.1, "1 of 1")])
def test_intervals_that_overlap_are_counted(high: float, told: str) -> None:
    def bar(name: str, group: str, speedup: float, ends: tuple[float, float]) -> RelatedBar:
        low, high = ends
        return RelatedBar(name=name, group=group, speedup=speedup, low=low, high=high, gain_captured=None)

    bars = (bar("the best of 2 runs", OURS, 2.5, (2.0, 3.0)), bar("random forest", LEARNERS, 1.5, (1.0, high)))
    (panel,) = made_up("there").panels
    data = RelatedData((msgspec.structs.replace(panel, bars=bars),), "source")
    assert data.forest.endswith(f"their intervals overlap on {told}.")
