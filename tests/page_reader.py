"""What a reader does with a page in a Chromium, and sees: pointer, keys, the cell that is told, what is drawn where."""

import math
import re
from collections.abc import Sequence
from typing import Any

from numapredict.reports.parts.heatmap import HeatmapData
from numapredict.reports.parts.quantity import seconds
from tests.chromium import Chromium


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


def by_label(browser: Chromium) -> None:
    """Order the columns as the record has them: by threads, nodes and policies."""
    browser.find('#columns option[value="label"]').click()


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
