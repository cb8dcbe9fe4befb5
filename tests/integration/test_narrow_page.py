"""Pages on a narrow screen, in a real Chromium: what is cut off says so, and names stand whole."""

from pathlib import Path

import msgspec
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.predictor.learning.datasets import open_dataset
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from numapredict.predictor.variables.variable import Variables
from numapredict.reports.parts.contents import page_data
from numapredict.reports.parts.page import write_page
from numapredict.reports.parts.subject import Subject
from tests.advised import advised_on
from tests.chromium import Chromium, is_installed
from tests.judged import judged_answer
from tests.page_reader import by_label
from tests.planted_page import browser, data, dataset

__all__ = ["browser", "data", "dataset"]  # fixtures

pytestmark = pytest.mark.skipif(not is_installed(), reason="no chromium with its chromedriver here")


def long_lines() -> Variables:
    answer = judged_answer()
    wrong, *others = answer.variables
    assert wrong.source is not None
    longer = msgspec.structs.replace(wrong.source, lines=tuple(line + " // and on" * 9 for line in wrong.source.lines))
    return msgspec.structs.replace(answer, variables=(msgspec.structs.replace(wrong, source=longer), *others))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, dataset: Dataset) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    model = train(dataset, TrainingOptions())
    advice = advised_on(dataset, dataset.programs[1], model)
    clusters = train(dataset, TrainingOptions(n_clusters=5))
    for name, subject in {
        "both": Subject(name="planted", dataset=dataset, model=clusters),
        "shipped": Subject(name="sandybridge-4x8", dataset=open_dataset("sandybridge-4x8")),
        "choices": Subject(name=advice.program, advice=advice),
        "variables": Subject(name="app", variables=long_lines()),
    }.items():
        write_page(page_data(subject), folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in ("both", "shipped", "choices", "variables")}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_what_is_wider_than_the_page_says_so(
    browser: Chromium, pages: dict[str, Path], width: int, scheme: str
) -> None:
    browser.resize(width, 900)
    browser.open(pages["both"], prefers_color_scheme=scheme)
    browser.script("for (const part of document.querySelectorAll('details')) part.open = true")
    browser.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    parts = browser.script(
        "return Array.from(document.querySelectorAll('.scroll'), (e) => [e.scrollWidth > e.clientWidth + 1,"
        " getComputedStyle(e.id === 'heatmap-scroll' ? e.parentElement : e, '::before').content"
        ".includes('scroll sideways')])"
    )
    assert all(wider == says for wider, says in parts)
    assert any(wider for wider, _ in parts) or width == 1280
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    parts = "document.querySelectorAll('.scroll, #heatmap-figure')"
    hints = f"Array.from({parts}, (e) => getComputedStyle(e, '::before').content)"
    assert set(browser.script(f"return {hints}")) == {"none"}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.resize(1280, 900)


def test_a_shipped_heatmap_and_lines_of_source_say_that_they_are_cut_off(
    browser: Chromium, pages: dict[str, Path]
) -> None:
    browser.resize(390, 900)
    for name, wide in (("shipped", "#heatmap-figure:has(> .wide)"), ("variables", "pre.source.wide")):
        browser.open(pages[name])
        if name == "shipped":
            by_label(browser)
        browser.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        said = browser.script(f"return getComputedStyle(document.querySelector('{wide}'), '::before').content")
        assert "scroll sideways" in said
    browser.resize(1280, 900)


def test_names_in_a_narrow_table_break_between_their_parts(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.resize(390, 900)
    browser.open(pages["shipped"])
    lines = browser.script(
        "return Array.from(document.querySelectorAll('#program-table tbody th .link'), (e) =>"
        " [e.textContent, e.getClientRects().length, e.getBoundingClientRect().height])"
    )
    assert len(lines) == 128
    line = min(height for _, _, height in lines)
    for name, _, height in lines:
        assert round(height / line) <= name.count("-") + 1, name
    browser.resize(1280, 900)


def test_on_a_narrow_page_each_bar_has_its_name_above_it_on_one_line(browser: Chromium, pages: dict[str, Path]) -> None:
    for width, below in ((390, True), (1280, False)):
        browser.resize(width, 900)
        browser.open(pages["choices"])
        places = browser.script(
            "return Array.from(document.querySelectorAll('.choices tr'), (row) => [row.querySelector('th')"
            ".getBoundingClientRect().bottom <= row.querySelector('.choice').getBoundingClientRect().top + 1,"
            " row.querySelector('th .summary').getClientRects()[0].height])"
        )
        assert places
        assert {under for under, _ in places} == {below}
        assert all(height < 24 for _, height in places)
    browser.resize(1280, 900)


def test_names_beside_a_narrow_heatmap_are_cut_at_their_ends(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.resize(390, 900)
    browser.open(pages["shipped"])
    named = browser.script(
        "return Array.from(document.querySelectorAll('.heatmap text.name'), (e) =>"
        " [e.firstChild.textContent, e.querySelector('title').textContent])"
    )
    assert any(shown.endswith("\u2026") for shown, _ in named)
    for shown, whole in named:
        name = whole.replace(".medium.", ".")  # which all have
        assert shown == name or (shown[-1] == "\u2026" and name.startswith(shown[:-1])), name
    browser.resize(1280, 900)
