"""The page of a search's answer, read as the HTML standard has it; its parts have unit tests of their own."""

from pathlib import Path

import msgspec
import pytest

from numapredict.collect.mapping import AnyMapping
from numapredict.collect.placing.region_times import RegionTime, RegionTimes
from numapredict.collect.placing.start import AS_IT_IS
from numapredict.collect.source.place import Frame, Place
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.region_run import RegionRun
from numapredict.reports.parts.contents import page_data
from numapredict.reports.parts.page import render, write_page
from numapredict.reports.parts.subject import Subject
from tests.chromium import Chromium, is_installed
from tests.html_document import Document
from tests.page_reader import press
from tests.planted_page import browser
from tests.searches import DEFAULT, LOCAL, Computer, Described, Noisy, answered, times

__all__ = ["browser"]  # a fixture


def region(name: str, line: int, time_s: float, at_work: float | None) -> RegionTime:
    place = Place("/bin/app", line, (Frame(f"{name}._omp_fn.0", "/src/heat.c", line),))
    return RegionTime(f"{name}._omp_fn.0", "/bin/app", line, 50, time_s, 32, 0, at_work, place)


REGIONS = (
    RegionRun(
        AS_IT_IS, RegionTimes((region("cool", 9, 2.0, None), region("spread", 30, 5.0, None)), 8.0, complete=True)
    ),
    RegionRun(LOCAL, RegionTimes((region("cool", 9, 0.5, 1.0), region("spread", 30, 2.0, 31.5)), 3.0, complete=True)),
)
SEARCHED = answered(Described(times(8.0, local=4.0)), baseline=DEFAULT)
HIDDEN = "".join(map(chr, (0x1B, 7, 0x9B, 0x200B, 0x202A, 0x202E, 0x2066)))


def searched_page(found: Advice) -> str:
    return render(page_data(Subject(name=found.program, advice=found)))


def sections(page: str) -> list[str | None]:
    return [attrs["id"] for tag, attrs in Document(page).tags if tag == "section"]


def test_the_page_of_a_winning_search_has_all_that_the_terminal_says() -> None:
    later = {LOCAL: [3.0, 4.0, 4.0, 4.0], AS_IT_IS: [8.0, 8.0, 8.8, 8.4]}
    found = answered(Noisy(times(8.0, one=-1.0), later), runs=4)
    found = msgspec.structs.replace(
        found,
        warnings=("it is <slow>",),
        own_threads="the program sets 32",
        kept_runs=1,
        kept_since="2026-01-02T03:04:05+00:00",
        expected_runs=500,
        exit_code=26,
        trace_share=0.75,
    )
    page = searched_page(found)
    document = Document(page)
    assert sections(page) == [
        "answer", "choices", "why", "runs", "confirming", "further", "alternatives", "about"
    ]  # fmt: skip
    body = " ".join(document.texts["body"][0].split())
    for said in (
        "The program sets 32.",
        "32 threads on 4 nodes, consecutive threads together; each page on the node whose threads use it most",
        "2.10x for the whole run, over the program as it is now: 2.00x to 2.20x in 3 further runs of each, in turn",
        "it is <slow>",
        "Kept: the first run, made from 2026-01-02 03:04 UTC on; --fresh makes all runs anew.",
        "each further one was chosen by what 4 programs on planted gained.",
        "2.10x on average (geometric mean): significantly faster (measured).",
        "Exit code 26",
        "Trace saw regions with 75% of the native region time",
        "Baseline the program as it is now: speedups are over it",
        "Default 32x4-contiguous-first-touch: what datasets count speedups from",
        "Chance that it is faster",
        "500 times, by --for",
    ):
        assert said in body or said.replace(" ", "") in body.replace(" ", ""), said
    assert document.texts["pre"][0] == found.command
    assert "modelled" not in body
    head, *runs = document.table("The runs in their order")
    assert head == ["run", "mapping", "time", "speedup", "best so far"]
    assert runs == [
        ["1", "as it is now(made earlier)", "8.00\u00a0s", "1.00x", "1.00x"],
        ["2", f"{LOCAL}(advised)", "3.00\u00a0s", "2.67x", "2.67x"],
        ["3", "32x4-contiguous-interleaveslower than the best", "ended after 3.10\u00a0s", "", "2.67x"],
        ["4", "8x1-contiguous-bindit crashed", "failed", "", "2.67x"],
    ]
    _, *rounds = document.table("Runs in turn of the program as it is now")
    assert rounds == [
        ["1", "8.00\u00a0s", "4.00\u00a0s", "2.00x"],
        ["2", "8.80\u00a0s", "4.00\u00a0s", "2.20x"],
        ["3", "8.40\u00a0s", "4.00\u00a0s", "2.10x"],
    ]
    assert len(document.texts["article"]) == len(found.alternatives) == 6
    assert found.alternatives[0].cautions
    assert all(caution in body for each in found.alternatives for caution in each.cautions)
    shown = [attrs["class"] for tag, attrs in document.tags if tag == "g"]
    assert shown == ["done", "done", "ended", "failed"]


