"""Pages as a reader meets them: in a real Chromium, with pointer and keyboard."""

import http.server
import itertools
import math
import re
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from numapredict.collect.dataset import Dataset
from numapredict.collect.machines.recorded import RecordedMachine
from numapredict.predictor.advice import advise
from numapredict.predictor.datasets import open_dataset
from numapredict.predictor.model_choice import ChosenModel
from numapredict.predictor.options import TrainingOptions
from numapredict.predictor.train import train
from numapredict.reports.contents import PageData, page_data
from numapredict.reports.page import write_page
from numapredict.reports.parts.heatmap import Choices, HeatmapData
from numapredict.reports.parts.quantity import seconds
from numapredict.reports.subject import Subject
from tests.chromium import Chromium, chromium, is_installed
from tests.hostile import NAMES, with_hostile_names
from tests.planted import planted_dataset

pytestmark = pytest.mark.skipif(not is_installed(), reason="no chromium with its chromedriver here")

KINDS = ("dataset", "model", "both", "prediction", "hostile")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return planted_dataset(15)


@pytest.fixture(scope="module")
def data(dataset: Dataset) -> PageData:
    return page_data(Subject(name="planted", dataset=dataset))


@pytest.fixture(scope="module")
def heatmap(data: PageData) -> HeatmapData:
    found = data.drawn["heatmap"]
    assert isinstance(found, HeatmapData)
    return found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, dataset: Dataset, data: PageData) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    model = train(dataset, TrainingOptions(n_clusters=5, feature_kinds=("ratio",)))
    advice = advise(dataset.programs[1], RecordedMachine(dataset), ChosenModel(model, "a test's model"))
    subjects = {
        "model": Subject(name="planted", model=model, origin="m.json"),
        "both": Subject(name="planted", dataset=dataset, model=model),
        "prediction": Subject(name=advice.program, advice=advice),
        "hostile": Subject(name=NAMES[1], dataset=with_hostile_names(dataset)),
        "many": Subject(name="planted", dataset=planted_dataset(60, subset="full")),
    }
    found = {"dataset": data, **{name: page_data(subject) for name, subject in subjects.items()}}
    for name, page in found.items():
        write_page(page, folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in found}


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a dataset of 526 mappings, and of programs enough to scroll."""
    whole = open_dataset("lpd48core")
    names = {program.name for program in whole.programs[::2]}
    dataset = msgspec.structs.replace(
        whole,
        programs=tuple(program for program in whole.programs if program.name in names),
        measurements=tuple(m for m in whole.measurements if m.program in names),
    )
    path = tmp_path_factory.mktemp("wide") / "wide.html"
    write_page(page_data(Subject(name="wide", dataset=dataset)), path)
    return path


@pytest.fixture
def opened(browser: Chromium, pages: dict[str, Path]) -> Chromium:
    """The dataset's page, fresh."""
    browser.resize(1280, 900)
    browser.open(pages["dataset"])
    return browser


def hover(browser: Chromium, row: int, place: int) -> None:
    """Move the pointer to the middle of a cell, by what the page draws: the cursor's own size and the names' rows."""
    browser.script("document.getElementById('heatmap-drawing').scrollIntoView({block: 'center'})")
    at = browser.script(
        """const root = document.getElementById('heatmap-drawing'), box = root.getBoundingClientRect();
        const cursor = root.querySelector('.cursor'), names = root.querySelectorAll('text.name');
        const wide = Number(cursor.getAttribute('width')), first = Number(names[0].getAttribute('x')) - 6;
        const middle = Number(names[arguments[0]].getAttribute('y')) - 3.5;
        return [box.left + first - (arguments[2] - arguments[1] - 0.5) * wide, box.top + middle];""",
        row,
        place,
        len(browser.script("return JSON.parse(document.getElementById('records').textContent).heatmap.labels")),
    )
    moved = {"type": "mouseMoved", "x": at[0], "y": at[1]}
    browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", moved)


def tip(browser: Chromium) -> list[str]:
    """Return what is shown about a cell, line by line; nothing where it is hidden."""
    return browser.text("#tip").splitlines()


def words(data: HeatmapData, row: int, column: int) -> list[str]:
    """Return what should be shown, from the records alone."""
    time_s, default_s = data.times_s[row][column], data.times_s[row][data.default]
    what = "the default" if column == data.default else f"{default_s / time_s:.2f}x over the default"
    return [data.programs[row], data.labels[column], spaced(seconds(time_s)), what]


