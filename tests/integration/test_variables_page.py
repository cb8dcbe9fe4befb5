"""The page of an answer on variables: three views, texts that stay texts, and a browser that sorts."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from numapredict.collect.source.excerpt import Excerpt
from numapredict.predictor.variables.variable import Variables
from numapredict.reports.cli import report
from numapredict.reports.parts.contents import page_data
from numapredict.reports.parts.page import render, write_page
from numapredict.reports.parts.subject import Subject
from tests.chromium import Chromium, is_installed
from tests.html_document import Document
from tests.judged import judged_answer, place
from tests.planted_page import browser

__all__ = ["browser"]  # a fixture

ANSWER = judged_answer()


def page_of(answer: Variables) -> str:
    return render(page_data(Subject(name="app", variables=answer)))


def test_the_page_has_three_views_and_says_what_is_modelled() -> None:
    document = Document(page_of(ANSWER))
    sections = [attrs["id"] for tag, attrs in document.tags if tag == "section"]
    assert sections == ["misplaced", "addresses", "lines", "variables", "about"]
    head, wrong, right = document.table("Variables by their share")
    assert head[0] == "variablevariable"  # on screen a button, on paper a text
    assert wrong[:6] == ["wrong", "4\u00a0MiB", "50%", "75%", "50%", "25%"]
    assert right[-2:] == ["main (parallel region), app.c:11", "main, app.c:3"]
    body = " ".join(document.texts["body"][0].split())
    for said in (
        "node 0 serves 75%",
        "wrong[i] = 1 < 2;",
        "Be careful.",
        "is modelled",
        "in 1.50 s of parallel regions",
    ):
        assert said in body, said
    assert "No clock measured" not in body
    captions = document.texts["caption"] + document.texts["figcaption"]
    assert len(captions) == 6  # regions, variables, two heat maps, traffic before and after
    assert all(text.rstrip().endswith("(sampled; nodes modelled)") for text in captions)


def test_without_nodes_no_node_is_named() -> None:
    variables = tuple(msgspec.structs.replace(one, requests=None, remote_share=None) for one in ANSWER.variables)
    alone = msgspec.structs.replace(
        ANSWER, nodes=None, requests=None, machine=None, mapping=None, modelled=False, variables=variables
    )
    document = Document(page_of(alone))
    assert not [attrs for _, attrs in document.tags if attrs.get("class") in ("node-key", "homes", "facts served")]
    assert "other nodes" not in document.texts["body"][0]
    nothing = msgspec.structs.replace(alone, variables=variables[1:])
    assert "Nothing is worth fixing" in page_of(nothing)


def test_texts_of_an_answer_are_text_wherever_they_stand() -> None:
    evil = "<b>&amp;</b><script>"
    wrong = msgspec.structs.replace(
        ANSWER.variables[0],
        name=evil,
        first_touch=place(8, evil),
        allocated=place(8, evil),
        source=Excerpt(7, (evil, evil)),
        remedy=msgspec.structs.replace(ANSWER.variables[0].remedy, text=evil),
    )
    changed = msgspec.structs.replace(ANSWER, command=(evil,), machine=evil, notes=(evil,), variables=(wrong,))
    document = Document(page_of(changed))
    assert not [tag for tag, _ in document.tags if tag == "b"]
    assert len(document.texts["script"]) == 2


def test_the_report_reads_what_variables_printed(tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_bytes(msgspec.json.encode(ANSWER))
    done = CliRunner().invoke(report, [str(tmp_path / "answer.json"), "-o", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "page.html").read_text() == render(page_data(Subject(name="./app", variables=ANSWER)))


@pytest.mark.skipif(not is_installed(), reason="no chromium with its chromedriver here")
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_it_whole_and_sorts(browser: Chromium, tmp_path: Path, scheme: str, width: int) -> None:
    write_page(page_data(Subject(name="app", variables=ANSWER)), tmp_path / "page.html")
    browser.resize(width, 900)
    browser.open(tmp_path / "page.html", prefers_color_scheme=scheme)
    assert browser.messages() == []
    assert len(browser.requests()) == 1
    assert browser.script("return document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.script("return document.querySelector('.map svg').getBoundingClientRect().width > 250")
    names = (
        "return Array.from(document.querySelectorAll('#variable-table tbody th'), (cell) => cell.textContent.trim())"
    )
    assert browser.script(names) == ["wrong", "right"]
    browser.script("document.querySelector('#variable-table thead button').click()")
    assert browser.script(names) == ["right", "wrong"]
