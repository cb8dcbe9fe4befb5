"""Draws the figure of related work: a row per way of choosing, a panel per machine, table 1 at the left."""

import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.related_work import LEARNERS, NEVER_WRONG, OTHERS, OURS, SAME, RelatedData, RelatedPanel
from numapredict.reports.source import sign

COLOURS = {
    NEVER_WRONG: palette.SKY,
    OURS: palette.VERMILION,
    LEARNERS: palette.ORANGE,
    SAME: palette.GREY,
    OTHERS: palette.PURPLE,
}
ROW = 0.24  # inches
ABOUT = (
    "Bars: geometric mean speedup over the default, with its 95% interval over groups of programs.",
    "Gain captured: log of that speedup over the log of the oracle's. Beside related work: what it chooses from.",
)
MOST_LETTERS = 34
"""Letters of a machine's or a mapping's name that fit into a panel's width."""


def related_figure(data: RelatedData) -> Figure:
    """Return the figure: a row per way of choosing, a panel per machine."""
    rows = _rows(data)
    panel, gap, left, bottom = 3.3, 0.25, 5.1, 0.6
    lines = [*ABOUT, *textwrap.wrap(data.forest, int(15 * (left + len(data.panels) * (panel + gap))))]
    top = 1.0 + 0.15 * len(lines)
    width, height = left + len(data.panels) * (panel + gap) + 0.1, top + bottom + ROW * len(rows)
    figure = Figure(figsize=(width, height))
    for number, each in enumerate(data.panels):
        axes = figure.add_axes(
            (
                (left + number * (panel + gap)) / width,
                bottom / height,
                panel / width,
                ROW * len(rows) / height,
            )
        )
        _draw_panel(axes, each, rows)
        if number == 0:
            _draw_names(axes, rows, _words(data), panel)
    figure.text(0.15 / width, 1 - 0.15 / height, "Speedups of other methods", fontsize=13, weight="bold", va="top")
    figure.text(0.15 / width, 1 - 0.43 / height, "\n".join(lines), fontsize=9, va="top", color=palette.TEXT)
    sign(figure, data.source)
    return figure


def _rows(data: RelatedData) -> list[tuple[str, str]]:
    """Return (group, name) of every row from the top, with ("group", "") as its head, as any panel has them."""
    found: dict[str, dict[str, None]] = {}
    for group in COLOURS:
        for panel in data.panels:
            for bar in panel.bars:
                if bar.group == group:
                    found.setdefault(group, {})[bar.name] = None
    return [row for group, names in found.items() for row in ((group, ""), *((group, name) for name in names))]


def _words(data: RelatedData) -> dict[str, str]:
    """Return the choices of each work on which the machines agree (numbers of threads differ)."""
    words: dict[str, set[str]] = {}
    for panel in data.panels:
        for each in panel.table:
            # Numbers of threads in words that hold for all machines: those of table 1 fill 1, 2, 4 ... nodes.
            whole = len(each.threads) == len(each.thread_nodes)
            threads = ("all cores" if len(each.threads) == 1 else "whole nodes") if whole else "any threads"
            pages = ", ".join(each.page_policies) if len(each.page_policies) < 4 else "all page policies"
            spread = ", ".join(each.thread_policies)
            words.setdefault(each.work, set()).add(f"{threads}; {spread}; {pages}")
    return {work: texts.pop() for work, texts in words.items() if len(texts) == 1}


def _draw_names(axes: Axes, rows: list[tuple[str, str]], words: dict[str, str], panel: float) -> None:
    """Draw the names of the rows, in inches left of the first panel."""
    for at, (group, name) in enumerate(rows):
        if not name:
            axes.text(
                -4.95 / panel, at, group, fontsize=9, weight="bold", va="center", transform=axes.get_yaxis_transform()
            )
            continue
        axes.text(-4.85 / panel, at, name, fontsize=8.5, va="center", transform=axes.get_yaxis_transform())
        if name in words:
            axes.text(
                -0.08 / panel,
                at,
                words[name],
                fontsize=7,
                va="center",
                ha="right",
                color=palette.TEXT,
                transform=axes.get_yaxis_transform(),
            )


def _draw_panel(axes: Axes, panel: RelatedPanel, rows: list[tuple[str, str]]) -> None:
    most = max([bar.speedup for bar in panel.bars] + [bar.high for bar in panel.bars if bar.high is not None])
    for bar in panel.bars:
        at = rows.index((bar.group, bar.name))
        axes.barh(at, bar.speedup, height=0.74, color=COLOURS[bar.group], linewidth=0)
        if bar.low is not None and bar.high is not None:
            axes.plot([bar.low, bar.high], [at, at], color=palette.BLACK, linewidth=1.1, solid_capstyle="butt")
        captured = "" if bar.gain_captured is None else f"{bar.gain_captured:.2f}"
        axes.text(max(bar.high or 0, bar.speedup) + 0.02 * most, at, f"{bar.speedup:.2f}x", fontsize=8, va="center")
        axes.text(1.0, at, captured, fontsize=8, va="center", ha="right", transform=axes.get_yaxis_transform())
    axes.text(1.0, 0, "gain captured", fontsize=7, va="center", ha="right", transform=axes.get_yaxis_transform())
    axes.axvline(1, color=palette.BLACK, linestyle=":", linewidth=1)
    axes.set_xlim(0, most * 1.45)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks([])
    axes.tick_params(labelsize=8)
    axes.set_xlabel(f"speedup over {drawable(panel.default, MOST_LETTERS)}", fontsize=8.5)
    axes.set_title(
        f"{drawable(panel.machine, MOST_LETTERS)} ({palette.made_in_words(panel.modelled)})\n{panel.programs} programs",
        fontsize=9.5,
    )
    axes.spines[["top", "right", "left"]].set_visible(False)