def spaced(text: str) -> str:
    """Return a text as WebDriver tells it: with plain spaces."""
    return text.replace("\u00a0", " ")


def drawn(browser: Chromium, selector: str) -> list[tuple[float, float]]:
    """Return where each part of a path begins."""
    path = browser.find(selector).get_attribute("d") or ""
    return [(float(x), float(y)) for x, y in re.findall(r"M([-\d.]+) ([-\d.]+)", path)]


def grid(browser: Chromium) -> tuple[float, float, float, float]:
    """Return the left edge of the cells, the top edge, and a cell's width and height, all by what is drawn."""
    found = browser.script(
        """const cursor = document.querySelector('#heatmap-drawing .cursor');
        const names = document.querySelectorAll('#heatmap-drawing text.name');
        const columns = JSON.parse(document.getElementById('records').textContent).heatmap.labels.length;
        const wide = Number(cursor.getAttribute('width')), high = Number(cursor.getAttribute('height'));
        const end = Number(names[0].getAttribute('x')) - 6, middle = Number(names[0].getAttribute('y')) - 3.5;
        return [end - columns * wide, middle - high / 2, wide, high];"""
    )
    return (float(found[0]), float(found[1]), float(found[2]), float(found[3]))


def by_mean_speedup(heatmap: HeatmapData) -> list[int]:
    """Return the columns, that of the greatest geometric mean speedup first."""

    def mean(column: int) -> float:
        return math.prod(times[heatmap.default] / times[column] for times in heatmap.times_s)

    return sorted(range(len(heatmap.labels)), key=mean, reverse=True)


def geometric_mean(values: Sequence[float]) -> float:
    return math.prod(values) ** (1 / len(values))


def press(browser: Chromium, *keys: str) -> None:
    codes = {"Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36}
    codes |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
    for key in keys:
        event: dict[str, Any] = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        if key == "Enter":
            event["text"] = "\r"
        browser.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyDown", **event})
        browser.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyUp", **event})


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
            "return Array.from(document.querySelectorAll(arguments[0]), (e) => e.getAttribute('title') || e.textContent)",
            selector,
        )
        assert set(NAMES) < set(found), selector
    programs = browser.script("return JSON.parse(document.getElementById('records').textContent).heatmap.programs")
    row = programs.index(NAMES[3])
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


