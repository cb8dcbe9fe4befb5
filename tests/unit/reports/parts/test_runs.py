import msgspec
import pytest

from numapredict.collect.placing.start import AS_IT_IS
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.search_run import SearchRun
from numapredict.reports.parts.runs import RunMark, runs_data
from tests.searches import LOCAL, Noisy, answered, times


@pytest.fixture(scope="module")
def found() -> Advice:
    """Return a search of a whole run, a better one, one that was ended, one that failed."""
    return answered(Noisy(times(8.0, one=-1.0), {LOCAL: [3.0, 4.0]}), runs=4)


def test_rows_have_the_runs_in_their_order_and_the_best_so_far(found: Advice) -> None:
    kept = msgspec.structs.replace(found, kept_runs=2, kept_since="2026-01-02T03:04:05+00:00")
    data = runs_data(kept)
    assert [row.outcome for row in data.rows] == ["done", "done", "ended", "failed"]
    assert [row.mapping for row in data.rows[:2]] == ["as it is now", LOCAL.label]
    assert [row.time for row in data.rows] == ["8.00\u00a0s", "3.00\u00a0s", "ended after 3.10\u00a0s", "failed"]
    assert [row.message for row in data.rows] == ["", "", "slower than the best", "it crashed"]
    assert [row.best for row in data.rows] == pytest.approx([1.0, 8 / 3, 8 / 3, 8 / 3])
    assert [row.advised for row in data.rows] == [False, True, False, False]
    assert [row.kept for row in data.rows] == [True, True, False, False]
    assert data.kept == "the first 2 runs, made from 2026-01-02 03:04 UTC on; --fresh makes all runs anew"
    assert (data.chosen_by, data.regions) == (f"what {found.knows} gained", False)
    assert data.baseline == "the program as it is now"
    assert (data.ended, data.failed) == (True, True)


def test_the_figure_has_a_mark_a_run_and_the_line_of_the_best(found: Advice) -> None:
    figure = runs_data(found).figure
    first, second, ended, failed = figure.marks
    assert [mark.kind for mark in figure.marks] == ["done", "done", "ended", "failed"]
    values = {text: y for y, text in figure.ticks}
    assert list(values) == ["0x", "1x", "2x", "3x"]
    assert first.y == figure.baseline_y == values["1x"]
    assert second.y == pytest.approx(values["0x"] - 8 / 3 * (values["0x"] - values["1x"]), abs=0.2)
    assert ended.y == second.y, "what is known is that it was slower than the best"
    assert failed.y == figure.bottom == values["0x"]
    steps = [mark.x - other.x for mark, other in zip(figure.marks[1:], figure.marks, strict=False)]
    assert steps == [steps[0]] * 3
    assert figure.left < first.x < failed.x < figure.width
    assert figure.numbers == tuple((mark.x, f"{number}") for number, mark in enumerate(figure.marks, 1))
    assert f"H{second.x:g}V{second.y:g}H{ended.x:g}V{second.y:g}" in figure.best
    assert second.text == f"run 2: {LOCAL}, 3.00\u00a0s, 2.67x"
    assert [mark.label for mark in figure.marks] == ["1.00x", "2.67x", "", ""]


@pytest.mark.parametrize("speedup", [1.0, 1.02, 6.5, 1e6, 1e300])
def test_the_figure_holds_every_speedup_between_few_round_ticks(found: Advice, speedup: float) -> None:
    better = SearchRun(mapping=LOCAL, outcome="done", time_s=8.0 / speedup, speedup=speedup)
    figure = runs_data(msgspec.structs.replace(found, runs=(found.runs[0], better))).figure
    heights = [y for y, _ in figure.ticks]
    assert 3 <= len(heights) <= 6
    assert heights == sorted(heights, reverse=True)
    assert all(min(heights) <= mark.y <= max(heights) for mark in figure.marks)


def test_many_runs_stay_within_a_page_and_only_some_have_a_number(found: Advice) -> None:
    run = SearchRun(mapping=LOCAL, outcome="done", time_s=4.0, speedup=2.0)

    def marks(number: int) -> tuple[RunMark, ...]:
        figure = runs_data(msgspec.structs.replace(found, runs=(found.runs[0], *[run] * (number - 1)))).figure
        assert figure.width <= 1660
        assert all(b - a >= 20 for (a, _), (b, _) in zip(figure.numbers, figure.numbers[1:], strict=False))
        return figure.marks

    assert all(mark.label for mark in marks(16))
    assert len(marks(500)) == 500
    assert not any(mark.label for mark in marks(500))


def test_what_was_computed_takes_no_number(found: Advice) -> None:
    computed = SearchRun(mapping=LOCAL, outcome="done", time_s=4.0, speedup=2.0, computed=True)
    data = runs_data(msgspec.structs.replace(found, runs=(found.runs[0], computed, *found.runs[2:])))
    assert [row.title for row in data.rows] == ["1", "computed", "2", "3"]
    assert data.figure.marks[1].text.startswith(f"computed: {LOCAL}, ")
    assert [text for _, text in data.figure.numbers] == ["1", "", "2", "3"]


def test_one_run_is_a_figure_too(found: Advice) -> None:
    data = runs_data(msgspec.structs.replace(found, runs=found.runs[:1], mapping=AS_IT_IS))
    assert (len(data.figure.marks), data.rows[0].advised) == (1, True)
