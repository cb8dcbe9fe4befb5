"""The page of an answer in a real Chromium: what stands beside what."""

from pathlib import Path

import pytest

from numapredict.reports.parts.contents import page_data
from numapredict.reports.parts.page import write_page
from numapredict.reports.parts.subject import Subject
from tests.chromium import Chromium, is_installed
from tests.planted_page import browser
from tests.searches import DEFAULT, Described, answered, times

__all__ = ["browser"]  # a fixture

pytestmark = pytest.mark.skipif(not is_installed(), reason="no chromium with its chromedriver here")


def test_the_nodes_stand_beside_the_number_and_the_line_at_1x_has_its_name(browser: Chromium, tmp_path: Path) -> None:
    found = answered(Described(times(8.0, local=4.0)), baseline=DEFAULT)
    write_page(page_data(Subject(name="app", advice=found)), tmp_path / "answer.html")
    for width, beside in ((1280, True), (390, False)):
        browser.resize(width, 900)
        browser.open(tmp_path / "answer.html")
        number, nodes, command = (
            browser.script("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", each)
            for each in (".gain", "#placed .nodes", "#command")
        )
        assert (nodes["left"] > number["right"] and nodes["top"] < number["bottom"] + 60) == beside
        assert beside or nodes["top"] > command["bottom"]
        assert nodes["right"] <= width
        places = browser.script(
            """return Array.from(document.querySelectorAll('.choices'), (table) =>
            [table.querySelector('.axis text'), table.querySelector('.choice .even')].map((each) => {
              const box = each.getBoundingClientRect(); return (box.left + box.right) / 2; }))"""
        )
        assert places
        assert all(text == pytest.approx(line, abs=2) for text, line in places)
    browser.resize(1280, 900)