def test_the_page_of_a_kept_baseline_has_its_command_and_no_drawing() -> None:
    kept = answered(Noisy(times(8.0), {LOCAL: [6.0, 8.1, 7.9, 8.0]}))
    page = searched_page(kept)
    assert sections(page) == ["answer", "why", "runs", "confirming", "further", "about"]
    body = " ".join(Document(page).texts["body"][0].split())
    assert "Keep what you have No mapping that ran was significantly faster." in body
    assert "32x4-contiguous-locality was the fastest, but run again it gave 1.00x" in body
    assert Document(page).texts["pre"] == [kept.command]
    alone = answered(Computer(times(8.0)), runs=1, expected_runs=1)
    page = searched_page(alone)
    assert sections(page) == ["answer", "why", "runs", "further", "about"]
    assert "No mapping was tried, for that would cost more than it should save in 1 run" in page
    assert "<circle" not in page
    assert "No mapping is left to run." in searched_page(msgspec.structs.replace(kept, next=None))


def test_a_search_on_a_described_machine_is_drawn_on_its_nodes_and_called_modelled() -> None:
    page = searched_page(SEARCHED)
    assert f"{LOCAL} on sandybridge-4x8; filled squares are cores" in page
    assert "8 cores, threads 24 to 31" in page
    assert "for the whole run</strong>, over 32x4-contiguous-first-touch" in page.replace("\u00a0", " ")
    assert "(measured)" not in page
    document = Document(page)
    captions = document.texts["caption"] + document.texts["figcaption"]
    plain = [text for text in captions if not text.rstrip().endswith("(modelled)")]
    assert all(text.startswith((f"{LOCAL} on", "Read latency", "Read bandwidth")) for text in plain), plain
    assert len(captions) - len(plain) == 4


def test_texts_of_a_search_are_text_wherever_they_stand() -> None:
    evil, hidden = "<b>&amp;</b><script>", HIDDEN
    for word in (evil, hidden):
        changed = msgspec.structs.replace(
            SEARCHED,
            program=word,
            machine=word,
            knows=word,
            own_threads=word,
            warnings=(word,),
            kept_runs=1,
            kept_since=word,
            runs=(SEARCHED.runs[0], msgspec.structs.replace(SEARCHED.runs[1], message=word), *SEARCHED.runs[2:]),
            alternatives=tuple(
                msgspec.structs.replace(each, note=word, cautions=(word,), mapping=AnyMapping(word), exact=False)
                for each in SEARCHED.alternatives
            ),
        )
        page = searched_page(changed)
        assert not [tag for tag, _ in Document(page).tags if tag == "b"]
        assert len(Document(page).texts["script"]) == 2
        assert [letter for letter in page if letter in HIDDEN] == []


