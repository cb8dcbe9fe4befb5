"""Pages as a reader meets them: in a real Chromium, with pointer and keyboard."""

import http.server
import itertools
import threading
import urllib.request
from pathlib import Path
from typing import ClassVar

import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.terminal.printable import printable
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from numapredict.reports.parts.contents import PageData, page_data
from numapredict.reports.parts.heatmap import HeatmapData
from numapredict.reports.parts.page import write_page
from numapredict.reports.parts.subject import Subject
from tests.advised import advised_on
from tests.chromium import Chromium, is_installed
from tests.hostile import NAMES, with_hostile_names
from tests.page_reader import by_label, by_mean_speedup, hover, press, spaced, tip, words
from tests.planted import planted_dataset
from tests.planted_page import browser, data, dataset, heatmap
from tests.searches import LOCAL, Noisy, answered, times

__all__ = ["browser", "data", "dataset", "heatmap"]  # fixtures

pytestmark = pytest.mark.skipif(not is_installed(), reason="no chromium with its chromedriver here")

SEEN = tuple(map(printable, NAMES))
KINDS = ("dataset", "model", "both", "prediction", "search", "kept", "hostile")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, dataset: Dataset, data: PageData) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    model = train(dataset, TrainingOptions(n_clusters=5))
    advice = advised_on(dataset, dataset.programs[1], model)
    subjects = {
        "model": Subject(name="planted", model=model, origin="m.json"),
        "both": Subject(name="planted", dataset=dataset, model=model),
        "prediction": Subject(name=advice.program, advice=advice),
        "search": Subject(name="app", advice=answered(Noisy(times(8.0, one=-1.0), {LOCAL: [3.0, 4.0]}), runs=4)),
        "kept": Subject(name="app", advice=answered(Noisy(times(8.0), {LOCAL: [6.0, 8.1, 7.9, 8.0]}))),
        "hostile": Subject(name=NAMES[1], dataset=with_hostile_names(dataset)),
        "many": Subject(name="planted", dataset=planted_dataset(60, subset="full")),
    }
    found = {"dataset": data, **{name: page_data(subject) for name, subject in subjects.items()}}
    for name, page in found.items():
        write_page(page, folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in found}


@pytest.fixture
def opened(browser: Chromium, pages: dict[str, Path]) -> Chromium:
    """The dataset's page, fresh, its columns by label."""
    browser.resize(1280, 900)
    browser.open(pages["dataset"])
    by_label(browser)
    return browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_console_is_empty_and_nothing_is_asked_for(
    browser: Chromium, pages: dict[str, Path], kind: str, scheme: str
) -> None:
    browser.resize(1280, 900)
    browser.open(pages[kind], prefers_color_scheme=scheme)
    assert browser.requests() == [pages[kind].resolve().as_uri()]
    assert browser.messages() == []
    paper = browser.script("return getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 24, 26)"}[scheme]