def test_the_command_is_copied(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.resize(1280, 900)
    browser.open(pages["prediction"])
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
    assert len(browser.find_all("#tree-scroll text.name")) == 15


@pytest.mark.parametrize("kind", ["both", "prediction", "many"])
@pytest.mark.parametrize("width", [375, 1280])
def test_only_wide_parts_scroll_sideways(browser: Chromium, pages: dict[str, Path], kind: str, width: int) -> None:
    browser.resize(width, 800)
    browser.open(pages[kind])
    assert browser.script("return document.documentElement.scrollWidth <= innerWidth")
    browser.resize(1280, 900)


@pytest.mark.parametrize("kind", ["both", "prediction"])
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
    told = [
        (node["role"]["value"], node.get("name", {}).get("value", ""), node.get("properties", []))
        for node in nodes
        if not node["ignored"]
    ]
    named = {"button", "link", "slider", "combobox", "searchbox", "table", "image", "application", "region", "heading"}
    assert [role for role, name, _ in told if role in named and not name.strip()] == []
    unlabelled = browser.script(
        "return Array.from(document.querySelectorAll('input, select')).filter((e) => !e.labels.length).length"
    )
    assert unlabelled == 0, "a placeholder goes when one types"
    levels = [
        each["value"]["value"]
        for role, _, properties in told
        if role == "heading"
        for each in properties
        if each["name"] == "level"
    ]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert {"main", "banner", "navigation", "contentinfo"} <= {role for role, _, _ in told}
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_are_those_of_the_values(
    browser: Chromium, pages: dict[str, Path], heatmap: HeatmapData, scheme: str
) -> None:
    browser.resize(1280, 900)
    browser.open(pages["dataset"], prefers_color_scheme=scheme)
    ratio = {
        (row, column): time_s / times[heatmap.default]
        for row, times in enumerate(heatmap.times_s)
        for column, time_s in enumerate(times)
    }
    fastest, slowest = min(ratio, key=ratio.__getitem__), max(ratio, key=ratio.__getitem__)
    assert ratio[fastest] < 0.5
    assert ratio[slowest] > 2
    colours = []
    for row, column in (fastest, slowest, (3, heatmap.default)):
        hover(browser, row, column)
        colours.append(
            browser.script(
                """document.querySelectorAll('.cursor, .veil, .fastest, .cluster-lines, .size-lines').forEach(
                (element) => { element.style.pointerEvents = 'none'; });
                const cell = document.querySelector('.cursor').getBoundingClientRect();
                const at = document.elementFromPoint(cell.left + cell.width / 2, cell.top + cell.height / 2);
                return getComputedStyle(at).fill.match(/\\d+/g).map(Number);"""
            )
        )
    assert colours[0][2] > colours[0][0] + 20, "fast is blue"
    assert colours[1][0] > colours[1][2] + 20, "slow is red"
    assert max(colours[2]) - min(colours[2]) < 8, "the default is neither"
    assert (sum(colours[2]) > 600) == (scheme == "light")


@pytest.mark.parametrize("order", ["label", "speedup"])
def test_dots_and_the_triangle_stand_on_the_fastest_and_the_default(
    opened: Chromium, heatmap: HeatmapData, order: str
) -> None:
    opened.find(f'#columns option[value="{order}"]').click()
    columns = list(range(len(heatmap.labels))) if order == "label" else by_mean_speedup(heatmap)
    left, top, width, height = grid(opened)
    dots = drawn(opened, "#heatmap-drawing .fastest")  # each begins at its left end, in the middle of its row
    assert len(dots) == len(heatmap.programs)
    for row, (x, y) in enumerate(dots):
        times = heatmap.times_s[row]
        assert int((y - top) / height) == row
        assert times[columns[int((x + 3 - left) / width)]] == min(times)
    ((x, y),) = drawn(opened, "#heatmap-drawing .default-mark")
    assert columns[int((x + 5 - left) / width)] == heatmap.default
    assert y < top


def test_bars_say_what_each_mapping_is(opened: Chromium, heatmap: HeatmapData) -> None:
    opened.find('#columns option[value="speedup"]').click()
    columns = by_mean_speedup(heatmap)
    left, top, width, _ = grid(opened)
    parts = opened.script(
        """return Array.from(document.querySelectorAll('#heatmap-drawing .bars path'),
        (path) => [path.dataset.choice, path.getAttribute('d')])"""
    )
    found: dict[tuple[str, int], str] = {}
    for choice, path in parts:
        name, _, value = choice.partition(": ")
        for x, y, wide in re.findall(r"M([-\d.]+) ([-\d.]+)h([-\d.]+)", path):
            assert float(y) < top
            first = round((float(x) - left) / width)
            for place in range(first, first + round(float(wide) / width)):
                assert (name, place) not in found
                found[name, place] = value
    names = ("threads", "thread nodes", "thread policy", "page nodes", "page policy")
    for place, column in enumerate(columns):
        assert tuple(found[name, place] for name in names) == tuple(
            map(str, msgspec.structs.astuple(choices(heatmap, column)))
        )
    assert len(found) == 5 * len(columns)
    shown = {name.text for name in opened.find_all("#heatmap-drawing .bar-name")}
    assert shown == set(names)
    colour_of = opened.script(
        """return Object.fromEntries(Array.from(document.querySelectorAll('.policy'),
        (e) => [e.getAttribute('class') + (e.closest('#legend') ? ' in the legend' : ''), getComputedStyle(e).fill]))"""
    )
    in_bars = {name: fill for name, fill in colour_of.items() if "legend" not in name}
    assert all(colour_of[f"{name} in the legend"] == fill for name, fill in in_bars.items())
    assert len(set(in_bars.values())) == len(in_bars) >= 6
    legend = opened.text("#legend").split()
    assert {choice.page_policy for choice in heatmap.choices if choice is not None} <= set(legend)


def choices(heatmap: HeatmapData, column: int) -> Choices:
    found = heatmap.choices[column]
    assert found is not None
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_scales_words_stand_at_their_colours(browser: Chromium, pages: dict[str, Path], scheme: str) -> None:
    browser.resize(1280, 900)
    browser.open(pages["dataset"], prefers_color_scheme=scheme)
    found = browser.script(
        """const ticks = document.querySelectorAll('.scale .tick'), words = document.querySelectorAll('.scale-text');
        const rects = Array.from(document.querySelectorAll('.scale rect'));
        return Array.from(words, (word, at) => {
          const x = Number(ticks[at].getAttribute('d').match(/M([\\d.]+)/)[1]);
          const under = rects.filter((rect) => Number(rect.getAttribute('x')) <= x).pop();
          const colour = getComputedStyle(under).fill.match(/\\d+/g).map(Number);
          return [word.textContent, x, Number(word.getAttribute('x')), colour];
        });"""
    )
    assert len(found) >= 3
    for word, at, beside, (red, _, blue) in found:
        assert abs(at - beside) < 12
        if word == "default":
            assert abs(red - blue) < 8
        else:
            assert (blue > red + 8) == word.endswith("faster"), word
            assert (red > blue + 8) == word.endswith("slower"), word
    gains = [float(word.split("x")[0]) ** (1 if "slower" in word else -1) if "x" in word else 1.0 for word, *_ in found]
    assert gains == sorted(gains)


def test_lines_part_the_clusters(opened: Chromium, heatmap: HeatmapData) -> None:
    left, top, _, height = grid(opened)
    for number in (1, 4):
        opened.script(
            "const k = document.getElementById('k'); k.value = arguments[0]; k.dispatchEvent(new Event('input'))",
            number,
        )
        lines = drawn(opened, "#heatmap-drawing .cluster-lines")
        wanted = [top + start * height for start in heatmap.cuts[number - 1].starts[1:]]
        assert [y for _, y in lines] == pytest.approx(wanted)
        assert {x for x, _ in lines} <= {left}


def test_a_clusters_speedups_are_those_of_its_programs(opened: Chromium, heatmap: HeatmapData) -> None:
    told = 0
    opened.script("document.getElementById('k').focus()")
    press(opened, "Home", "ArrowRight", "ArrowRight")
    cut = heatmap.cuts[2]
    ends = [*cut.starts[1:], len(heatmap.programs)]
    rows = [
        [cell.text for cell in row.find_elements("css selector", "th, td")]
        for row in opened.find_all("#cut-clusters tbody tr")
    ]
    assert len(rows) == 3
    for row, start, stop, column in zip(rows, cut.starts, ends, cut.mappings, strict=True):
        gains = [times[heatmap.default] / times[column] for times in heatmap.times_s[start:stop]]
        assert row[3:5] == [f"{geometric_mean(gains):.2f}x", f"{min(gains):.2f}x"]
        told += len({f"{gain:.2f}" for gain in (gains[0], max(gains), min(gains), geometric_mean(gains))}) >= 3
    assert told >= 2, "else the figures could be mistaken for each other"


def test_the_curve_is_drawn_to_its_scale(opened: Chromium, heatmap: HeatmapData) -> None:
    """By the labels of its own axes, of which two give the scale."""
    labels = opened.script(
        """return Array.from(document.querySelectorAll('.curve .grid'), (line, at) => [
        Number(line.getAttribute('d').match(/M[\\d.]+ ([\\d.]+)/)[1]),
        parseFloat(document.querySelectorAll('.curve .axis.end:not(.halo)')[at].textContent)])"""
    )
    (low_y, low), (high_y, high) = labels[0], labels[-1]
    assert high > low

    def height_of(value: float) -> float:
        return float(low_y + (value - low) / (high - low) * (high_y - low_y))

    for name in ("geometric", "arithmetic"):
        path = opened.find(f".curve path.{name}").get_attribute("d") or ""
        points = [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]
        assert [y for _, y in points] == pytest.approx([height_of(getattr(cut, name)) for cut in heatmap.cuts], abs=0.2)
        ((_, y),) = drawn(opened, f".curve .oracle.of-{name}")
        assert y == pytest.approx(
            height_of(heatmap.oracle if name == "geometric" else heatmap.oracle_arithmetic), abs=0.2
        )
        assert min(y for _, y in points) >= y - 0.2, "no cut beats every program's own best"
    opened.script("document.getElementById('k').focus()")
    press(opened, "Home")
    for number in range(1, 6):
        cut = heatmap.cuts[number - 1]
        marks = [
            (float(mark.get_attribute("cx") or 0), float(mark.get_attribute("cy") or 0))
            for mark in opened.find_all(".curve .mark")
        ]
        assert [x for x, _ in marks] == pytest.approx([points[number - 1][0]] * 2, abs=0.2)
        assert [y for _, y in marks] == pytest.approx([height_of(cut.geometric), height_of(cut.arithmetic)], abs=0.2)
        press(opened, "ArrowRight")


def test_the_menu_chooses_the_program(opened: Chromium, heatmap: HeatmapData) -> None:
    for place in (9, 2):
        opened.find(f'#one option[value="{place}"]').click()
        assert f"All mappings of {heatmap.programs[place]}," in opened.text("#one-table caption")
        times = heatmap.times_s[place]
        best = opened.find_all("#one-table tbody tr:first-child td")
        assert [best[0].text.split()[0], best[1].text] == [
            heatmap.labels[times.index(min(times))],
            spaced(seconds(min(times))),
        ]


def test_beside_a_model_its_clusters_have_its_numbers(browser: Chromium, pages: dict[str, Path]) -> None:
    browser.resize(1280, 900)
    browser.open(pages["both"])
    assert "by the model's own numbers" in browser.text("#cut-numbers")
    members = {}
    for details in browser.find_all("#clusters details"):
        number = int((details.get_attribute("id") or "").removeprefix("cluster-"))
        for name in details.find_elements("css selector", "tbody th.text bdi:first-child"):
            members[name.get_attribute("textContent")] = number
    rows = browser.script(
        """return Array.from(document.querySelectorAll('#program-table tbody tr'),
        (row) => [row.querySelector('bdi').textContent, Number(row.querySelector('.cluster').textContent)])"""
    )
    assert len(rows) == 15
    assert [number for _, number in rows] == [members[name] for name, _ in rows]
    strip = [int(each.text) for each in browser.find_all("#heatmap-drawing .strip-number")]
    assert strip == list(dict.fromkeys(number for _, number in rows))
    listed = [int(each.text) for each in browser.find_all("#cut-clusters tbody th")]
    assert listed == strip != sorted(strip), "else it would not tell"
    browser.script("document.getElementById('k').focus()")
    press(browser, "ArrowRight")
    assert "from the top" in browser.text("#cut-numbers")
    assert "k = 5" in browser.text("#cut-numbers")
    assert [int(each.text) for each in browser.find_all("#cut-clusters tbody th")] == [1, 2, 3, 4, 5, 6]


def test_a_heatmap_of_526_mappings_fits_a_desk(browser: Chromium, wide: Path) -> None:
    browser.resize(1280, 900)
    browser.open(wide)
    scroller = "document.getElementById('heatmap-scroll')"
    assert browser.script(f"return {scroller}.scrollWidth <= {scroller}.clientWidth")
    assert browser.script(f"return {scroller}.getBoundingClientRect().height < innerHeight")
    assert len(browser.find_all("#heatmap-drawing text.name")) == 64
    shown = browser.find("#heatmap-drawing .default-mark").rect
    assert 0 < shown["x"] < 1280
    assert browser.script(
        """const table = document.getElementById('program-table'), frame = table.parentElement;
        return table.scrollWidth <= frame.clientWidth && frame.clientHeight >= 600"""
    ), "and so does the table of programs, with both probes"


@pytest.mark.parametrize("width", [375, 1280])
def test_tree_names_and_bars_stay_in_sight(browser: Chromium, wide: Path, width: int) -> None:
    """However far one scrolls, and a cell that is chosen by key is never below them."""
    browser.resize(width, 800)
    browser.open(wide)

    def boxes(*selectors: str) -> list[dict[str, float]]:
        return [
            browser.script("return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()", each)
            for each in selectors
        ]

    where = ("#heatmap-scroll", ".pinned.left", ".pinned.right", ".pinned.above", ".pinned.corner")
    browser.script("document.getElementById('marked').focus()")
    press(browser, "Tab")
    for keys in (
        ("Home",),
        ("End", *["PageDown"] * 7),
        (*["ArrowLeft"] * 20, *["ArrowUp"] * 20),
        ("Home", *["PageUp"] * 7),
    ):
        press(browser, *keys)
        browser.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        frame, left, right, above, corner = boxes(*where)
        (cell,) = boxes("#heatmap-drawing .cursor")
        assert left["left"] == pytest.approx(frame["left"], abs=1)
        assert corner["left"] == pytest.approx(frame["left"], abs=1)
        assert above["top"] == pytest.approx(frame["top"], abs=1)
        assert corner["top"] == pytest.approx(frame["top"], abs=1)
        assert right["right"] <= frame["right"] + 1
        assert right["left"] - left["right"] > 120, "and there is room for cells between them"
        assert left["right"] - 2 <= cell["left"] <= cell["right"] <= right["left"] + 4
        assert above["bottom"] - 2 <= cell["top"] <= cell["bottom"] <= frame["bottom"] + 2
        assert browser.find("#tip").is_displayed()
    browser.driver.execute_cdp_cmd(
        "Input.dispatchMouseEvent", {"type": "mouseMoved", "x": right["left"] + 20, "y": above["bottom"] + 40}
    )
    assert tip(browser) == [], "a name is no cell"
    browser.resize(1280, 900)
