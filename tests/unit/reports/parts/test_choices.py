"""Bars of what each choice is expected to give: on one scale, with intervals, the answer's marked."""

import msgspec
import pytest

from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.explanation import Choice
from numapredict.reports.parts.choices import choices_data
from numapredict.reports.parts.contents import page_data
from numapredict.reports.parts.page import render
from numapredict.reports.parts.subject import Subject
from tests.advised import advised_on
from tests.html_document import Document
from tests.planted import planted_dataset


@pytest.fixture(scope="module")
def advice() -> Advice:
    dataset = planted_dataset(15)
    stream = next(program for program in dataset.programs if program.name.startswith("stream"))
    return advised_on(dataset, stream, traced=False)


def with_choices(advice: Advice, *choices: Choice) -> Advice:
    return msgspec.structs.replace(advice, explanation=msgspec.structs.replace(advice.explanation, choices=choices))


def test_all_bars_are_on_one_scale_that_ends_at_the_greatest(advice: Advice) -> None:
    data = choices_data(advice)
    assert data is not None
    bars = [bar for row in data.rows for bar in row.bars]
    assert max(bar.high_at for bar in bars) == pytest.approx(100, abs=0.01)
    for bar in bars:
        assert bar.at == pytest.approx(bar.speedup * data.even_at, rel=0.01)
        assert 0 <= bar.low_at <= bar.at <= bar.high_at
    assert {bar.mapping for bar in bars if bar.advised} == {advice.mapping.label}


def test_without_a_gain_the_scale_ends_at_the_default(advice: Advice) -> None:
    slow = [msgspec.structs.replace(choice, speedup=0.2, low=0.1, high=0.3) for choice in advice.explanation.choices]
    data = choices_data(with_choices(advice, *slow))
    assert data is not None
    assert data.even_at == 100
    assert data.rows[0].bars[0].at == pytest.approx(20)


def test_an_answer_without_choices_has_no_such_section(advice: Advice) -> None:
    bare = with_choices(advice)
    assert choices_data(bare) is None
    title = "What each choice gives"
    assert title in render(page_data(Subject(name="p", advice=advice)))
    assert title not in render(page_data(Subject(name="p", advice=bare)))


def test_the_page_has_a_row_for_each_policy_and_number_of_threads(advice: Advice) -> None:
    document = Document(render(page_data(Subject(name="p", advice=advice))))
    for part, caption in (("pages", "Page policies"), ("threads", "Numbers of threads")):
        wanted = [choice for choice in advice.explanation.choices if choice.part == part]
        rows = document.table(caption)
        assert len(rows) == len(wanted) > 1
        for choice, row in zip(wanted, rows, strict=True):
            assert choice.words in row[0]
            assert f"{choice.speedup:.2f}x" in row[-1]
            assert ("expected, " in row[-1]) == (not choice.ran)
