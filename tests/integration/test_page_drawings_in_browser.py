"""What pages draw, by the records that they draw: heatmap, bars, tree, clusters and curve, in a real Chromium."""

import re
from pathlib import Path

import msgspec
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.predictor.learning.datasets import open_dataset
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from numapredict.reports.parts.contents import PageData, page_data
from numapredict.reports.parts.heatmap import HeatmapData
from numapredict.reports.parts.page import write_page
from numapredict.reports.parts.quantity import seconds
from numapredict.reports.parts.subject import Subject
from tests.chromium import Chromium, is_installed
from tests.page_reader import by_label, by_mean_speedup, drawn, geometric_mean, grid, hover, press, spaced, tip
from tests.planted_page import browser, data, dataset, heatmap
from tests.searches import LOCAL, Noisy, answered, times

__all__ = ["browser", "data", "dataset", "heatmap"]  # fixtures

pytestmark = pytest.mark.skipif(not is_installed(), reason="no chromium with its chromedriver here")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, dataset: Dataset, data: PageData) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    model = train(dataset, TrainingOptions(n_clusters=5))
    write_page(data, folder / "dataset.html")
    write_page(page_data(Subject(name="planted", dataset=dataset, model=model)), folder / "both.html")
    return {name: folder / f"{name}.html" for name in ("dataset", "both")}


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
    """The dataset's page, fresh, its columns by label."""
    browser.resize(1280, 900)
    browser.open(pages["dataset"])
    by_label(browser)
    return browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_are_those_of_the_values(
    browser: Chromium, pages: dict[str, Path], heatmap: HeatmapData, scheme: str
) -> None:
    browser.resize(1280, 900)
    browser.open(pages["dataset"], prefers_color_scheme=scheme)
    by_label(browser)
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


@pytest.mark.parametrize("order", ["best", "label", "speedup"])
def test_dots_and_the_triangle_stand_on_the_fastest_and_the_default(
    opened: Chromium, heatmap: HeatmapData, order: str
) -> None:
    opened.find(f'#columns option[value="{order}"]').click()
    columns = list(range(len(heatmap.labels))) if order == "label" else by_mean_speedup(heatmap)
    if order == "best":
        columns = [place.mappings[0] for place in heatmap.places]
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
        assert tuple(found[name, place] for name in names) == tuple(map(str, (heatmap.choices[column] or ())[:5]))
    assert len(found) == 5 * len(columns)
    assert {choice[5] for choice in heatmap.choices if choice is not None} == {1}  # which needs no bar
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
    assert {choice[4] for choice in heatmap.choices if choice is not None} <= set(legend)


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
    reported = 0
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
        reported += len({f"{gain:.2f}" for gain in (gains[0], max(gains), min(gains), geometric_mean(gains))}) >= 3
    assert reported >= 2, "else the figures could be mistaken for each other"


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


def test_with_a_model_its_clusters_have_its_numbers(browser: Chromium, pages: dict[str, Path]) -> None:
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


def test_on_a_phone_the_best_mappings_stand_first_and_all_columns_fit(browser: Chromium, wide: Path) -> None:
    """With the legend in the same view; a cell of folded mappings says which of them is the fastest."""
    browser.resize(390, 900)
    browser.open(wide)
    found = browser.script(
        """document.getElementById('scale').scrollIntoView();
        const frame = document.getElementById('heatmap-scroll'), box = frame.getBoundingClientRect();
        const data = JSON.parse(document.getElementById('records').textContent).heatmap, last = data.places.at(-1);
        const times = data.times_s[0], fastest = Math.min(...last.mappings.map((column) => times[column]));
        const cursor = document.querySelector('#heatmap-drawing .cursor');
        document.getElementById('heatmap-drawing').focus();
        return [frame.scrollWidth - frame.clientWidth, box.bottom - innerHeight, data.places.length,
          last.mappings.length,
          data.labels.length, document.getElementById('legend').getBoundingClientRect().top >= 0,
          data.labels[last.mappings.find((column) => times[column] === fastest)],
          Number(cursor.getAttribute('width'))];"""
    )
    wider, below, places, folded, labels, legend, fastest, cell = found
    assert wider <= 0
    assert below <= 0
    assert legend
    assert places < labels / 8
    assert folded > 1
    assert cell >= 4
    browser.script("document.getElementById('marked').focus()")
    press(browser, "Tab", "End")
    assert tip(browser)[1] == fastest
    browser.resize(1280, 900)


@pytest.mark.parametrize("width", [375, 1280])
def test_tree_names_and_bars_stay_in_sight(browser: Chromium, wide: Path, width: int) -> None:
    """However far one scrolls, and a cell that is chosen by key is never below them."""
    browser.resize(width, 800)
    browser.open(wide)
    by_label(browser)

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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_runs_of_a_search_are_drawn(browser: Chromium, tmp_path: Path, scheme: str) -> None:
    """Without any script: each mark is visible within the drawing, and says what it is."""
    found = answered(Noisy(times(8.0, one=-1.0), {LOCAL: [3.0, 4.0]}), runs=4)
    write_page(page_data(Subject(name="app", advice=found)), tmp_path / "search.html")
    browser.open(tmp_path / "search.html", prefers_color_scheme=scheme)
    seen = browser.script(
        """const root = document.querySelector('svg.runs'), all = root.getBoundingClientRect();
        return Array.from(root.querySelectorAll('g'), (mark) => {
          const shape = mark.querySelector('circle, path'), box = shape.getBoundingClientRect();
          const across = box.left >= all.left && box.right <= all.right;
          const within = across && box.top >= all.top && box.bottom <= all.bottom;
          const style = getComputedStyle(shape);
          return [mark.getAttribute('class'), within, style.fill === 'none' ? style.stroke : style.fill];
        })"""
    )
    assert [(kind, within) for kind, within, _ in seen] == [
        ("done", True), ("done", True), ("ended", True), ("failed", True),
    ]  # fmt: skip
    accent = {"light": "rgb(11, 83, 148)", "dark": "rgb(142, 199, 255)"}[scheme]
    assert [colour for _, _, colour in seen[:3]] == [accent] * 3
    assert seen[3][2] not in (accent, "none")
    titles = browser.script("return Array.from(document.querySelectorAll('svg.runs title'), (e) => e.textContent)")
    assert titles[1] == f"run 2: {LOCAL}, 3.00\u00a0s, 2.67x"