class Listener(http.server.BaseHTTPRequestHandler):
    """Notes who came, and for what."""

    came: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.came.append(self.path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_the_policy_lets_nothing_out_and_nothing_in(opened: Chromium) -> None:
    """What a name that became script would try: it is refused, and nobody hears of it."""
    Listener.came.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        urllib.request.urlopen(f"{address}/by-hand").close()  # noqa: S310 # our own server: it does listen
        refused = opened.driver.execute_async_script(
            """const [address, done] = arguments, seen = [];
            addEventListener('securitypolicyviolation', (event) => seen.push(event.effectiveDirective));
            const added = document.createElement('script');
            try { added.textContent = "document.title = 'taken'"; } catch (error) { seen.push(error.name); }
            const image = document.createElement('img');
            image.src = address + '/image';
            document.body.append(image);
            fetch(address + '/fetch').catch(() => {}).then(() => setTimeout(() => done(seen), 300));""",
            address,
        )
        server.shutdown()
    assert {"TypeError", "img-src", "connect-src"} <= set(refused)
    assert Listener.came == ["/by-hand"]


def test_hostile_names_are_shown_letter_by_letter(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.resize(1280, 900)
    browser.open(pages["hostile"])
    assert browser.driver.title.startswith(NAMES[1].split("\u2028")[0])
    for selector in ("#heatmap-drawing text.name title", "#program-table tbody th bdi", "#one option"):
        found = browser.script(
            "const whole = (element) => element.getAttribute('title') || element.textContent;"
            "return Array.from(document.querySelectorAll(arguments[0]), whole)",
            selector,
        )
        assert set(SEEN) < set(found), selector
    programs = browser.script("return JSON.parse(document.getElementById('records').textContent).heatmap.programs")
    row = programs.index(SEEN[3])
    hover(browser, row, 4)
    assert tip(browser)[0] == NAMES[3]
    assert browser.find_all("#content img, #content b, #content script, #tip *:not(strong):not(span)") == []
    assert browser.driver.title.startswith(NAMES[1])


@pytest.mark.parametrize(("row", "column"), [(0, 0), (7, 5), (14, 22)])
def test_a_cell_under_the_pointer_says_mapping_time_and_speedup(
    opened: Chromium, heatmap: HeatmapData, row: int, column: int
) -> None:
    assert tip(opened) == []
    hover(opened, row, column)
    assert tip(opened) == words(heatmap, row, column)
    opened.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": 5, "y": 5})
    assert tip(opened) == []


def test_the_heatmap_answers_to_the_keyboard(opened: Chromium, heatmap: HeatmapData) -> None:
    opened.script("document.getElementById('marked').focus()")
    press(opened, "Tab")
    assert opened.script("return document.activeElement.id") == "heatmap-drawing"
    at_default = heatmap.default
    assert tip(opened) == words(heatmap, 0, at_default)
    press(opened, "ArrowDown", "ArrowDown", "ArrowLeft")
    assert tip(opened) == words(heatmap, 2, at_default - 1)
    said = opened.script("return document.getElementById('said').textContent")
    assert spaced(said) == ", ".join(words(heatmap, 2, at_default - 1))
    press(opened, "PageDown", "End", "ArrowRight", "ArrowUp")
    assert tip(opened) == words(heatmap, 11, len(heatmap.labels) - 1)
    press(opened, "Home")
    assert tip(opened) == words(heatmap, 11, 0)
    press(opened, "Escape")
    assert tip(opened) == []
    press(opened, "ArrowRight", "Enter")
    assert heatmap.programs[11] in opened.text("#one-table caption")
    assert opened.script("return document.activeElement.id") == "one"


def test_one_programs_mappings_are_listed(opened: Chromium, heatmap: HeatmapData) -> None:
    opened.find('#program-table [data-shows="3"]').click()
    shown = [row.text.split() for row in opened.find_all("#one-table tbody tr")]
    times = heatmap.times_s[3]
    order = sorted(range(len(times)), key=lambda column: times[column])
    assert [row[1] for row in shown] == [heatmap.labels[column] for column in order]
    default = next(row for row in shown if "(default)" in row)
    assert (default[1], default[-1]) == (heatmap.labels[heatmap.default], "1.00x")
    assert shown[0][-1] == f"{times[heatmap.default] / times[order[0]]:.2f}x"


def test_choosing_k_moves_the_cut_and_the_speedup(opened: Chromium, heatmap: HeatmapData) -> None:
    def seen() -> tuple[str, str, list[int], list[str]]:
        sizes = [int(cell.text) for cell in opened.find_all("#cut-clusters tbody td:nth-child(2)")]
        mappings = [cell.text for cell in opened.find_all("#cut-clusters tbody td:nth-child(3)")]
        return (
            opened.text("#cut-said"),
            opened.find("#heatmap-drawing path.cut").get_attribute("d") or "",
            sizes,
            mappings,
        )

    places = []
    opened.script("document.getElementById('k').focus()")
    press(opened, "Home")
    for number in range(1, 9):
        cut = heatmap.cuts[number - 1]
        said, line, sizes, mappings = seen()
        assert said.startswith(f"{number} cluster")
        assert f"{cut.geometric:.2f}x geometric mean, {cut.arithmetic:.2f}x arithmetic mean, in sample" in said
        ends = [*cut.starts[1:], len(heatmap.programs)]
        assert sizes == [stop - start for start, stop in zip(cut.starts, ends, strict=True)]
        assert mappings == [heatmap.labels[column] for column in cut.mappings]
        assert len(opened.find_all("#heatmap-drawing .strip")) == number
        kept = opened.find("#heatmap-drawing .below").get_attribute("d") or ""
        assert kept.count("M") == len(heatmap.programs) - number
        clusters = [int(cell.text) for cell in opened.find_all("#program-table .cluster")]
        assert clusters == [sum(start <= place for start in cut.starts) for place in range(len(heatmap.programs))]
        places.append(float(line[1:].split()[0]))
        press(opened, "ArrowRight")
    assert places == sorted(set(places)), "the line moves to the leaves"


def test_a_click_on_the_curve_chooses_k(opened: Chromium, heatmap: HeatmapData) -> None:
    opened.script("document.querySelector('.curve').scrollIntoView({block: 'center'})")
    box = opened.script("const b = document.querySelector('.curve').getBoundingClientRect(); return [b.right, b.top]")
    for kind in ("mousePressed", "mouseReleased"):
        event = {"type": kind, "x": box[0] - 12, "y": box[1] + 60, "button": "left", "clickCount": 1}
        opened.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)
    assert opened.text("#cut-said").startswith(f"{len(heatmap.cuts)} clusters")


def test_mappings_can_stand_in_order_of_their_speedup(opened: Chromium, heatmap: HeatmapData) -> None:
    order = by_mean_speedup(heatmap)
    opened.find('#columns option[value="speedup"]').click()
    for place in (0, 10, len(order) - 1):
        hover(opened, 4, place)
        assert tip(opened) == words(heatmap, 4, order[place])


def test_programs_are_sorted_and_filtered(opened: Chromium, heatmap: HeatmapData) -> None:
    def names() -> list[str]:
        return [cell.text for cell in opened.find_all("#program-table tbody th bdi:first-child") if cell.text]

    def gain(name: str) -> float:
        times = heatmap.times_s[heatmap.programs.index(name)]
        return times[heatmap.default] / min(times)

    rows = opened.script(
        "return Array.from(document.querySelectorAll('#program-table tbody tr'), (row) => row.dataset.place)"
    )
    assert rows == [str(place) for place in range(15)]
    shown = [name for name in names() if name in heatmap.programs]
    assert shown == list(heatmap.programs)
    button = opened.find('[data-sort="speedup"]')
    opened.script("arguments[0].click()", button)
    assert [name for name in names() if name in heatmap.programs] == sorted(heatmap.programs, key=gain)
    opened.script("arguments[0].click()", button)
    falling = sorted(heatmap.programs, key=gain, reverse=True)
    assert [name for name in names() if name in heatmap.programs] == falling
    sorts = [head.get_attribute("aria-sort") for head in opened.find_all("#program-table thead th")]
    assert sorts.count("descending") == 1
    assert sorts[6] == "descending"
    opened.script("arguments[0].click()", opened.find('[data-sort="program"]'))
    assert [name for name in names() if name in heatmap.programs] == sorted(heatmap.programs)
    opened.find("#filter").send_keys("STREAM-")
    assert [name for name in names() if name in heatmap.programs] == ["stream-0", "stream-1", "stream-2"]
    assert opened.text("#shown") == "3 of 15 programs"


def test_marked_programs_stay_clear(opened: Chromium, heatmap: HeatmapData) -> None:
    opened.find("#marked").send_keys("table-1")
    faint = [name.find_element("css selector", "title").get_attribute("textContent")
             for name in opened.find_all("#heatmap-drawing text.name.faint")]  # fmt: skip
    assert set(heatmap.programs) - set(faint) == {"shared-table-1"}
    veils = opened.find("#heatmap-drawing .veil").get_attribute("d") or ""
    assert veils.count("M") == 14
    assert opened.text("#marked-said") == "1 program marked", "seen, not only heard"
    opened.find("#marked").send_keys("0")
    assert opened.text("#marked-said") == "0 programs marked"


@pytest.mark.parametrize("kind", ["prediction", "search"])
def test_the_command_is_copied(browser: Chromium, pages: dict[str, Path], kind: str) -> None:
    browser.resize(1280, 900)
    browser.open(pages[kind])
    grant = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.driver.execute_cdp_cmd("Browser.grantPermissions", grant)
    button = browser.find('[data-copies="command"]')
    button.click()
    copied = browser.driver.execute_async_script(
        "const done = arguments[0], read = () => navigator.clipboard.readText().then(done, (e) => done(String(e)));"
        "setTimeout(read, 200)"
    )
    assert copied == browser.text("#command")
    assert copied.startswith("numapredict run --mapping ")
    assert button.text == "Copied"


def test_a_link_to_a_cluster_opens_it(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.resize(1280, 900)
    browser.open(pages["model"])
    assert not browser.script("return document.getElementById('cluster-2').open")
    browser.find('a[href="#cluster-2"]').click()
    assert browser.script("return document.getElementById('cluster-2').open")
    assert len(browser.find_all(".tree text.name")) == 15


@pytest.mark.parametrize("kind", ["both", "prediction", "search", "many"])
@pytest.mark.parametrize("width", [375, 1280])
def test_only_wide_parts_scroll_sideways(browser: Chromium, pages: dict[str, Path], kind: str, width: int) -> None:
    browser.resize(width, 800)
    browser.open(pages[kind])
    assert browser.script("return document.documentElement.scrollWidth <= innerWidth")
    browser.resize(1280, 900)


@pytest.mark.parametrize("kind", ["both", "prediction", "search"])
def test_paper_shows_what_is_closed_and_no_controls(
    browser: Chromium, pages: dict[str, Path], kind: str, tmp_path: Path
) -> None:
    browser.open(pages[kind], prefers_color_scheme="dark")
    browser.script(
        "addEventListener('beforeprint',"
        " () => { window.closed_on_paper = document.querySelectorAll('details:not([open])').length })"
    )
    browser.print(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF-")
    assert browser.script("return window.closed_on_paper") == 0
    assert browser.script("return document.querySelectorAll('details[open]').length") == 0
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    visible = browser.script(
        "return Array.from(document.querySelectorAll('.controls > input, .controls > select, .copy, nav'),"
        " (element) => getComputedStyle(element).display).filter((display) => display !== 'none')"
    )
    assert visible == []
    heads = browser.script("return Array.from(document.querySelectorAll('thead'), (e) => getComputedStyle(e).display)")
    assert set(heads) == {"table-header-group"}
    inside = "Array.from(document.querySelectorAll('thead button'), (e) => getComputedStyle(e).display)"
    assert set(browser.script(f"return {inside}")) <= {"none"}, "Chromium repeats no head with a button in it"
    if kind == "both":
        assert browser.text("#program-table thead").split()[:2] == ["place", "program"], "and it says so without them"
        assert "On paper: the 20 fastest" in browser.text("#one-program")
        shown = [row for row in browser.find_all("#one-table tbody tr") if row.is_displayed()]
        assert [row.text.split()[0] for row in shown[:20]] == [str(rank) for rank in range(1, 21)]
        assert len(shown) <= 21
    assert browser.script("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("kind", KINDS)
def test_screen_readers_find_names_and_order(browser: Chromium, pages: dict[str, Path], kind: str) -> None:
    """By Chromium's own accessibility tree: what can be used has a name, headings skip no level, ids are unique."""
    browser.resize(1280, 900)
    browser.open(pages[kind])
    browser.driver.execute_cdp_cmd("Accessibility.enable", {})
    nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    browser.driver.execute_cdp_cmd("Accessibility.disable", {})
    reported = [
        (node["role"]["value"], node.get("name", {}).get("value", ""), node.get("properties", []))
        for node in nodes
        if not node["ignored"]
    ]
    named = {"button", "link", "slider", "combobox", "searchbox", "table", "image", "application", "region", "heading"}
    assert [role for role, name, _ in reported if role in named and not name.strip()] == []
    unlabelled = browser.script(
        "return Array.from(document.querySelectorAll('input, select')).filter((e) => !e.labels.length).length"
    )
    assert unlabelled == 0, "a placeholder goes when one types"
    levels = [
        each["value"]["value"]
        for role, _, properties in reported
        if role == "heading"
        for each in properties
        if each["name"] == "level"
    ]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert {"main", "banner", "navigation", "contentinfo"} <= {role for role, _, _ in reported}
    assert (
        browser.script(
            "const ids = Array.from(document.querySelectorAll('[id]'), (e) => e.id);"
            "return ids.length - new Set(ids).size"
        )
        == 0
    )
    dangling = browser.script(
        """const pointing = ['for', 'aria-describedby', 'aria-labelledby', 'aria-controls'];
        return Array.from(document.querySelectorAll('*'), (e) => pointing.map((name) => e.getAttribute(name)))
        .flat().filter((id) => id && !document.getElementById(id))"""
    )
    assert dangling == []
