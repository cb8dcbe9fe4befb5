"""The page of an answer on regions: the figure, tables that sort, and texts that stay texts."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from numapredict.predictor.regions.planned_application import (
    PlannedApplication,
    PlannedArray,
    PlannedMove,
    PlannedPlace,
    PlannedTeam,
)
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.reports.cli import report
from numapredict.reports.parts.contents import page_data
from numapredict.reports.parts.page import render, write_page
from numapredict.reports.parts.subject import Subject
from tests.chromium import Chromium, is_installed
from tests.html_document import Document
from tests.planted_page import browser
from tests.replayed import HALF, SPREAD, base, gain, on_a_server, region

__all__ = ["browser"]  # a fixture

ANSWER = on_a_server()
replace = msgspec.structs.replace


def page_of(answer: ReplayedRegions) -> str:
    return render(page_data(Subject(name="app", replayed=answer)))


def body_of(answer: ReplayedRegions) -> str:
    return " ".join(Document(page_of(answer)).texts["body"][0].split())


def test_the_page_has_the_answer_the_figure_and_the_tables() -> None:
    document = Document(page_of(ANSWER))
    sections = [attrs["id"] for tag, attrs in document.tags if tag == "section"]
    assert sections == ["replayed", "gains", "about"]
    body = body_of(ANSWER)
    for said in (
        "1.27x for all parallel regions under one mapping",
        f"run --mapping {SPREAD} -- ./solver -n 400 mesh.dat",
        "all regions 1.52x as fast, at most",
        "A replay of assemble, solver.cc:95 takes another time",
        "c: the region sets its own number of threads",
        "91.00 s by the program itself",
    ):
        assert said in body, said
    head, first, *rows = document.table("Regions by their share")
    assert head[:4] == ["regionregion", "gaingain", "shareshare", "best mappingbest mapping"]
    assert first == ["sweep, solver.cc:812", "2.61x", "24%", SPREAD, "2.55x", "1.00", "81200", "32"]
    assert len(rows) == 11
    assert ["limit, solver.cc:590", "", "2%", "not replayed: an instance takes less than 5 us"] in [r[:4] for r in rows]
    assert len(document.table("Each region under each mapping")) == 1 + sum(
        len(one.gains) for one in ANSWER.regions if one.best is not None
    )
    cells = [attrs["class"] for tag, attrs in document.tags if tag == "rect" and "cell" in str(attrs.get("class"))]
    assert len(cells) == 9 * 9  # eight regions and the whole program
    captions = document.texts["caption"] + document.texts["figcaption"]
    assert len(captions) == 3
    assert all(text.rstrip().endswith("(measured)") for text in captions)


def test_a_gain_of_the_regions_alone_and_none_at_all_are_told_apart() -> None:
    alone = region("f", 1, 0.9, base(), gain(SPREAD, 2.0, 1.9, 3))
    assert "at most 2.00x for all parallel regions" in body_of(
        replace(ANSWER, regions=(alone,), region_time_s=alone.time_s, one_mapping=())
    )
    lost = region("f", 1, 0.9, base(), gain(SPREAD, 0.5, 0.5, 1))
    assert "Keep what you have" in body_of(replace(ANSWER, regions=(lost,), region_time_s=lost.time_s, one_mapping=()))
    regions = ANSWER.regions[8:]
    left = replace(ANSWER, regions=regions, region_time_s=sum(one.time_s for one in regions), one_mapping=())
    assert "Nothing was replayed" in body_of(left)
    assert 'class="gains"' not in page_of(left)
    assert "No OpenMP parallel region began." in body_of(replace(left, regions=()))


LOCAL = "32x4-contiguous-locality"
PLACES = (PlannedPlace(SPREAD, ("f, a.c:1", "h, a.c:3")), PlannedPlace(LOCAL, ("g, a.c:2",)))
PLAN = PlannedApplication(
    "my app.plan", SPREAD, 1.41, SPREAD, 1.27, 1.52, 0.02, (PlannedTeam("f, a.c:1", 4, HALF, 1.9),),
    (PlannedArray("domain." + "a_very_long_name_" * 3, LOCAL, 8),), ("two regions want it",), "it asks for threads",
    (PlannedMove("grid", 7, 3.0, PLACES),), 1.0, 9.0,
)  # fmt: skip


def test_a_plan_that_was_written_comes_with_its_command_and_all_that_it_changes() -> None:
    body = body_of(replace(ANSWER, plan=PLAN))
    for said in (
        "The plan: 1.41x for all regions",
        "the best one mapping gives 1.27x",
        "numapredict run --plan 'my app.plan' --verify -- ./solver -n 400 mesh.dat",
        f"f, a.c:1: 4 threads as under {HALF}, 1.90x",
        f": 8 pages as under {LOCAL}",
        "grid: its 7 pages move 3 times in the run",
        f"as under {SPREAD} for f, a.c:1 and h, a.c:3",
        f"as under {LOCAL} by the touches of g, a.c:2",
        "Moves of pages gain 9.00 s",
        "Two regions want it.",
        "Changes of teams between regions take 2% of their time, at most.",
        "No team is smaller than the others: it asks for threads.",
    ):
        assert said in body, said
    assert "Moves of pages" not in body_of(replace(ANSWER, plan=replace(PLAN, moves=())))
    assert "The plan" not in body_of(ANSWER)


def test_texts_of_an_answer_are_text_wherever_they_stand() -> None:
    evil = "<b>&amp;</b><script>\u202e"
    failed = replace(ANSWER.regions[0].gains[-1], problem=evil)
    first = replace(ANSWER.regions[0], place=None, name=evil, gains=(*ANSWER.regions[0].gains[:-1], failed))
    left = replace(ANSWER.regions[-1], place=None, name=evil, problem=evil)
    plan = PlannedApplication(evil, evil, 1.4, evil, 1.2, 1.5, 0.0, (), (), (evil,))
    page = page_of(replace(ANSWER, command=(evil,), machine=evil, notes=(evil,), regions=(first, left), plan=plan))
    document = Document(page)
    assert not [tag for tag, _ in document.tags if tag == "b"]
    assert len(document.texts["script"]) == 2
    assert "\u202e" not in page


def test_the_report_reads_what_regions_wrote(tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_bytes(msgspec.json.encode(ANSWER))
    done = CliRunner().invoke(report, [str(tmp_path / "answer.json"), "-o", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "page.html").read_text() == render(
        page_data(Subject(name="./solver -n 400 mesh.dat", replayed=ANSWER))
    )


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (WCAG 2.1)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.skipif(not is_installed(), reason="no chromium with its chromedriver here")
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_shows_it_whole_and_sorts(browser: Chromium, tmp_path: Path, scheme: str, width: int) -> None:
    write_page(page_data(Subject(name="app", replayed=replace(ANSWER, plan=PLAN))), tmp_path / "page.html")
    browser.resize(width, 900)
    browser.open(tmp_path / "page.html", prefers_color_scheme=scheme)
    assert browser.messages() == []
    assert len(browser.requests()) == 1
    assert browser.script("return document.documentElement.scrollWidth <= window.innerWidth")
    # Every number is legible on its cell, and inside it.
    cells = browser.script(
        "return Array.from(document.querySelectorAll('.gains g'), (g) => {"
        " const cell = g.querySelector('.cell'), box = cell.getBoundingClientRect();"
        " return [getComputedStyle(cell).fill, Array.from(g.querySelectorAll('text'), (t) => {"
        "  const at = t.getBoundingClientRect();"
        "  return [getComputedStyle(t).fill, at.left >= box.left && at.right <= box.right"
        "   && at.top >= box.top && at.bottom <= box.bottom]; })]; })"
    )
    assert len(cells) == 81
    for fill, texts in cells:
        for ink, inside in texts:
            assert inside
            assert contrast(_hex(fill), _hex(ink)) >= 4.5
    # A name and its share's bar stand above their cells on a narrow screen, where they have room, else left of them.
    rows = browser.script(
        "return Array.from(document.querySelectorAll('.gain-row:has(.cell)'), (row) =>"
        " ['.row-name', '.share-bar', '.cell'].map((part) =>"
        " row.querySelector(part)?.getBoundingClientRect().toJSON()))"
    )
    assert len(rows) == 9
    for name, bar, cell in rows:
        for text in filter(None, (name, bar)):
            if width == 390:
                assert text["right"] <= 366
                assert text["bottom"] <= cell["top"]
            else:
                assert text["right"] <= cell["left"]
                assert cell["top"] <= (text["top"] + text["bottom"]) / 2 <= cell["bottom"]
    first = "return document.querySelector('#gained-table tbody th').textContent.trim()"
    assert browser.script(first) == "sweep, solver.cc:812"
    browser.script("const b = document.querySelectorAll('#gained-table thead button')[1]; b.click(); b.click()")
    assert browser.script(first) == "sum_of_squares, solver.cc:58"  # 7.9 times as fast
    browser.resize(1280, 900)


def _hex(colour: str) -> str:
    """Return `rgb(1, 2, 3)` as `#010203`."""
    return "#" + "".join(f"{int(part):02x}" for part in colour.removeprefix("rgb(").removesuffix(")").split(","))


def test_beside_a_load_the_page_claims_nothing() -> None:
    busy = replace(ANSWER, disturbed="other programs used 1.0 of its 2 PUs")
    body = body_of(busy)
    assert (
        "Keep what you have This computer was busy, other programs used 1.0 of its 2 PUs: no gain can be told" in body
    )
    for claim in ("as fast", "for all parallel regions", "numapredict run --mapping"):
        assert claim not in body
        assert claim in body_of(ANSWER)