def with_regions(word: str = "") -> Advice:
    found = answered(Computer(times(8.0, local=4.0)))
    runs = (
        REGIONS if not word else tuple(msgspec.structs.replace(run, times=renamed(run.times, word)) for run in REGIONS)
    )
    return msgspec.structs.replace(found, regions=runs)


def renamed(times_s: RegionTimes, word: str) -> RegionTimes:
    place = Place(word, 0, (Frame(word, word, 1),), doubt=word)
    regions = tuple(msgspec.structs.replace(one, name=word, module=word, place=place) for one in times_s.regions)
    return msgspec.structs.replace(times_s, regions=regions)


def test_the_page_has_the_parallel_regions_with_their_lines_and_what_no_placement_shortens() -> None:
    document = Document(searched_page(with_regions()))
    head, spread, cool = document.table("Each parallel region's time by run")
    named = [
        "region",
        "instances",
        "as it is now",
        LOCAL.label,
        "share",
        "threads",
        "at work",
        "what no placement shortens",
    ]
    assert head == [title * 2 for title in named]  # on screen a button, on paper a text
    assert spread == ["spread, heat.c:30app+0x1e", "50", "5.00\u00a0s", "2.00\u00a0s", "62%", "32", "31.5", ""]
    assert cool[:7] == ["cool, heat.c:9app+0x9", "50", "2.00\u00a0s", "500\u00a0ms", "25%", "32", "1.0"]
    assert cool[7].startswith("one thread does the work")
    body = " ".join(document.texts["body"][0].split())
    assert "17% of the run is outside all regions, where one thread works: more threads do not shorten it" in body
    assert f"(measured, {LOCAL})." in body
    assert sections(searched_page(with_regions())).index("regions") == 6
    plain = msgspec.structs.replace(with_regions(), regions=REGIONS[:1])
    page = Document(searched_page(plain))
    alone, *_ = page.table("Each parallel region's time as it is now")
    assert "numapredict run --regions does." in page.texts["body"][0]
    assert "run --regions does" not in body
    assert alone == [title * 2 for title in ("region", "instances", "time", "share", "threads")], "no work is known"
    for word in ("<b>&amp;</b><script>", HIDDEN):
        page = searched_page(with_regions(word))
        assert not [tag for tag, _ in Document(page).tags if tag == "b"]
        assert [letter for letter in page if letter in HIDDEN] == []


@pytest.mark.skipif(not is_installed(), reason="no chromium with its chromedriver here")
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_regions_are_sorted_by_the_keyboard_and_fit_the_page(
    browser: Chromium, tmp_path: Path, scheme: str, width: int
) -> None:
    write_page(page_data(Subject(name="app", advice=with_regions())), tmp_path / "page.html")
    browser.resize(width, 900)
    browser.open(tmp_path / "page.html", prefers_color_scheme=scheme)
    assert browser.messages() == []
    assert len(browser.requests()) == 1
    assert browser.script("return document.documentElement.scrollWidth <= window.innerWidth")
    frame = "document.getElementById('region-table').parentElement"
    browser.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    wider = browser.script(f"return {frame}.scrollWidth > {frame}.clientWidth + 1")
    assert browser.script(f"return {frame}.classList.contains('wide')") == wider
    names = (
        "return Array.from(document.querySelectorAll('#region-table tbody th bdi:first-child'), (e) => e.textContent)"
    )
    first = browser.script(names)
    assert first[0] == "spread, heat.c:30"
    for button, order in ((1, ["cool, heat.c:9", "spread, heat.c:30"]), (7, ["cool, heat.c:9", "spread, heat.c:30"])):
        browser.script(f"document.querySelectorAll('#region-table thead button')[{button - 1}].focus()")
        press(browser, "Enter")
        assert [name for name in browser.script(names) if "heat.c" in name] == order
    heads = browser.script(
        "return Array.from(document.querySelectorAll('#region-table th[aria-sort]'), (e) => e.ariaSort)"
    )
    assert heads == ["none"] * 6 + ["ascending", "none"]
